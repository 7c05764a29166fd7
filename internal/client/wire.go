package client

import (
	"encoding/json"
	"slices"
	"strings"

	"purser/internal/document"
)

// Verdict is the status of a revision: whether it may be deployed.
type Verdict struct {
	Revision    int64        `json:"revision"`
	Stamp       string       `json:"stamp"`
	Status      string       `json:"status"` // success or failure
	Notice      string       `json:"notice"` // without a policy, what counted
	Policies    []Policy     `json:"policies"`
	Ignored     []Validation `json:"ignored"`
	Validations []Validation `json:"validations"` // that are in no policy
	Warnings    []string     `json:"warnings"`
}

// Policy is a ValidationPolicy in force.
type Policy struct {
	Name        string       `json:"name"`
	Status      string       `json:"status"`
	Validations []Validation `json:"validations"`
}

// Broken reports whether a policy fails although all of its validations succeed.
func (p Policy) Broken() bool {
	lacks := func(v Validation) bool { return v.Status != success }
	return p.Status != success && !slices.ContainsFunc(p.Validations, lacks)
}

const success = "success"

// Validation is the result of a validation: success, failure, missing or expired.
type Validation struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message"` // the reason for a failure, "" if unknown
}

// Own reports whether only the server itself may report results of the validation.
func (v Validation) Own() bool {
	return strings.HasPrefix(v.Name, "deckhand-") || strings.HasPrefix(v.Name, "purser-") ||
		v.Name == "puppet-override-validation" || v.Name == "murano-package-validation"
}

// Findings lists the problems of a revision.
type Findings struct {
	Revision *int64    `json:"revision"`
	Stamp    string    `json:"stamp"`
	Status   string    `json:"status"`
	Findings []Finding `json:"findings"`
	Counts
}

// Counts are the numbers of findings, also of those that are not listed.
type Counts struct {
	Total        int      `json:"total"`
	More         bool     `json:"more"` // there may be others: each number is the least possible one
	Causes       []Cause  `json:"causes"`
	ByValidation []Number `json:"byValidation"`
}

// Cause is a group of similar findings.
type Cause struct {
	Findings  int     `json:"findings"`
	Documents int     `json:"documents"`
	More      bool    `json:"more"` // there may be others
	First     Finding `json:"first"`
}

// Number is the number of findings of a validation.
type Number struct {
	Name      string `json:"name"`
	Level     string `json:"level"`
	Findings  int    `json:"findings"`
	Documents int    `json:"documents"`
	More      bool   `json:"more"`    // there may be other findings
	Unnamed   bool   `json:"unnamed"` // some are about documents that are not known
}

// AtLeast returns a number in words as one that may be larger if more is set.
func AtLeast(number string, more bool) string {
	if more {
		return "at least " + number
	}
	return number
}

// Finding is one problem.
type Finding struct {
	Level      string    `json:"level"`
	Validation string    `json:"validation"`
	Document   *Identity `json:"document"`
	Path       string    `json:"path"`
	Rule       string    `json:"rule"`
	Message    string    `json:"message"`
	Advice     string    `json:"advice"`
	Line       int       `json:"line"` // in the body of the request
	Column     int       `json:"column"`
}

// Identity identifies a document.
type Identity struct {
	Schema string `json:"schema"`
	Layer  string `json:"layer"`
	Name   string `json:"name"`
	Bucket string `json:"bucket"`
}

// String formats the known parts of an identity.
func (id Identity) String() string {
	return document.Identity{Schema: id.Schema, Layer: id.Layer, Name: id.Name}.Known()
}

// Preview is the result that a change would have.
type Preview struct {
	Changed     bool              `json:"changed"`
	Revision    *int64            `json:"revision"`
	Status      string            `json:"status"` // success or failed
	Notice      string            `json:"notice"`
	Weakened    []string          `json:"weakened"` // how the change weakens policies
	Buckets     map[string]string `json:"buckets"`
	Changes     Changes           `json:"changes"`
	Documents   []Difference      `json:"documents"`
	Findings    []Finding         `json:"findings"`
	Policies    []Policy          `json:"validationPolicies"`
	Validations []Validation      `json:"validations"`
	Warnings    []string          `json:"warnings"`
	Withheld    string            `json:"withheld"`
	Counts
}

// Fails reports whether the revision would fail and later results cannot change that.
func (p Preview) Fails() bool {
	verdict := Verdict{Status: p.Status, Policies: p.Policies, Validations: p.Validations}
	return p.Status != success && verdict.Final()
}

