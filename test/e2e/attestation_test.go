package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newSigningKeys creates a file of signing keys by the server's command.
func newSigningKeys(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "signing.json")
	if said, err := command(t, "keys", "new", "--signing-keyset", path); err != nil || !strings.Contains(said, "created "+path) {
		t.Fatalf("keys new: %v\n%s", err, said)
	}
	return path
}

// The signed verdict is stored once a revision is a success, and verified without a server, also while keys are rotated.
//
//nolint:paralleltest // one after the other
func TestAttestation(t *testing.T) {
	keyset := newSigningKeys(t)
	if said, err := command(t, "keys", "new", "--signing-keyset", keyset); err == nil || !strings.Contains(said, "keys rotate") {
		t.Errorf("created again: %v\n%s", err, said)
	}
	s := startFresh(t, "--signing-keyset", keyset)
	p := at(t, s)
	policy := doc("deckhand/ValidationPolicy/v1", "ready", "{validations: [{name: a-validation, expiresAfter: P1D}]}")
	s.put(t, "site", layeringPolicy("lp")+policy+widget("w", "{x: 1}")).is(t, http.StatusOK)
	p.run(t, "status", "1", "--attestation", "att.json").exits(t, 1, "is failure, so there is no attestation of it, and att.json was not written")
	if _, err := os.Stat(filepath.Join(p.home, "att.json")); err == nil {
		t.Error("a failure has an attestation")
	}
	s.get(t, "revisions/1/attestation").fails(t, http.StatusConflict, "RevisionNotSuccessful", "a-validation: missing")
	p.does(t, "results", "post", "a-validation", "1", "--status", "success")
	p.does(t, "status", "1", "--attestation", "att.json", "--wait", "1m")
	p.writes(t, "rendered.yaml", p.does(t, "render", "1"))
	p.writes(t, "rendered.json", p.does(t, "render", "1", "-o", "json"))
	p.writes(t, "keys.json", s.get(t, "/.well-known/purser-keys").is(t, http.StatusOK).text)
	public, err := command(t, "keys", "public", "--signing-keyset", keyset)
	if err != nil {
		t.Fatal(err)
	}
	p.writes(t, "keys.pem", public)
	offline := &person{home: p.home}
	for _, key := range []string{"keys.json", "keys.pem"} {
		for _, documents := range []string{"rendered.yaml", "rendered.json"} {
			offline.run(t, "verify", "att.json", "--key", key, "--documents", documents).
				exits(t, 0, "verified: purser/sites/", "/revisions/1\n", "valid until", "3 documents, the same", "a-validation")
		}
		offline.run(t, "verify", "att.json", "--key", key).exits(t, 0, "not compared")
	}
	p.writes(t, "other.yaml", strings.Replace(p.files(t, "rendered.yaml")["rendered.yaml"], "x: 1", "x: 2", 1))
	p.writes(t, "broken.yaml", "a: [")
	p.writes(t, "forged.json", strings.Replace(p.files(t, "att.json")["att.json"], `"payload":"e`, `"payload":"f`, 1))
	other := newSigningKeys(t)
	strange, err := command(t, "keys", "public", "--format", "jwks", "--signing-keyset", other)
	if err != nil {
		t.Fatal(err)
	}
	p.writes(t, "strange.json", strange)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"att.json --key keys.json --documents other.yaml", 1, "not verified: purser/sites/"},
		{"att.json --key keys.json --documents broken.yaml", 1, "the documents cannot be compared: document 1, line 1"},
		{"forged.json --key keys.json", 1, "its signature does not fit"},
		{"att.json --key strange.json", 1, "none of the given keys has signed it"},
		{"rendered.yaml --key keys.json", 1, "not an envelope of DSSE"},
		{"none.json --key keys.json", 2, "no such file"},
		{"att.json --key none.json", 2, "no such file"},
		{"att.json --key att.json", 2, "it has no public keys"},
		{"att.json --key keys.json --documents none.yaml", 2, "no such file"},
		{"att.json", 2, "--key is missing"},
		{"", 2, "no server is named"},
		{"--key keys.json", 2, "are for an attestation"},
		{"att.json --key keys.json -o json", 0, `"verified":true,"reasons":[],"keyid":"SHA256:`},
		{"att.json --key strange.json -o name", 1, "not verified\n"},
	} {
		offline.run(t, append([]string{"verify"}, strings.Fields(c.args)...)...).exits(t, c.code, c.says)
	}
	if said, err := command(t, "keys", "rotate", "--activate", "--signing-keyset", keyset); err != nil || !strings.Contains(said, "signed with key") {
		t.Fatalf("keys rotate: %v\n%s", err, said)
	}
	eventually(t, "the server signs with the new key", func() bool {
		p.does(t, "status", "1", "--attestation", "next.json")
		return offline.run(t, "verify", "next.json", "--key", "keys.json").code == 1
	})
	p.writes(t, "keys.json", s.get(t, "/.well-known/purser-keys").is(t, http.StatusOK).text)
	for _, name := range []string{"att.json", "next.json"} {
		offline.run(t, "verify", name, "--key", "keys.json", "--documents", "rendered.yaml").exits(t, 0)
	}
}
