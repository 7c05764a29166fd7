package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// A caller without the rules for encrypted documents can neither store nor read them. The ETag of a URL differs between
// callers with and without these rules.
func TestAccess_encryptedDocuments(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "plain")
	s := k.startWith(t, "admin_api: role:admin or role:plain\n"+
		"'deckhand:create_encrypted_documents': role:admin\n'deckhand:list_encrypted_documents': role:admin\n",
		"--secrets-keyset", newKeyset(t))
	send := func(user, method, path, body string, header ...string) answer {
		t.Helper()
		r := request{method: method, path: path, body: body, header: k.as(user)}
		maps.Copy(r.header, pairs(header))
		return s.send(t, r)
	}
	both := layers("site") + widget("open", "\n  a: 1") + passphrase("pw", "sesame")
	send("plain", "PUT", "buckets/b/documents", both).
		fails(t, http.StatusForbidden, "HTTPForbidden", "Policy doesn't allow deckhand:create_encrypted_documents to be performed")
	send("plain", "PUT", "buckets/c/documents", widget("other", "\n  a: 1")).is(t, http.StatusOK)
	send("admin", "PUT", "buckets/b/documents", both).is(t, http.StatusOK)
	send("admin", "PUT", "buckets/b/documents", strings.Replace(both, "sesame", "other", 1)).is(t, http.StatusOK)
	send("plain", "POST", "rollback/2", "").fails(t, http.StatusForbidden, "HTTPForbidden", "create_encrypted_documents")
	for _, list := range []string{"documents", "rendered-documents"} {
		path := "revisions/latest/" + list
		all := send("admin", "GET", path, "").is(t, http.StatusOK)
		some := send("plain", "GET", path, "").is(t, http.StatusOK)
		if len(all.documents(t)) != 4 || len(some.documents(t)) != 3 || strings.Contains(some.text, "Passphrase") {
			t.Errorf("%s: %d and %d documents\n%s", list, len(all.documents(t)), len(some.documents(t)), some.text)
		}
		send("plain", "GET", path, "", "If-None-Match", all.got.Get("ETag")).is(t, http.StatusOK)
	}
}

// A caller who may not store encrypted documents cannot delete a revision that contains one, not even in a dry run. As
// in Deckhand, with --compat=deckhand the rule for deleting is enough.
func TestAccess_deletingEncryptedDocuments(t *testing.T) {
	t.Parallel()
	for _, compat := range []bool{false, true} {
		t.Run(fmt.Sprintf("compat=%v", compat), func(t *testing.T) {
			t.Parallel()
			k := newKeys(t, "admin", "plain")
			flags := []string{"--secrets-keyset", newKeyset(t)}
			if compat {
				flags = append(flags, "--compat", "deckhand")
			}
			s := k.startWith(t, "admin_api: role:admin or role:plain\n'deckhand:create_encrypted_documents': role:admin\n", flags...)
			send := func(user, method, path, body string) answer {
				t.Helper()
				return s.send(t, request{method: method, path: path, body: body, header: k.as(user)})
			}
			send("plain", "PUT", "buckets/c/documents", widget("w", "\n  a: 1")).is(t, http.StatusOK)
			send("plain", "PUT", "buckets/c/documents", widget("w", "\n  a: 2")).is(t, http.StatusOK)
			for _, secret := range []string{"sesame", "parsley"} {
				send("admin", "PUT", "buckets/b/documents", layers("site")+passphrase("pw", secret)+passphrase("other", secret)).
					is(t, http.StatusOK)
			}
			for _, r := range []struct {
				method, path string
				status       int
			}{
				{"POST", "revisions/prune?keep=1&dry-run=true", http.StatusOK},
				{"POST", "revisions/prune?keep=1", http.StatusOK},
				{"DELETE", "revisions", http.StatusNoContent},
			} {
				if compat {
					send("plain", r.method, r.path, "").is(t, r.status)
					continue
				}
				send("plain", r.method, r.path, "").fails(t, http.StatusForbidden, "HTTPForbidden",
					"Document [deckhand/Passphrase/v1, site] pw is encrypted, like 1 more: only callers with "+
						"deckhand:create_encrypted_documents may replace or delete it. Nothing was changed.")
				if left := len(send("admin", "GET", "revisions", "").results(t)); left != 4 {
					t.Fatalf("%s %s: %d revisions are left", r.method, r.path, left)
				}
			}
			send("plain", "POST", "revisions/prune?keep=3", "").is(t, http.StatusOK) // nothing in revision 1 is encrypted
			send("admin", "POST", "revisions/prune?keep=1", "").is(t, http.StatusOK)
			send("admin", "DELETE", "revisions", "").is(t, http.StatusNoContent)
		})
	}
}