// Changes counts documents by change.
type Changes struct {
	Added     int `json:"added"`
	Modified  int `json:"modified"`
	Deleted   int `json:"deleted"`
	Unchanged int `json:"unchanged"`
}

// Difference is a document that a change would create, modify, delete or move.
type Difference struct {
	Identity

	Change string `json:"change"`
	From   string `json:"from"` // the bucket that it is moved from
}

// Revision is a revision in a list.
type Revision struct {
	ID           int64    `json:"id"`
	Stamp        string   `json:"stamp"`
	Kind         string   `json:"kind"`
	User         string   `json:"user"`
	Message      string   `json:"message"`
	CreatedAt    string   `json:"createdAt"`
	RolledBackTo *int64   `json:"rolledBackTo"`
	Buckets      []string `json:"buckets"`
	Status       string   `json:"status"` // success or failed
	Tags         Tags     `json:"tags"`

	// Not in a list: the revisions before and after it, 0 if there is none and nil from an older server, and how the
	// policies in force in it are weaker than those of the one before.
	Previous *int64   `json:"previous"`
	Next     *int64   `json:"next"`
	Weakened []string `json:"weakened"`
}

// Tags are the names of tags. They are a list in a list of revisions and the keys of a mapping in a single revision.
type Tags []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Tags) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "{") {
		data := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &data); err != nil {
			return err //nolint:wrapcheck // json wraps it
		}
		*t = nil
		for name := range data {
			*t = append(*t, name)
		}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t)) //nolint:wrapcheck // json wraps it
}

// Bucket is a bucket and its last change.
type Bucket struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	Last
}

// Last describes the last change of something.
type Last struct {
	Revision  int64  `json:"revision"`
	ChangedAt string `json:"changedAt"`
	User      string `json:"user"`
	Message   string `json:"message"`
}

// DocumentChange is a change in the history of a document.
type DocumentChange struct {
	Last

	Bucket string `json:"bucket"`
	Change string `json:"change"`
	Diff   string `json:"diff"`
}

// Entry is a result of a validation.
type Entry struct {
	ID        int               `json:"id"`
	Name      string            `json:"name"`
	Status    string            `json:"status"`
	CreatedAt string            `json:"createdAt"`
	ExpiresAt string            `json:"expiresAt"`
	Errors    []json.RawMessage `json:"errors"`
}

// Posted is the answer to a posted result.
type Posted struct {
	Revision int64  `json:"revision"`
	Status   string `json:"status"`
	Warning  string `json:"warning"`
}

// Caller is the caller as authenticated by the server.
type Caller struct {
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
	Project string   `json:"project"`
	Roles   []string `json:"roles"`
	Rules   []string `json:"rules"`
}

// Pruned describes what a prune deletes or would delete.
type Pruned struct {
	DryRun    bool `json:"dryRun"`
	Revisions struct {
		Count  int `json:"count"`
		Ranges []struct {
			First int64 `json:"first"`
			Last  int64 `json:"last"`
		} `json:"ranges"`
	} `json:"revisions"`
	Documents int   `json:"documents"`
	Bytes     int64 `json:"bytes"`
	Kept      int   `json:"kept"`
}

// Graph describes the dependencies between documents.
type Graph struct {
	Revision int64    `json:"revision"`
	Layers   []string `json:"layers"`
	Nodes    []Node   `json:"nodes"`
	Edges    []Edge   `json:"edges"`
	Problems []struct {
		Message string `json:"message"`
	} `json:"problems"`
}

// Node is a document of a graph.
type Node struct {
	ID          int    `json:"id"`
	Schema      string `json:"schema"`
	Layer       string `json:"layer"`
	Name        string `json:"name"`
	Bucket      string `json:"bucket"`
	Missing     string `json:"missing"` // the missing part; "" if the document exists
	Abstract    bool   `json:"abstract"`
	Control     bool   `json:"control"`
	Replacement bool   `json:"replacement"`
}

// Edge is a dependency between two nodes of a graph.
type Edge struct {
	From   int    `json:"from"`
	To     int    `json:"to"`
	Kind   string `json:"kind"`
	Cyclic bool   `json:"cyclic"`
}

// Event is an event (CloudEvents 1.0).
type Event struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Subject string         `json:"subject"`
	Time    string         `json:"time"`
	Data    map[string]any `json:"data"`
}
