package attest_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/attest"
	"purser/internal/document"
	"purser/internal/keysets"
	"purser/internal/validations"
)

var now = time.Date(2026, 11, 28, 7, 30, 0, 999, time.UTC)

// clock is a clock that stands until it is set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// openKeys makes a file of signing keys.
func openKeys(t *testing.T) (keyring *attest.Keyring, path string, hands *clock) {
	t.Helper()
	path, hands = filepath.Join(t.TempDir(), "signing.json"), &clock{now}
	keyring, err := attest.Open(t.Context(), path, keysets.Options{Create: true, Now: hands.now})
	if err != nil {
		t.Fatal(err)
	}
	return keyring, path, hands
}

// widgets are rendered documents as a server answers with them, except for some parts that they share.
const (
	widgets = `---
data: {size: 9007199254740993, ratio: 100.0, names: ["ä", "\u2028"]}
id: 3
metadata: {layeringDefinition: {abstract: false, layer: site}, name: w1, schema: metadata/Document/v1, storagePolicy: cleartext}
schema: acme/Widget/v1
status: {bucket: b, revision: 1}
---
data: text
id: 4
metadata: {name: w0, schema: metadata/Control/v1, storagePolicy: cleartext}
schema: acme/Widget/v1
status: {bucket: b, revision: 1}
`
	secretWidget = `---
data: hunter2
id: 5
metadata: {layeringDefinition: {layer: site}, name: secret, schema: metadata/Document/v1, storagePolicy: encrypted}
schema: acme/Key/v1
status: {bucket: b, revision: 1}
`
	taking = `---
data: {password: hunter2}
metadata: {layeringDefinition: {layer: site}, name: taking, schema: metadata/Document/v1, storagePolicy: cleartext}
schema: acme/Widget/v1
`
)

var takingName = document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: "taking"}

func read(t *testing.T, text string) attest.Documents {
	t.Helper()
	documents, err := attest.ReadDocuments(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// factsOf returns the facts of a success with rendered documents.
func factsOf(t *testing.T, text string, notCovered ...document.Identity) attest.Facts {
	t.Helper()
	var documents []attest.Document
	for _, given := range read(t, text) {
		documents = append(documents, given.Document)
	}
	digest, err := attest.DigestOf(t.Context(), documents)
	if err != nil {
		t.Fatal(err)
	}
	return attest.Facts{
		Server: "https://purser.example", Site: "atl1", Revision: 17, Chain: sha256.Sum256([]byte("chain")),
		Rendered: attest.Rendered{Digest: digest, NotCovered: notCovered}, Policies: sha256.Sum256([]byte("[]")),
		Verdict: validations.Verdict{Policies: []validations.PolicyVerdict{{Validations: []validations.Judged{
			{Name: "drydock-site-validation", Until: now.Add(time.Hour)}, {Name: validations.SchemaValidation},
		}}}},
		At: now,
	}
}

func sign(t *testing.T, keyring *attest.Keyring, facts attest.Facts) []byte {
	t.Helper()
	envelope, err := keyring.Sign(facts.Statement())
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}

func verify(t *testing.T, envelope []byte, keys []attest.Key, documents *attest.Documents, at time.Time) attest.Verification {
	t.Helper()
	found, err := attest.Verify(t.Context(), envelope, keys, documents, at)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// isRefused checks that an envelope is not trusted, for a reason; "" checks that it is trusted.
func isRefused(t *testing.T, found attest.Verification, reason string) {
	t.Helper()
	got := strings.Join(found.Reasons, "; ")
	if found.Verified() != (reason == "") || !strings.Contains(got, reason) {
		t.Errorf("verified: %v, for %q, want %q", found.Verified(), got, reason)
	}
}

// The statement has the form of the specification.
func TestFacts_Statement(t *testing.T) {
	t.Parallel()
	facts := factsOf(t, widgets)
	text, err := json.MarshalIndent(facts.Statement(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{
 "_type": "https://in-toto.io/Statement/v1",
 "subject": [
  {
   "name": "purser.example/sites/atl1/revisions/17",
   "digest": {
    "sha256": "%s"
   }
  },
  {
   "name": "rendered-documents",
   "digest": {
    "sha256": "%s"
   }
  }
 ],
 "predicateType": "https://in-toto.io/attestation/svr/v0.1",
 "predicate": {
  "verifier": {
   "id": "https://purser.example/",
   "policy": {
    "digest": {
     "sha256": "%s"
    }
   }
  },
  "timeCreated": "2026-11-28T07:30:00Z",
  "properties": [
   "PURSER_VERDICT_SUCCESS",
   "PURSER_NO_WAIVERS",
   "PURSER_VALIDATION:deckhand-schema-validation",
   "PURSER_VALIDATION:drydock-site-validation"
  ],
  "validUntil": "2026-11-28T08:30:00Z"
 }
}`, facts.Chain, facts.Rendered.Digest, facts.Policies)
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What the properties and the end of a statement say of a verdict.
func TestFacts_Statement_verdicts(t *testing.T) {
	t.Parallel()
	const a, b = "a-validation", "b-validation"
	waiver := &validations.Waiver{Validation: b, Until: now.Add(time.Minute)}
	of := func(judged ...validations.Judged) validations.Verdict {
		return validations.Verdict{Policies: []validations.PolicyVerdict{{Validations: judged}}}
	}
	for name, c := range map[string]struct {
		verdict validations.Verdict
		until   string
		want    string
	}{
		"without policies": {validations.Verdict{Reported: []validations.Judged{{Name: a}}}, "", "NO_WAIVERS VALIDATION:a-validation"},
		"nothing counts":   {validations.Verdict{Ignored: []validations.Judged{{Name: a}}}, "", "NO_WAIVERS"},
		"waived":           {of(validations.Judged{Name: a}, validations.Judged{Name: b, Status: validations.Failure, Waiver: waiver}), "2026-11-28T07:31:00Z", "WAIVER:b-validation VALIDATION:a-validation"},
		"not applicable":   {of(validations.Judged{Name: a, Status: validations.NotApplicable}), "", "NO_WAIVERS"},
		"an advisory one": {of(validations.Judged{Name: a, Until: now.Add(time.Hour)},
			validations.Judged{Name: b, Until: now.Add(time.Second), Advisory: true}), "2026-11-28T08:30:00Z", "NO_WAIVERS VALIDATION:a-validation VALIDATION:b-validation"},
		"an advisory failure": {of(validations.Judged{Name: b, Status: validations.Failure, Advisory: true}), "", "NO_WAIVERS"},
		"in one policy only": {validations.Verdict{Policies: []validations.PolicyVerdict{
			{Validations: []validations.Judged{{Name: a}}},
			{Validations: []validations.Judged{{Name: a, Status: validations.Expired, Advisory: true}}},
		}}, "", "NO_WAIVERS"},
	} {
		facts := attest.Facts{Verdict: c.verdict, At: now}
		said := facts.Statement()
		got := strings.ReplaceAll(strings.Join(said.Predicate.Properties, " "), "PURSER_", "")
		if diff := cmp.Diff([]string{"VERDICT_SUCCESS " + c.want, c.until}, []string{got, said.Predicate.ValidUntil}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if said.Subject[0].Name != "purser/sites//revisions/0" || said.Predicate.Verifier.ID != "purser" {
			t.Errorf("%s: without a URL it is by %s about %s", name, said.Predicate.Verifier.ID, said.Subject[0].Name)
		}
	}
}
