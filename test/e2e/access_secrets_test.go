package e2e_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
)

// Whoever does not pass the rules of encrypted documents brings none in, and gets the others only; a URL that both ask
// has another ETag for each.
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
	both := layers("lp", "site") + widget("open", "\n  a: 1") + passphrase("pw", "sesame")
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
