package attest_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"

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

// The order of documents and how they are written do not matter, nor does what only the server knows of them. All else
// does.
func TestDigestOf(t *testing.T) {
	t.Parallel()
	digest := func(text string) document.Digest { return factsOf(t, text).Rendered.Digest }
	parts := strings.Split(widgets, "---\n")
	asJSON := `[{"schema": "acme/Widget/v1", "data": "text", "metadata": {"storagePolicy": "cleartext", "schema": "metadata/Control/v1", "name": "w0"}},
		{"metadata": {"name": "w1", "schema": "metadata/Document/v1", "layeringDefinition": {"layer": "site", "abstract": false}, "storagePolicy": "cleartext"},
		"data": {"names": ["\u00e4", "\u2028"], "ratio": 1e2, "size": 9007199254740993}, "schema": "acme/Widget/v1"}]`
	want := digest(widgets)
	for name, text := range map[string]string{
		"in another order":      "---\n" + parts[2] + "---\n" + parts[1],
		"other line ends":       strings.ReplaceAll(widgets, "\n", "\r\n"),
		"JSON":                  asJSON,
		"JSON in lines":         strings.ReplaceAll(asJSON, "\n", "\r\n"),
		"another id":            strings.Replace(widgets, "id: 3", "id: 7", 1),
		"another revision":      strings.ReplaceAll(widgets, "revision: 1", "revision: 2"),
		"without these":         strings.ReplaceAll(strings.ReplaceAll(widgets, "status: {bucket: b, revision: 1}\n", ""), "id: 3\n", ""),
		"a number, in full":     strings.Replace(widgets, "100.0", "1.0e+2", 1),
		"comments":              strings.ReplaceAll(widgets, "---\n", "---\n# hello\n"),
		"a block of YAML":       strings.Replace(widgets, "data: text", "data: >-\n  text", 1),
		"the keys of a mapping": strings.Replace(widgets, "{size: 9007199254740993, ratio: 100.0,", "{ratio: 100.0, size: 9007199254740993,", 1),
	} {
		if got := digest(text); got != want {
			t.Errorf("%s: another digest", name)
		}
	}
	for name, text := range map[string]string{
		"a digit that no double has": strings.Replace(widgets, "993", "992", 1),
		"a text for a number":        strings.Replace(widgets, "100.0", `"100.0"`, 1),
		"a label":                    strings.Replace(widgets, "name: w0", "name: w0, labels: {a: b}", 1),
		"a schema":                   strings.Replace(widgets, "schema: acme/Widget/v1", "schema: acme/Widget/v2", 1),
		"a space":                    strings.Replace(widgets, "data: text", "data: 'text '", 1),
		"one less":                   "---\n" + parts[1],
		"one twice":                  widgets + "---\n" + parts[1],
		"none":                       "",
		"the order of a list":        strings.Replace(widgets, `["ä", "\u2028"]`, `["\u2028", "ä"]`, 1),
	} {
		if digest(text) == want {
			t.Errorf("%s: the same digest", name)
		}
	}
}

