package wire

import (
	"encoding/json"
	"slices"

	"purser/internal/document"
	"purser/internal/validations"
)

// Verdict is the status of a revision: whether it may be deployed.
type Verdict struct {
	Revision    int64        `json:"revision"`
	Stamp       string       `json:"stamp"`
	Status      string       `json:"status"`           // success or failure
	Waived      []Waived     `json:"waived,omitempty"` // the validations that pass because of waivers
	Notice      string       `json:"notice,omitempty"` // without a policy, what counted
	Policies    []Policy     `json:"policies"`
	Ignored     []Validation `json:"ignored"`
	Validations []Validation `json:"validations,omitempty"` // without a policy, the reported ones
	Warnings    []string     `json:"warnings,omitempty"`
	Details     *Details     `json:"details,omitempty"` // nil unless asked for
}

// Details are what else one may ask for with the verdict on a revision. Members are nil if they were not asked for, if
// the caller may not read them, or if they take too much work.
type Details struct {
	Revision *Revision         `json:"revision,omitempty"`
	Findings *Findings         `json:"findings,omitempty"`
	Results  *List[Validation] `json:"results,omitempty"` // of each validation, with the newest one
	History  *Revisions        `json:"history,omitempty"` // the newest revisions of the site, the last one first
	Buckets  *List[Bucket]     `json:"buckets,omitempty"` // of the newest revision
}

const success = "success"

// Final reports whether waiting cannot change a verdict: it is a success, or a validation has failed. Missing or
// expired results can still be posted, except missing ones of validations that only the server performs.
func (v Verdict) Final() bool {
	counted := slices.Clone(v.Validations)
	for _, policy := range v.Policies {
		if policy.Broken() {
			return true
		}
		counted = append(counted, policy.Validations...)
	}
	waiting := false
	for _, validation := range counted {
		switch {
		case validation.Passes():
		case validation.Status == "failure", validation.Status == "missing" && validation.Own():
			return true
		case validation.Status == "missing", validation.Status == "expired":
			waiting = true
		}
	}
	return v.Status == success || !waiting
}

// Policy is a ValidationPolicy in force.
type Policy struct {
	Name        string       `json:"name"`
	URL         string       `json:"url,omitempty"`
	Status      string       `json:"status"`
	Validations []Validation `json:"validations,omitempty"`
}

// Broken reports whether a policy fails although all of its validations succeed.
func (p Policy) Broken() bool {
	fails := func(v Validation) bool { return !v.Passes() }
	return p.Status != success && !slices.ContainsFunc(p.Validations, fails)
}

// Validation is the outcome of a validation: success, failure, missing, expired or not-applicable.
type Validation struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	URL     string `json:"url,omitempty"`
	Message string `json:"message,omitempty"` // the reason for the status; of a failure only in a Verdict

	Advisory bool     `json:"advisory,omitempty"` // it makes warnings, but never fails the verdict
	Waived   *Waived  `json:"waived,omitempty"`   // nil if it is not waived
	Claim    *Claimed `json:"claim,omitempty"`    // of the worker who is about to post a result; nil if there is none

	// Newest is the newest posted result; nil if there is none, and in the policies of a revision.
	Newest *Newest `json:"newest,omitempty"`
}

// Passes reports whether the validation does not fail the verdict. The server has decided that: it is as in package
// validations.
func (v Validation) Passes() bool {
	return v.Holds() || v.Advisory || v.Waived != nil
}

// Holds reports whether the validation is a success by itself.
func (v Validation) Holds() bool {
	return v.Status == success || v.Status == validations.NotApplicable.String()
}

// Waived is a waiver, because of which a validation does not fail the verdict.
type Waived struct {
	Validation string   `json:"validation,omitempty"` // with its status; only in a list
	Status     string   `json:"status,omitempty"`
	By         Optional `json:"by"`
	Reason     string   `json:"reason"`
	Until      Optional `json:"until"`
}

// Claimed is a worker's claim to a validation that lacks a result.
type Claimed struct {
	Worker  string   `json:"worker"`
	Since   Optional `json:"since"`
	Attempt int      `json:"attempt"`
}

// Newest is the newest posted result of a validation.
type Newest struct {
	Status      string          `json:"status"`
	CreatedAt   Optional        `json:"createdAt"`
	ExpiresAt   Optional        `json:"expiresAt"`
	CarriedFrom int64           `json:"carriedFrom,omitempty"`
	Inputs      json.RawMessage `json:"inputs,omitempty"` // the selection of documents that it depends on
	URL         string          `json:"url,omitempty"`    // of a page about it
	Validator   *Validator      `json:"validator,omitempty"`
	User        string          `json:"user,omitempty"` // who posted it
}

// Validator is the service that has validated.
type Validator struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Message string `json:"message,omitempty"` // of a user who approves
}

// Own reports whether only the server itself may report results of the validation.
func (v Validation) Own() bool { return validations.IsReserved(v.Name) }

// Posted is the answer to a posted result.
type Posted struct {
	Revision  int64           `json:"revision,omitempty"` // not shown by Deckhand
	Stamp     string          `json:"stamp,omitempty"`
	Status    string          `json:"status"`
	Validator json.RawMessage `json:"validator"`
	Warning   string          `json:"warning,omitempty"`
}

// EntryItem is an entry in the list of one validation.
type EntryItem struct {
	ID          int       `json:"id"`
	Status      string    `json:"status"`
	CreatedAt   *Optional `json:"createdAt,omitempty"` // only of a result that was carried over
	CarriedFrom int64     `json:"carriedFrom,omitempty"`
}

// Entry is an entry of a validation. Its optional parts depend on the route.
type Entry struct {
	CarriedFrom  int64             `json:"carriedFrom,omitempty"`
	CreatedAt    Optional          `json:"createdAt"`
	Errors       []json.RawMessage `json:"errors"`
	ExpiresAfter Optional          `json:"expiresAfter"`
	ExpiresAt    *Optional         `json:"expiresAt,omitempty"`
	ID           *int              `json:"id,omitempty"`
	Inputs       json.RawMessage   `json:"inputs,omitempty"` // as in Newest
	Name         string            `json:"name"`
	Notes        []document.Note   `json:"notes,omitempty"`
	ResultURL    string            `json:"resultUrl,omitempty"` // of a page about the result
	Status       string            `json:"status"`
	URL          string            `json:"url,omitempty"`
	User         string            `json:"user,omitempty"` // who posted it
}

// Expires returns ExpiresAt, empty if the answer has none.
func (e Entry) Expires() (at Optional) {
	if e.ExpiresAt != nil {
		at = *e.ExpiresAt
	}
	return at
}

// Messages returns the messages of an entry's errors.
func (e Entry) Messages() (texts []string) {
	for _, text := range e.Errors {
		var known struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &known) != nil || known.Message == "" {
			known.Message = string(text)
		}
		texts = append(texts, known.Message)
	}
	return texts
}
