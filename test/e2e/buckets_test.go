package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The list of buckets is paged, and counts only what the caller may see.
func TestBuckets(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "plain")
	s := k.startWith(t, "admin_api: role:admin\n'deckhand:list_cleartext_documents': role:admin or role:plain\n",
		"--secrets-keyset", newKeyset(t))
	send := func(user, method, path, body string, header ...string) answer {
		t.Helper()
		r := request{method: method, path: path, body: body, header: k.as(user)}
		maps.Copy(r.header, pairs(header))
		return s.send(t, r)
	}
	send("admin", "PUT", "buckets/b%20c/documents?message=a+start", layers("site")+passphrase("pw", "sesame")).is(t, http.StatusOK)
	send("admin", "PUT", "buckets/d/documents", widget("w", "{}"), "X-End-User", "anna").is(t, http.StatusOK)
	for user, want := range map[string][]string{
		"admin": {"b c: 2 @1 by admin, a start", "d: 1 @2 by anna, <nil>"},
		"plain": {"b c: 1 @1 by admin, a start", "d: 1 @2 by anna, <nil>"},
	} {
		var got []string
		for path := "buckets?limit=1"; path != ""; {
			page := send(user, "GET", path, "").is(t, http.StatusOK)
			for _, item := range page.results(t) {
				b, _ := item.(map[string]any)
				got = append(got, fmt.Sprintf("%v: %v @%v by %v, %v", b["name"], b["documents"], b["revision"], b["user"], b["message"]))
				of := send(user, "GET", s.below(t, fmt.Sprint(b["url"])), "").is(t, http.StatusOK).documents(t)
				if len(of) != b["documents"] {
					t.Errorf("%v has %v documents, but %d are listed", b["name"], b["documents"], len(of))
				}
			}
			next, _ := page.mapping(t)["next"].(string)
			path = strings.TrimPrefix(next, s.url+"/api/v1.0/")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("buckets for %s (-want +got):\n%s", user, diff)
		}
	}
	s.send(t, request{path: "buckets?limit=1001", header: k.as("plain"), bad: true}).fails(t, http.StatusBadRequest, "HTTPInvalidParam", "limit")
}