// Anybody can compute the digest with a library for RFC 8785: it is the SHA-256 of one JSON array.
func TestDigestOf_form(t *testing.T) {
	t.Parallel()
	const text = `[{"data":"text","metadata":{"name":"w0","schema":"metadata/Control/v1","storagePolicy":"cleartext"},` +
		`"schema":"acme/Widget/v1"},{"data":{"names":["ä","` + "\u2028" + `"],"ratio":100,"size":9007199254740993},"metadata":` +
		`{"layeringDefinition":{"abstract":false,"layer":"site"},"name":"w1","schema":"metadata/Document/v1",` +
		`"storagePolicy":"cleartext"},"schema":"acme/Widget/v1"}]`
	if got, want := factsOf(t, widgets).Rendered.Digest, document.Digest(sha256.Sum256([]byte(text))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := factsOf(t, "").Rendered.Digest, document.Digest(sha256.Sum256([]byte("[]"))); got != want {
		t.Errorf("of none: %s, want %s", got, want)
	}
}

// What two programs may read in different ways is refused.
func TestReadDocuments_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [":                                "not closed",
		"- a":                                 "not a mapping",
		"{}":                                  "no schema",
		"{schema: a, data: 1}":                "no metadata",
		"{metadata: {}, data: 1}":             "no schema",
		"{schema: a, schema: b}":              "twice",
		"{schema: a, metadata: {a: 1, a: 2}}": "twice",
		`[{"schema": "a", "metadata": {"a": 1, "a": 2}}]`: "twice",
		"{schema: a, metadata: {}, dta: 1}":               "a key at its top",
		"\xff":                                            "UTF-8",
	} {
		_, err := attest.ReadDocuments(t.Context(), []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dta") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// foreign verifies with a verifier of DSSE that is not ours and a key.
type foreign struct {
	*signerverifier.ECDSASignerVerifier
	id string
}

// KeyID implements dsse.Verifier.
func (f foreign) KeyID() (string, error) { return f.id, nil }

func foreignly(t *testing.T, envelope []byte, public crypto.PublicKey, id string) error {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	key, err := signerverifier.NewECDSASignerVerifierFromSSLibKey(&signerverifier.SSLibKey{
		KeyType: signerverifier.ECDSAKeyType, Scheme: signerverifier.ECDSAKeyScheme, KeyID: id,
		KeyVal: signerverifier.KeyVal{Public: string(text)},
	})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := dsse.NewEnvelopeVerifier(foreign{key, id})
	if err != nil {
		t.Fatal(err)
	}
	var parsed dsse.Envelope
	if err := json.Unmarshal(envelope, &parsed); err != nil {
		t.Fatal(err)
	}
	accepted, err := verifier.Verify(context.Background(), &parsed)
	if err == nil && len(accepted) != 1 {
		err = fmt.Errorf("%d keys are accepted", len(accepted))
	}
	return err
}

// A verifier of DSSE that is not ours accepts envelopes with public keys from PEM, which have no ID, and from the key
// set, and no others.
func TestSign_foreignVerifier(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	envelope := sign(t, keyring, factsOf(t, widgets))
	texts, err := attest.PEM(keyring.Public())
	set, otherErr := attest.JWKS(keyring.Public())
	if err := errors.Join(err, otherErr); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(texts)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var web jose.JSONWebKeySet
	if err := json.Unmarshal(set, &web); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(foreignly(t, envelope, public, ""), foreignly(t, envelope, web.Keys[0].Key, web.Keys[0].KeyID)); err != nil {
		t.Error(err)
	}
	if id, err := dsse.SHA256KeyID(public); err != nil || id != web.Keys[0].KeyID {
		t.Errorf("the key has the ID %s, and a fingerprint %s: %v", web.Keys[0].KeyID, id, err)
	}
	other, _, _ := openKeys(t)
	otherSet, err := attest.JWKS(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(otherSet, &web); err != nil {
		t.Fatal(err)
	}
	if foreignly(t, envelope, web.Keys[0].Key, "") == nil {
		t.Error("another key is accepted")
	}
	if _, isECDSA := web.Keys[0].Key.(*ecdsa.PublicKey); !isECDSA || web.Keys[0].Algorithm != "ES256" || web.Keys[0].Use != "sig" {
		t.Errorf("the key is %+v", web.Keys[0])
	}
}

// changed returns an envelope with a changed payload and the same signature.
func changed(t *testing.T, envelope []byte, change func(payload string) string) []byte {
	t.Helper()
	var parsed attest.Envelope
	if err := json.Unmarshal(envelope, &parsed); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(parsed.Payload)
	if err != nil {
		t.Fatal(err)
	}
	before := string(payload)
	after := change(before)
	if after == before {
		t.Fatal("nothing was changed in " + before)
	}
	parsed.Payload = base64.StdEncoding.EncodeToString([]byte(after))
	text, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestVerify(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	other, _, _ := openKeys(t)
	facts := factsOf(t, widgets, takingName)
	envelope, keys := sign(t, keyring, facts), keyring.Public()
	replaced := func(before, after string) []byte {
		return changed(t, envelope, func(payload string) string { return strings.Replace(payload, before, after, 1) })
	}
	signed := func(change func(*attest.Statement)) []byte {
		statement := facts.Statement()
		change(&statement)
		text, err := keyring.Sign(statement)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		envelope []byte
		keys     []attest.Key
		at       time.Time
		want     string
	}{
		"verified":               {envelope, keys, now, ""},
		"one of several keys":    {envelope, append(other.Public(), keys...), now, ""},
		"spaces around":          {bytes.Join([][]byte{nil, envelope, nil}, []byte("\n")), keys, now, ""},
		"another key ID":         {bytes.Replace(envelope, []byte("SHA256:"), []byte("SHA25x:"), 1), keys, now, ""}, // a hint
		"at its end":             {envelope, keys, now.Add(time.Hour).Truncate(time.Second), ""},
		"a second later":         {envelope, keys, now.Add(time.Hour + time.Second), "it was valid until 2026-11-28T08:30:00Z"},
		"before it was made":     {envelope, keys, now.Add(-time.Hour), "later than now"},
		"a clock behind":         {envelope, keys, now.Add(-time.Minute), ""},
		"another key":            {envelope, other.Public(), now, "none of the given keys has signed it: it names the key SHA256:"},
		"no key":                 {envelope, nil, now, "none of the given keys"},
		"another revision":       {replaced("revisions/17", "revisions/18"), keys, now, "its signature does not fit"},
		"another digest":         {replaced(facts.Rendered.Digest.String()[:2], "zz"), keys, now, "its signature does not fit"},
		"another end":            {replaced("2026-11-28T08", "2026-11-28T09"), keys, now, "its signature does not fit"},
		"a space":                {replaced(":", ": "), keys, now, "its signature does not fit"},
		"another payload type":   {bytes.Replace(envelope, []byte("vnd.in-toto"), []byte("vnd.in-tota"), 1), keys, now, "its signature does not fit"},
		"another signature":      {bytes.Replace(envelope, []byte(`"sig":"MEU`), []byte(`"sig":"MEV`), 1), keys, now, "?"},
		"no signature":           {bytes.Replace(envelope, []byte(`"signatures":[`), []byte(`"other":[`), 1), keys, now, "it has no signature"},
		"not base64":             {bytes.Replace(envelope, []byte(`"payload":"`), []byte(`"payload":"!`), 1), keys, now, "not base64"},
		"cut off":                {envelope[:len(envelope)/2], keys, now, "not an envelope"},
		"two":                    {append(bytes.Clone(envelope), envelope...), keys, now, "not an envelope"},
		"empty":                  {nil, keys, now, "not an envelope"},
		"another predicate":      {signed(func(s *attest.Statement) { s.PredicateType = "x" }), keys, now, `its predicate is of the type "x"`},
		"another statement":      {signed(func(s *attest.Statement) { s.Type = "x" }), keys, now, `its statement is of the type "x"`},
		"no success":             {signed(func(s *attest.Statement) { s.Predicate.Properties = s.Predicate.Properties[1:] }), keys, now, "no success"},
		"no revision":            {signed(func(s *attest.Statement) { s.Subject = s.Subject[1:] }), keys, now, "names no revision"},
		"no time":                {signed(func(s *attest.Statement) { s.Predicate.TimeCreated = "" }), keys, now, "when it was made"},
		"an end that is no time": {signed(func(s *attest.Statement) { s.Predicate.ValidUntil = "never" }), keys, now, "until when"},
		"without an end":         {signed(func(s *attest.Statement) { s.Predicate.ValidUntil = "" }), keys, now.AddDate(10, 0, 0), ""},
	} {
		if c.want == "?" && bytes.Equal(c.envelope, envelope) { // it began otherwise
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := verify(t, c.envelope, c.keys, nil, c.at)
			if c.want == "?" {
				c.want = "its signature does not fit"
			}
			isRefused(t, found, c.want)
			if signed := found.KeyID != ""; signed != (found.Statement != nil) {
				t.Errorf("a statement that nobody has signed: %+v", found)
			}
		})
	}
}

// Each byte of an envelope matters, but for the hint at the key and the space at the end.
func TestVerify_eachByte(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	envelope := sign(t, keyring, factsOf(t, widgets))
	hint, signature := bytes.Index(envelope, []byte(`"keyid"`)), bytes.Index(envelope, []byte(`"sig"`))
	for i := range len(envelope) - 1 {
		flipped := bytes.Clone(envelope)
		if flipped[i] ^= 1; hint <= i && i < signature {
			continue
		}
		if found := verify(t, flipped, keyring.Public(), nil, now); found.Verified() {
			t.Errorf("byte %d of %d can be changed: %.20s", i, len(envelope), flipped[max(0, i-10):])
		}
	}
}

func TestVerify_documents(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	envelope := sign(t, keyring, factsOf(t, widgets, takingName))
	for name, c := range map[string]struct {
		text, want string
		notCovered int
	}{
		"the same":                        {widgets, "", 0},
		"with those of a trusted reader":  {widgets + secretWidget + taking, "", 2},
		"a secret more":                   {widgets + secretWidget, "", 1},
		"a document more":                 {widgets + strings.Replace(taking, "name: taking", "name: other", 1), "the digest of the 3 documents", 0},
		"a document less":                 {strings.Split(widgets, "---\ndata: text")[0], "the digest of the 1 document is", 0},
		"another value":                   {strings.Replace(widgets, "100.0", "100.5", 1), "are not those that it is about", 0},
		"a value in the name of a secret": {strings.Replace(widgets, "cleartext", "encrypted", 1), "are not those that it is about", 1},
		"none":                            {"", "the digest of the 0 documents", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := read(t, c.text)
			found := verify(t, envelope, keyring.Public(), &documents, now)
			isRefused(t, found, c.want)
			if found.Documents.Same != (c.want == "") || len(found.Documents.NotCovered) != c.notCovered {
				t.Errorf("compared: %+v", found.Documents)
			}
		})
	}
	statement := factsOf(t, widgets).Statement()
	statement.Subject = statement.Subject[:1]
	without, err := keyring.Sign(statement)
	if err != nil {
		t.Fatal(err)
	}
	documents := read(t, widgets)
	isRefused(t, verify(t, without, keyring.Public(), &documents, now), "it is not about rendered documents")
}

// While keys are rotated, whoever has the public keys of any moment verifies what is signed until the next rotation.
func TestRotate(t *testing.T) {
	t.Parallel()
	keyring, path, hands := openKeys(t)
	facts := factsOf(t, widgets)
	before, old := keyring.Public(), sign(t, keyring, facts)
	_, from, err := attest.Rotate(path, nil, hands.at, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	hands.at = hands.at.Add(time.Second)
	coming := keyring.Public()
	if len(before) != 1 || len(coming) != 2 || coming[0].ID != before[0].ID {
		t.Errorf("keys before %v, and after %v", before, coming)
	}
	isRefused(t, verify(t, sign(t, keyring, facts), before, nil, now), "")
	hands.at = from
	next := sign(t, keyring, facts)
	isRefused(t, verify(t, next, coming, nil, now), "")
	isRefused(t, verify(t, next, before, nil, now), "none of the given keys")
	isRefused(t, verify(t, old, coming, nil, now), "")
	if found := verify(t, next, coming, nil, now); found.KeyID != coming[1].ID {
		t.Errorf("signed with %s, want %s", found.KeyID, coming[1].ID)
	}
	if _, _, err := attest.Rotate(path, nil, hands.at, 0); err != nil { // at once
		t.Fatal(err)
	}
	hands.at = hands.at.Add(time.Second)
	if found := verify(t, sign(t, keyring, facts), keyring.Public(), nil, now); found.KeyID != keyring.Public()[2].ID {
		t.Errorf("signed with %s, want %s", found.KeyID, keyring.Public()[2].ID)
	}
}

// Keys that signatures of DSSE cannot be made with, and files of other keys, are refused.
func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	_, path, _ := openKeys(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"the keys of secrets": {`{"aead": {}, "digest": {}}`, "no file of signing keys"},
		"no keyset":           {`{"signing": {}}`, `read its "signing": this is not a Tink keyset`},
		"with prefixes":       {strings.Replace(string(good), `"RAW"`, `"TINK"`, 1), "the output prefix RAW"},
		"empty":               {"", "it is empty"},
		"no next key":         {strings.Replace(string(good), "{", `{"next": {"key": 1, "from": "2026-11-26T18:20:00Z"},`, 1), `"next" must name an enabled key`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "signing.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := attest.Open(t.Context(), path, keysets.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	other, _, _ := openKeys(t)
	both := append(keyring.Public(), other.Public()...)
	texts, err := attest.PEM(both)
	set, otherErr := attest.JWKS(both)
	if err := errors.Join(err, otherErr); err != nil {
		t.Fatal(err)
	}
	one := bytes.TrimSuffix(bytes.SplitAfter(set[len(`{"keys":[`):], []byte("}"))[0], []byte(","))
	for name, text := range map[string][]byte{"PEM": texts, "a key set": set, "a key": one, "with text": append([]byte("my keys\n"), texts...)} {
		keys, err := attest.ParseKeys(text)
		if err != nil || len(keys) == 0 || keys[0].ID != both[0].ID {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "text": "hunter2", "no keys": `{"keys": []}`, "cut off": string(set[:len(set)/2]),
		"a changed point": strings.Replace(string(set), `"x":"`, `"x":"A`, 1),
		"a secret":        `{"keys": [{"kty": "oct", "k": "aHVudGVyMg"}]}`,
		"a certificate":   strings.ReplaceAll(string(texts), "PUBLIC KEY", "CERTIFICATE"),
		"another curve":   `{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
	} {
		if keys, err := attest.ParseKeys([]byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
}

// Whatever the bytes are, nothing but what a key has signed is verified, and nothing panics.
func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "signing.json")
	keyring, err := attest.Open(f.Context(), path, keysets.Options{Create: true})
	if err != nil {
		f.Fatal(err)
	}
	other := filepath.Join(f.TempDir(), "other.json")
	stranger, err := attest.Open(f.Context(), other, keysets.Options{Create: true})
	if err != nil {
		f.Fatal(err)
	}
	envelope, err := keyring.Sign(attest.Facts{At: now}.Statement())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(envelope)
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := attest.Verify(t.Context(), text, stranger.Public(), nil, now)
		if err != nil || found.Verified() || found.Statement != nil {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
