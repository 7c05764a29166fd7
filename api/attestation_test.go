package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/attest"
	"purser/internal/authz"
	"purser/internal/keysets"
	"purser/internal/validations"
)

// signing gives a server keys to sign verdicts with.
func signing(t *testing.T) func(*api.Config) {
	t.Helper()
	keyring, err := attest.Open(t.Context(), filepath.Join(t.TempDir(), "signing.json"), keysets.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(config *api.Config) { config.Signer = keyring }
}

// verified returns the statement of an envelope that verifies with the public keys of a server. If rendered is not
// empty, it is a list of documents that must be those of the statement.
func (s site) verified(t *testing.T, envelope response, rendered string) attest.Verification {
	t.Helper()
	envelope.is(t, http.StatusOK)
	keys, err := attest.ParseKeys([]byte(s.get(t, "/.well-known/purser-keys").is(t, http.StatusOK).text))
	if err != nil {
		t.Fatal(err)
	}
	var documents *attest.Documents
	if rendered != "" {
		read, err := attest.ReadDocuments(t.Context(), []byte(rendered))
		if err != nil {
			t.Fatal(err)
		}
		documents = &read
	}
	found, err := attest.Verify(t.Context(), []byte(envelope.text), keys, documents, time.Now())
	if err != nil || !found.Verified() {
		t.Fatalf("%v, %v\n%s", found.Reasons, err, envelope.text)
	}
	return found
}

// The attestation of a success verifies, with the rendered documents in each form in which a server answers.
func TestAttestation(t *testing.T) {
	t.Parallel()
	s := newSite(t, signing(t), func(config *api.Config) { config.PublicURL = "http://localhost" })
	const a, b = "a-validation", "b-validation"
	body := layeringPolicy("layers") + policy("ready", a, b) + widget("w1", "{big: 18446744073709551615, f: 1e2, t: '2026-11-28'}")
	s.put(t, "site", body).is(t, http.StatusOK)
	s.get(t, "revisions/1/attestation", asJSON...).isFault(t, http.StatusConflict, "RevisionNotSuccessful",
		"a-validation: missing (policy ready)", "b-validation: missing (policy ready)")
	s.report(t, 1, a, "success")
	s.report(t, 1, b, "success")
	for _, name := range []string{"1", "latest"} {
		envelope := s.get(t, "revisions/"+name+"/attestation")
		if kind := envelope.Header.Get("Content-Type"); kind != typeJSON {
			t.Errorf("it is of the type %s", kind)
		}
		for _, accept := range []string{typeJSON, "application/yaml"} {
			rendered := s.get(t, "revisions/1/rendered-documents", "Accept", accept).is(t, http.StatusOK).text
			found := s.verified(t, envelope, rendered)
			if found.Documents.Covered != 3 || len(found.Documents.NotCovered) > 0 {
				t.Errorf("%s: compared %+v", accept, found.Documents)
			}
		}
		said := s.verified(t, envelope, "").Statement
		if at, _ := time.Parse(time.RFC3339, said.Predicate.TimeCreated); time.Since(at).Abs() > time.Minute {
			t.Errorf("it was made at %s", said.Predicate.TimeCreated)
		}
		want := []string{"PURSER_VERDICT_SUCCESS", "PURSER_NO_WAIVERS", "PURSER_VALIDATION:" + a, "PURSER_VALIDATION:" + b}
		if diff := cmp.Diff(want, said.Predicate.Properties); diff != "" {
			t.Errorf("properties (-want +got)\n%s", diff)
		}
		if said.Subject[0].Name != "localhost/sites/default/revisions/1" || said.Predicate.Verifier.ID != "http://localhost/" || said.Predicate.ValidUntil != "" {
			t.Errorf("it says %+v", said)
		}
	}
	s.report(t, 1, b, "failure")
	s.get(t, "revisions/1/attestation", asJSON...).isFault(t, http.StatusConflict, "RevisionNotSuccessful", "b-validation: failure")
	s.get(t, "revisions/9/attestation", asJSON...).fails(t, http.StatusNotFound, "RevisionNotFound")
	s.put(t, "site", body+widget("w2", "{}")).is(t, http.StatusOK)
	s.prune(t, "keep=1").is(t, http.StatusOK)
	s.get(t, "revisions/1/attestation").is(t, http.StatusGone)
}

// Policies and documents that differ have other digests, and the same ones in another site have the same.
func TestAttestation_digests(t *testing.T) {
	t.Parallel()
	s := newSite(t, signing(t))
	s.putSite(t, "atl1", "{}").is(t, http.StatusCreated)
	digests := func(path string) []string {
		said := s.verified(t, s.get(t, path+"/attestation"), "").Statement
		return []string{said.Subject[1].Digest.SHA256, said.Predicate.Verifier.Policy.Digest.SHA256, said.Subject[0].Name}
	}
	layers, ready := layeringPolicy("layers"), policy("ready", own)
	s.put(t, "b", layers+ready+widget("w", "{a: 1}")).is(t, http.StatusOK)
	first := digests("revisions/1")
	s.put(t, "b", layers+ready+widget("w", "{a: 2}")).is(t, http.StatusOK)
	second := digests("revisions/2")
	s.put(t, "b", layers+policy("ready", own, validations.RenderingValidation)+widget("w", "{a: 2}")).is(t, http.StatusOK)
	third := digests("revisions/3")
	if first[0] == second[0] || second[0] == third[0] || first[1] != second[1] || second[1] == third[1] {
		t.Errorf("digests of documents and of policies: %v, %v, %v", first, second, third)
	}
	s.putIn(t, "atl1", "b", layers+ready+widget("w", "{a: 1}")).is(t, http.StatusOK)
	first[2] = "purser/sites/atl1/revisions/1"
	if diff := cmp.Diff(first, digests("/sites/atl1/api/v1.0/revisions/1")); diff != "" {
		t.Errorf("in another site (-want +got)\n%s", diff)
	}
	s.get(t, "/sites/atl1/.well-known/purser-keys").is(t, http.StatusOK)
}

// After a purge, the revision with the same number has an attestation of its own.
func TestAttestation_replaced(t *testing.T) {
	t.Parallel()
	s := newSite(t, signing(t))
	said := map[string]bool{}
	for _, data := range []string{"{a: 1}", "{a: 2}"} {
		s.put(t, "b", layeringPolicy("layers")+widget("w", data)).is(t, http.StatusOK)
		rendered := s.get(t, "revisions/1/rendered-documents").text
		for range 2 { // the second one from the cache
			said[subjectsOf(t, s.get(t, "revisions/1/attestation"))] = true
		}
		s.verified(t, s.get(t, "revisions/1/attestation"), rendered)
		s.purge(t)
	}
	if len(said) != 2 {
		t.Errorf("two revisions have %d statements: %v", len(said), said)
	}
}

// Documents that do not render are named, if the verdict does not need that they do.
func TestAttestation_unrendered(t *testing.T) {
	t.Parallel()
	s := newSite(t, signing(t))
	lost := textOf("t/W/v1", "lost", takesKey, "{}") // there is no such key
	s.put(t, "b", layeringPolicy("layers")+policy("ready", own)+lost+widget("w", "{}")).is(t, http.StatusOK)
	found := s.verified(t, s.get(t, "revisions/1/attestation"), "")
	want := []attest.Name{{Schema: "t/W/v1", Layer: "site", Name: "lost"}}
	if diff := cmp.Diff(want, found.Statement.Subject[1].Annotations.NotCovered); diff != "" {
		t.Errorf("not covered (-want +got)\n%s", diff)
	}
}

// A success by waivers names them, and is valid until the first of them ends.
func TestAttestation_waivers(t *testing.T) {
	t.Parallel()
	s := newSite(t, signing(t))
	s.put(t, "b", layeringPolicy("layers")+policy("ready", own, "a-validation")).is(t, http.StatusOK)
	until, _ := time.Parse(time.RFC3339, string(s.waive(t, "PT1H").ExpiresAt)+"Z")
	said := s.verified(t, s.get(t, "revisions/1/attestation"), "").Statement.Predicate
	want := []string{"PURSER_VERDICT_SUCCESS", "PURSER_WAIVER:a-validation", "PURSER_VALIDATION:" + own}
	if diff := cmp.Diff(want, said.Properties); diff != "" {
		t.Errorf("properties (-want +got)\n%s", diff)
	}
	if ends, err := time.Parse(time.RFC3339, said.ValidUntil); err != nil || until.Sub(ends) < 0 || until.Sub(ends) >= time.Second {
		t.Errorf("valid until %s, but the waiver ends at %s", said.ValidUntil, until)
	}
}

// A server without keys says how to make them, and one that behaves as Deckhand has neither route.
func TestAttestation_withoutKeys(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	for _, path := range []string{"revisions/1/attestation", "revisions/9/attestation", "/.well-known/purser-keys"} {
		s.get(t, path, asJSON...).isFault(t, http.StatusNotImplemented, "HTTPNotImplemented", "purser-server keys new --signing-keyset FILE")
		compatSite(t).ask(t, http.MethodGet, path, "").is(t, http.StatusNotFound)
	}
}

// The public keys are for everybody, who may keep them for some minutes.
func TestAttestation_keys(t *testing.T) {
	t.Parallel()
	s := newSite(t, signing(t), func(config *api.Config) { config.Access.Authenticator = refusing{} })
	const path = "/.well-known/purser-keys"
	got := s.get(t, path).is(t, http.StatusOK)
	if cached := got.Header.Get("Cache-Control"); cached != "public, max-age=300" {
		t.Errorf("Cache-Control: %s", cached)
	}
	s.get(t, path, "If-None-Match", got.Header.Get("ETag")).is(t, http.StatusNotModified)
}

// subjectsOf returns the subjects of an envelope, and the digest of the policies.
func subjectsOf(t *testing.T, envelope response) string {
	t.Helper()
	payload, err := base64.StdEncoding.DecodeString(decoded[attest.Envelope](t, envelope.is(t, http.StatusOK)).Payload)
	if err != nil {
		t.Fatal(err)
	}
	var said attest.Statement
	if err := json.Unmarshal(payload, &said); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{said.Subject[1], said.Predicate.Verifier, said.Predicate.Properties})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What an attestation says of documents does not depend on a secret. It names the documents that need one, and verifies
// what a trusted reader gets, with secrets and without; only who may read documents gets the names.
func TestAttestation_secrets(t *testing.T) {
	t.Parallel()
	open := textOf("t/W/v1", "open", ", storagePolicy: cleartext", "{a: 1}")
	body := func(secret string) string {
		return layeringPolicy("layers") + textOf("t/Key/v1", "key", encrypted, secret) + textOf("t/W/v1", "takes", takesKey, "{}") + open
	}
	var said []string
	for _, secret := range []string{"hunter2", "hunter3"} {
		s := guarded(t, `"`+authz.ShowRevision+`": role:admin or role:writer or role:guest`+"\n", signing(t))
		s.put(t, "b", body(secret), as("admin")...).is(t, http.StatusOK)
		said = append(said, subjectsOf(t, s.get(t, "revisions/1/attestation", as("writer")...)))
		admins := s.get(t, "revisions/1/attestation", as("admin")...)
		if got := subjectsOf(t, admins); got != said[len(said)-1] {
			t.Errorf("an admin gets another statement: %s", got)
		}
		for _, query := range []string{"", "?cleartext-secrets=false"} {
			for _, accept := range []string{typeJSON, "application/yaml"} {
				text := s.get(t, "revisions/1/rendered-documents"+query, as("admin", "Accept", accept)...).is(t, http.StatusOK).text
				found := s.verified(t, admins, text)
				var names []string
				for _, id := range found.Documents.NotCovered {
					names = append(names, id.Name)
				}
				slices.Sort(names)
				if diff := cmp.Diff([]string{"key", "takes"}, names); diff != "" || found.Documents.Covered != 2 {
					t.Errorf("%s%s: %d covered, others (-want +got)\n%s", accept, query, found.Documents.Covered, diff)
				}
			}
		}
		s.get(t, "revisions/1/attestation", as("guest", asJSON...)...).fails(t, http.StatusForbidden, "HTTPForbidden")
		s.put(t, "b", layeringPolicy("layers")+open, as("admin")...).is(t, http.StatusOK)
		s.get(t, "revisions/2/attestation", as("guest")...).is(t, http.StatusOK)
	}
	if diff := cmp.Diff(said[0], said[1]); diff != "" {
		t.Errorf("it depends on a secret (-one +other)\n%s", diff)
	}
	if !strings.Contains(said[0], `"annotations":{"notCovered":[{"schema":"t/W/v1","layer":"site","name":"takes"}]}`) || strings.Contains(said[0], "Key") {
		t.Errorf("it names other documents than the one that takes a secret: %s", said[0])
	}
}
