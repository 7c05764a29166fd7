package attest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"purser/internal/document"
	"purser/internal/validations"
)

// What a statement is, by the specifications of in-toto.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://in-toto.io/attestation/svr/v0.1" // a simple verification result
	PayloadType   = "application/vnd.in-toto+json"
)

// RenderedDocuments is the name of the subject with the digest of DigestOf.
const RenderedDocuments = "rendered-documents"

// The properties that a statement can have. Those that end with a colon are followed by the name of a validation.
const (
	Success    = "PURSER_VERDICT_SUCCESS"
	NoWaivers  = "PURSER_NO_WAIVERS"
	Validation = "PURSER_VALIDATION:" // is a success
	Waived     = "PURSER_WAIVER:"     // is none, and counts as one because of a waiver
)

// Facts are what a statement says of a revision.
type Facts struct {
	Server   string // the URL of the server, without a slash at its end; "" if it has none
	Site     string
	Revision int64
	Chain    document.Digest // of the revision
	Rendered Rendered
	Policies document.Digest // of the ValidationPolicies in force, as by DigestOf
	Verdict  validations.Verdict
	At       time.Time
}

// Rendered are the rendered documents of a revision, as a caller sees them who may not see encrypted ones.
type Rendered struct {
	Digest document.Digest
	// NotCovered are the documents that such a caller cannot see rendered: they need encrypted ones, or have errors.
	NotCovered []document.Identity
}

// Statement is a statement of in-toto with the predicate of a simple verification result.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is what a statement is about.
type Subject struct {
	Name        string       `json:"name"`
	Digest      Digest       `json:"digest"`
	Annotations *Annotations `json:"annotations,omitempty"`
}

// Digest is a digest by the name of its algorithm.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// Annotations are what else is said of a subject.
type Annotations struct {
	NotCovered []Name `json:"notCovered"`
}

// Name names a document.
type Name struct {
	Schema string `json:"schema"`
	Layer  string `json:"layer,omitempty"`
	Name   string `json:"name"`
}

// Predicate is the result of a verification.
type Predicate struct {
	Verifier    Verifier `json:"verifier"`
	TimeCreated string   `json:"timeCreated"`
	Properties  []string `json:"properties"`
	ValidUntil  string   `json:"validUntil,omitempty"`
}

// Verifier is who has verified, and by which policies.
type Verifier struct {
	ID     string `json:"id"`
	Policy Policy `json:"policy"`
}

// Policy is the policy of a verification.
type Policy struct {
	Digest Digest `json:"digest"`
}

// Statement returns the statement that says the facts. Their verdict must be a success.
func (f Facts) Statement() Statement {
	documents := Subject{Name: RenderedDocuments, Digest: sha256Of(f.Rendered.Digest)}
	if len(f.Rendered.NotCovered) > 0 {
		documents.Annotations = new(Annotations)
		for _, id := range f.Rendered.NotCovered {
			documents.Annotations.NotCovered = append(documents.Annotations.NotCovered, Name(id))
		}
	}
	id, host := "purser", "purser"
	if at, err := url.Parse(f.Server); err == nil && at.Host != "" {
		id, host = f.Server+"/", at.Host
	}
	predicate := Predicate{
		Verifier:    Verifier{ID: id, Policy: Policy{sha256Of(f.Policies)}},
		TimeCreated: moment(f.At), Properties: propertiesOf(f.Verdict),
	}
	if until, ends := f.Verdict.HoldsUntil(); ends {
		predicate.ValidUntil = moment(until)
	}
	return Statement{
		Type: StatementType, PredicateType: PredicateType, Predicate: predicate,
		Subject: []Subject{
			{Name: fmt.Sprintf("%s/sites/%s/revisions/%d", host, f.Site, f.Revision), Digest: sha256Of(f.Chain)}, documents,
		},
	}
}

func sha256Of(digest document.Digest) Digest { return Digest{digest.String()} }

// moment writes a time in whole seconds, of which the fraction is cut off.
func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// propertiesOf returns the properties of a success.
func propertiesOf(verdict validations.Verdict) []string {
	properties := []string{Success}
	waived := verdict.Waived()
	if len(waived) == 0 {
		properties = append(properties, NoWaivers)
	}
	for _, judged := range waived {
		properties = append(properties, Waived+judged.Name)
	}
	for _, name := range verdict.Succeeded() {
		properties = append(properties, Validation+name)
	}
	return properties
}

// named returns the names after a prefix of properties.
func (p Predicate) named(prefix string) (names []string) {
	for _, property := range p.Properties {
		if name, has := strings.CutPrefix(property, prefix); has {
			names = append(names, name)
		}
	}
	return names
}

// Validations returns the names of the validations that were successes.
func (p Predicate) Validations() []string { return p.named(Validation) }

// Waivers returns the names of the validations that were waived.
func (p Predicate) Waivers() []string { return p.named(Waived) }

// subject returns a subject by its name, nil if there is none.
func (s Statement) subject(name string) *Subject {
	for i := range s.Subject {
		if s.Subject[i].Name == name {
			return &s.Subject[i]
		}
	}
	return nil
}

// text returns the payload of an envelope.
func (s Statement) text() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write a statement: %w", err)
	}
	return text, nil
}
