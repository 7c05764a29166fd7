package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changesOf lists the changes of a history as "change @revision bucket user: message", each with the added and removed
// lines of the diff that have a value or mention a secret.
func (a answer) changesOf(t *testing.T) (lines []string) {
	t.Helper()
	value := regexp.MustCompile(`(?m)^([-+]  (x|storagePolicy): \S+|Encrypted data.*)$`)
	for _, item := range a.is(t, http.StatusOK).results(t) {
		c, _ := item.(map[string]any)
		line := fmt.Sprintf("%v @%v %v %v: %v", c["change"], c["revision"], c["bucket"], c["user"], c["message"])
		lines = append(append(lines, line), value.FindAllString(fmt.Sprint(c["diff"]), -1)...)
	}
	return lines
}

// The history of a document has all its changes, but no secrets and nothing else that the caller may not see.
func TestDocumentHistory(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "plain", "nobody")
	s := k.startWith(t, "admin_api: role:admin\n'deckhand:list_cleartext_documents': role:admin or role:plain\n",
		"--secrets-keyset", newKeyset(t))
	send := func(user, method, path, body string, header ...string) answer {
		t.Helper()
		r := request{method: method, path: path, body: body, header: k.as(user)}
		maps.Copy(r.header, pairs(header))
		return s.send(t, r)
	}
	changeset := func(body string) {
		t.Helper()
		send("admin", "PUT", "changesets?buckets=a,b", body).is(t, http.StatusOK)
	}
	in := func(bucket, document string) string { return document + "status: {bucket: " + bucket + "}\n" }
	secret := func(value string) string {
		return encrypted(doc("acme/Widget/v1", "w/1", value))
	}
	open := func(x int) string { return widget("w/1", fmt.Sprintf("{x: %d}", x)) }
	send("admin", "PUT", "buckets/a/documents?message=a+start", layers("site")+open(1)).is(t, http.StatusOK)
	send("admin", "PUT", "buckets/a/documents", layers("site")+open(2), "X-End-User", "anna").is(t, http.StatusOK)
	changeset(in("a", layers("site")) + in("b", open(2)))
	changeset(in("a", layers("site")) + in("b", secret("sesame")))
	changeset(in("a", layers("site")) + in("b", secret("treasure")))
	changeset(in("a", layers("site")))
	const path = "documents/acme/Widget/v1/site/w%2F1/history"
	begin := []string{
		"moved @3 b admin: <nil>",
		"modified @2 a anna: <nil>", "-  x: 1", "+  x: 2",
		"created @1 a admin: a start", "+  x: 1", "+  storagePolicy: cleartext",
	}
	changed := "Encrypted data of revision %d, bucket b: [acme/Widget/v1, site] w/1 changed"
	for user, want := range map[string][]string{
		"admin": append([]string{
			"deleted @6 b admin: <nil>", "-  storagePolicy: encrypted",
			"modified @5 b admin: <nil>", fmt.Sprintf(changed, 5),
			"modified @4 b admin: <nil>", "-  storagePolicy: cleartext", "+  storagePolicy: encrypted", fmt.Sprintf(changed, 4),
		}, begin...),
		"plain": append([]string{"deleted @4 b admin: <nil>", "-  x: 2", "-  storagePolicy: cleartext"}, begin...),
	} {
		got := send(user, "GET", path, "")
		if diff := cmp.Diff(want, got.changesOf(t)); diff != "" {
			t.Errorf("history for %s (-want +got):\n%s", user, diff)
		}
		if n := len(send(user, "GET", path+"?offset=9", "").changesOf(t)); n > 0 {
			t.Errorf("behind the last page there are %d changes", n)
		}
		if strings.Contains(got.text, "secret://") {
			t.Errorf("history for %s has references to secrets:\n%s", user, got.text)
		}
	}
	second := send("plain", "GET", path+"?offset=1&limit=1", "")
	if diff := cmp.Diff(begin[:1], second.changesOf(t)); diff != "" {
		t.Errorf("second page (-want +got):\n%s", diff)
	}
	next, _ := second.mapping(t)["next"].(string)
	if diff := cmp.Diff(begin[1:4], send("plain", "GET", s.below(t, next), "").changesOf(t)); diff != "" {
		t.Errorf("third page (-want +got):\n%s", diff)
	}
	if n := len(send("plain", "GET", "documents/deckhand/LayeringPolicy/v1/-/lp/history", "").changesOf(t)); n == 0 {
		t.Error("a document without a layer has no history")
	}
	send("plain", "GET", "documents/acme/Widget/v1/-/w%2F1/history", "").
		fails(t, http.StatusNotFound, "DocumentNotFound", "[acme/Widget/v1] w/1")
	send("nobody", "GET", path, "").fails(t, http.StatusForbidden, "HTTPForbidden", "list_cleartext_documents")
}
