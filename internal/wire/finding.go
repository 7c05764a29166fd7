package wire

import (
	"encoding/json"

	"purser/internal/document"
	"purser/internal/validations"
)

// Findings lists the findings of a revision.
type Findings struct {
	Revision *int64 `json:"revision"` // null if there is none
	Stamp    string `json:"stamp"`
	Status   string `json:"status"`
	Counts

	Next     Optional  `json:"next,omitempty"` // the parameter after of the next page; empty if there is none
	Findings []Finding `json:"findings"`
}

// Counts are the numbers of findings, also of those that are not listed.
type Counts struct {
	Total        int      `json:"total"`
	More         bool     `json:"more"` // there may be others, which were not examined: each number is the least possible
	Failures     int      `json:"failures"`
	Causes       []Cause  `json:"causes"`
	Groups       int      `json:"groups"`
	ByValidation []Number `json:"byValidation"`
}

// Cause is a group of similar findings.
type Cause struct {
	ID        string  `json:"id"`
	Findings  int     `json:"findings"`
	Documents int     `json:"documents"`
	More      bool    `json:"more,omitempty"` // there may be others
	First     Finding `json:"first"`
}

// Number is the number of findings of a validation.
type Number struct {
	Name      string `json:"name"`
	Level     string `json:"level"`
	Findings  int    `json:"findings"`
	Documents int    `json:"documents"`
	More      bool   `json:"more,omitempty"`    // there may be other findings
	Unnamed   bool   `json:"unnamed,omitempty"` // some are about documents that are not known
}

// Finding is one problem.
type Finding struct {
	Level      string          `json:"level"`
	Validation string          `json:"validation"`
	Document   *Identity       `json:"document"` // null if the finding is not about a document
	Path       Optional        `json:"path"`
	Rule       Optional        `json:"rule"`
	Message    string          `json:"message"`
	Value      json.RawMessage `json:"value,omitempty"`
	Advice     Optional        `json:"advice"`

	Causes []validations.Cause `json:"causes,omitempty"`

	Secret bool `json:"secret,omitempty"`
	// File is the path of the file that the document was pushed from, in an answer to a question about findings.
	File   Optional `json:"file,omitzero"`
	Line   int      `json:"line,omitempty"` // in the file, otherwise in the body of the request
	Column int      `json:"column,omitempty"`
	Others []Other  `json:"others,omitempty"`
}

// Other is another document that a finding is about.
type Other struct {
	Schema string   `json:"schema"`
	Layer  Optional `json:"layer"`
	Name   string   `json:"name"`
	Line   int      `json:"line,omitempty"` // in the body of the request
	Column int      `json:"column,omitempty"`
}

// Preview is the answer to a dry run. It has a Finding for each problem if the request asks for findings, else a
// Checked for each document that was checked.
type Preview[F Finding | Checked] struct {
	DryRun    bool              `json:"dryRun"`
	Changed   bool              `json:"changed"`
	Revision  *int64            `json:"revision"`           // the newest after the change; null if there is none
	Status    string            `json:"status"`             // success or failure
	Waived    []Waived          `json:"waived,omitempty"`   // as in Verdict
	Notice    string            `json:"notice,omitempty"`   // without a policy, what counted
	Weakened  []string          `json:"weakened,omitempty"` // how the change weakens policies
	Buckets   map[string]string `json:"buckets"`
	Changes   Changes           `json:"changes"`
	Documents []Difference      `json:"documents"`
	Findings  []F               `json:"findings"`
	*Counts                     // nil unless the request asks for findings

	Policies    []Policy     `json:"validationPolicies"`
	Validations []Validation `json:"validations,omitempty"` // without a policy, the reported ones
	Results     []Result     `json:"results,omitempty"`
	Warnings    []string     `json:"warnings,omitempty"`
	Withheld    string       `json:"withheld,omitempty"`

	// BeginToFail is nil if no document begins to fail.
	BeginToFail *Failing  `json:"beginToFail,omitempty"`
	Rendered    *Rendered `json:"rendered,omitempty"` // nil unless the request asks for it
}

// Fails reports whether the revision would fail and later results cannot change that.
func (p Preview[F]) Fails() bool {
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

// Result is the result of a validation of a whole revision that a change would make.
type Result struct {
	Name   string          `json:"name"`
	Status string          `json:"status"`
	Errors json.RawMessage `json:"errors"`
}

// Checked is the entry of a document in the schema validation.
type Checked struct {
	Bucket string          `json:"bucket"`
	Schema string          `json:"schema"`
	Layer  Optional        `json:"layer"`
	Name   string          `json:"name"`
	Status string          `json:"status"`
	Errors []LocatedError  `json:"errors"`
	Notes  []document.Note `json:"notes,omitempty"`
}

// LocatedError is an error with its place in the body of the request, if known.
type LocatedError struct {
	validations.Error

	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}
