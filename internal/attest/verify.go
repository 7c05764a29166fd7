package attest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"purser/internal/document"
	"purser/internal/words"
)

// Verification is what is known of an envelope.
type Verification struct {
	Statement *Statement // nil if none of the keys has signed one
	KeyID     string     // of the key that has signed it
	Reasons   []string   // why it is not to be trusted; empty if it is
	Documents *Compared  // nil if no documents were given
}

// Verified reports whether the statement is to be trusted.
func (v Verification) Verified() bool { return len(v.Reasons) == 0 }

// Compared are documents that were compared with a statement.
type Compared struct {
	Same    bool
	Covered int // the number of documents that the digest is over
	// NotCovered are the others: encrypted ones, and those that the statement names.
	NotCovered []document.Identity
}

// clockSkew is how far the clock of a server may be ahead.
const clockSkew = 5 * time.Minute

// Verify verifies an envelope with keys at a time. If documents is not nil, it also compares these with the statement.
// The error is about the work on the documents.
func Verify(ctx context.Context, envelope []byte, keys []Key, documents *Documents, now time.Time) (
	v Verification, err error,
) {
	statement, signer, reason := open(envelope, keys)
	if reason != "" {
		v.Reasons = []string{reason}
		return v, nil
	}
	v.Statement, v.KeyID = &statement, signer.ID
	v.Reasons = slices.Concat(statement.doubts(), statement.Predicate.outdated(now))
	if documents == nil {
		return v, nil
	}
	compared, reason, err := statement.compare(ctx, *documents)
	if v.Documents = &compared; reason != "" {
		v.Reasons = append(v.Reasons, reason)
	}
	return v, err
}

// open returns the statement of an envelope and the key that has signed it, or why there is none.
func open(envelope []byte, keys []Key) (statement Statement, signer *Key, reason string) {
	found, err := parse(envelope)
	if err != nil {
		return statement, nil, err.Error()
	}
	if signer, reason = found.signedBy(keys); reason == "" {
		reason = found.read(&statement)
	}
	return statement, signer, reason
}

// signedBy returns the key that has signed an envelope, or why none has. All keys are tried, because a key ID is a hint
// that everybody can change.
func (p parsed) signedBy(keys []Key) (by *Key, reason string) {
	text := encoded(p.payloadType, p.payload)
	for _, signature := range p.signatures {
		for i := range keys {
			if keys[i].verifies(text, signature.text) {
				return &keys[i], ""
			}
		}
	}
	var named, given []string
	for _, key := range keys {
		given = append(given, key.ID)
	}
	for _, signature := range p.signatures {
		if slices.Contains(given, signature.keyID) {
			return nil, "its signature does not fit: it was changed since it was signed with key " + signature.keyID
		}
		named = append(named, words.Excerpt(signature.keyID))
	}
	return nil, fmt.Sprintf("none of the given keys has signed it: it names the key %s, and given are %s",
		words.Some(named, maxNamed), words.Some(given, maxNamed))
}

// maxNamed bounds the keys that a reason names.
const maxNamed = 5

// read reads the statement of a payload, or returns why that is none.
func (p parsed) read(statement *Statement) (reason string) {
	switch {
	case p.payloadType != PayloadType:
		return fmt.Sprintf("its payload is of the type %q, not %s", words.Excerpt(p.payloadType), PayloadType)
	case json.Unmarshal(p.payload, statement) != nil:
		return "its payload is no statement of in-toto"
	case statement.Type != StatementType:
		return fmt.Sprintf("its statement is of the type %q, not %s", words.Excerpt(statement.Type), StatementType)
	case statement.PredicateType != PredicateType:
		return fmt.Sprintf("its predicate is of the type %q, not %s", words.Excerpt(statement.PredicateType), PredicateType)
	}
	return ""
}

// doubts returns why a statement does not say what verdicts of Purser say.
func (s Statement) doubts() (reasons []string) {
	if !slices.Contains(s.Predicate.Properties, Success) {
		reasons = append(reasons, "it is about a revision that is no success: it does not have the property "+Success)
	}
	if s.Revision() == "" {
		reasons = append(reasons, "it names no revision")
	}
	return reasons
}

// Revision returns the name of the revision that a statement is about: purser.example/sites/atl1/revisions/17; "" if
// there is none.
func (s Statement) Revision() string {
	i := slices.IndexFunc(s.Subject, func(of Subject) bool { return strings.Contains(of.Name, "/revisions/") })
	if i < 0 {
		return ""
	}
	return s.Subject[i].Name
}

// Chain returns the value of the chain of the revision that a statement is about; "" if there is none.
func (s Statement) Chain() string {
	if subject := s.subject(s.Revision()); subject != nil {
		return subject.Digest.SHA256
	}
	return ""
}

// outdated returns why a result is not to be trusted at a time.
func (p Predicate) outdated(now time.Time) (reasons []string) {
	made, err := time.Parse(time.RFC3339, p.TimeCreated)
	switch {
	case err != nil:
		reasons = append(reasons, "it does not say when it was made")
	case made.After(now.Add(clockSkew)):
		reasons = append(reasons, fmt.Sprintf("it was made at %s, which is later than now, %s: one of the clocks is wrong",
			p.TimeCreated, moment(now)))
	}
	if p.ValidUntil == "" {
		return reasons
	}
	until, err := time.Parse(time.RFC3339, p.ValidUntil)
	switch {
	case err != nil:
		reasons = append(reasons, "it does not say until when it is valid")
	case now.After(until):
		reasons = append(reasons, fmt.Sprintf("it was valid until %s, when a result or a waiver ended, and now it is %s: "+
			"ask the server for a new one", p.ValidUntil, moment(now)))
	}
	return reasons
}

// compare compares documents with those of a statement. reason says why they are not the same.
func (s Statement) compare(ctx context.Context, documents Documents) (compared Compared, reason string, err error) {
	subject := s.subject(RenderedDocuments)
	if subject == nil {
		return compared, "it is not about rendered documents", nil
	}
	skipped := map[document.Identity]bool{}
	if subject.Annotations != nil {
		for _, name := range subject.Annotations.NotCovered {
			skipped[document.Identity(name)] = true
		}
	}
	var covered []Document
	for _, doc := range documents {
		if doc.Encrypted || skipped[doc.Identity] {
			compared.NotCovered = append(compared.NotCovered, doc.Identity)
			continue
		}
		covered = append(covered, doc.Document)
	}
	compared.Covered = len(covered)
	digest, err := DigestOf(ctx, covered)
	if err != nil {
		return compared, "", err
	}
	if compared.Same = digest.String() == subject.Digest.SHA256; !compared.Same {
		reason = fmt.Sprintf("the documents are not those that it is about: the digest of the %s is %s, not %s",
			words.Count(len(covered), "document"), digest, words.Excerpt(subject.Digest.SHA256))
	}
	return compared, reason, nil
}
