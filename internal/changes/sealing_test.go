package changes

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// A commit has the reference to a secret and its sealed text, but never the secret itself.
func TestService_seal(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.Vault = fakeVault{}
	written := put(t, s, "a", secret("s1", "{x: hidden}"))
	for _, doc := range []*revisions.Stored{m.live[0], written.Documents[0], m.commits[0].Diff.Added[0]} {
		guessable := document.Digest(sha256.Sum256([]byte(secret("s1", "{x: hidden}"))))
		if !strings.HasPrefix(string(doc.Data), `"secret://`) || doc.Secret != nil || doc.Segment == guessable {
			t.Errorf("data %s, secret %q, text %v", doc.Data, doc.Secret, doc.Segment)
		}
		if want := `sealed for [acme/Widget/v1, site] s1 of site default: {"x":"hidden"}`; string(doc.Sealed) != want {
			t.Errorf("sealed %q, want %q", doc.Sealed, want)
		}
	}
	again, err := s.Put(t.Context(), "a", []byte(secret("s1", "{x: hidden}")), document.YAML,
		revisions.Options{Viewer: authz.Viewer{Encrypted: true}})
	if err != nil || again.Changed {
		t.Errorf("the same secret makes a revision: %v", err)
	}
	if guessed := put(t, s, "a", secret("s1", "{x: hidden}")); !guessed.Changed {
		t.Error("a caller who may not see the secret is told that it was guessed")
	}
	if other := put(t, s, "a", secret("s1", "{x: other}")); !other.Changed {
		t.Error("another secret makes no revision")
	}
}

// A reference may be put back as long as the secret is stored, and only for its own document.
func TestService_seal_reference(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.Vault = fakeVault{}
	put(t, s, "a", secret("s1", "very"))
	reference, sealed := string(m.live[0].Data), string(m.live[0].Sealed)
	put(t, s, "a", "")
	put(t, s, "a", secret("s1", reference))
	if got := m.live[0]; string(got.Data) != reference || string(got.Sealed) != sealed {
		t.Errorf("data %s, sealed %q", got.Data, got.Sealed)
	}
	for _, c := range []struct{ name, body, want string }{
		{"another document's", secret("s2", reference), "is the reference of another document's secret"},
		{"not kept", secret("s1", reference[:len(reference)-3]+`ff"`), "is a reference to a secret that is not kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Put(t.Context(), "b", []byte(c.body), document.YAML, revisions.Options{})
			if fault.KindOf(err) == fault.Conflict { // the document is live in bucket a
				_, err = s.Put(t.Context(), "a", []byte(c.body), document.YAML, revisions.Options{})
			}
			wantFault(t, err, fault.Invalid, c.want)
		})
	}
}

func TestService_conceal_refused(t *testing.T) {
	t.Parallel()
	broken := errors.New("out of order")
	for _, c := range []struct {
		name    string
		vault   Vault
		options revisions.Options
		kind    fault.Kind
		want    string
	}{
		{"without a vault", nil, revisions.Options{}, fault.Unimplemented, "start it with --secrets-keyset"},
		{
			"by the caller's rights",
			fakeVault{},
			revisions.Options{CleartextOnly: true},
			fault.Forbidden,
			"create_encrypted_documents",
		},
		{"by a broken vault", fakeVault{broken}, revisions.Options{}, fault.Internal, "seal secrets: out of order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			s.Vault = c.vault
			_, err := s.Put(t.Context(), "a", []byte(secret("s1", "very")), document.YAML, c.options)
			wantFault(t, err, c.kind, c.want)
			if len(m.commits) != 0 {
				t.Error("something was stored")
			}
		})
	}
}

// Empty data is not secret, with any vault.
func TestService_conceal_empty(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"{}", "[]", `""`, "null"} {
		s, m := service()
		put(t, s, "a", secret("s1", data))
		if doc := m.live[0]; doc.Traits().Encrypted || Refers(doc) {
			t.Errorf("%s: metadata %s, data %s", data, doc.Metadata, doc.Data)
		}
	}
}
