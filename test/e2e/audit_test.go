package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// auditEvents returns the audit events, newest first: user, method, target below /api/v1.0, revision and status.
func (s *server) auditEvents(t *testing.T, k *keys, query string) (list []string) {
	t.Helper()
	got := s.send(t, request{method: http.MethodGet, path: "audit?" + query, header: k.as("admin")}).is(t, http.StatusOK)
	for _, item := range got.results(t) {
		deed, _ := item.(map[string]any)
		user, _ := deed["user"].(map[string]any)
		target, _ := deed["target"].(string)
		list = append(list, fmt.Sprint(user["id"], " ", deed["method"], " ", strings.TrimPrefix(target, below()+"/api/v1.0/"), " ",
			deed["revision"], " ", deed["status"]))
	}
	return list
}

func TestAudit(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "reader")
	s := k.startWith(t, "")
	began := time.Now().UTC()
	const result = "{status: success, validator: {name: tester, version: '1'}}"
	do := func(user, method, path, body string) answer {
		t.Helper()
		return s.send(t, request{method: method, path: path, body: body, header: k.as(user), bad: true})
	}
	do("admin", "PUT", "buckets/a/documents", widget("w", "\n  a: 1"))
	do("admin", "PUT", "buckets/a/documents", widget("w", "\n  a: 1")) // changes nothing
	do("admin", "PUT", "buckets/a/documents?dry-run=true", widget("w", "\n  a: 2"))
	do("admin", "PUT", "buckets/a/documents", "a: [")
	do("reader", "PUT", "buckets/a/documents", widget("w", "\n  a: 3"))
	do("nobody", "PUT", "buckets/a/documents", widget("w", "\n  a: 3"))
	do("admin", "PUT", "changesets?buckets=a", "")
	do("admin", "POST", "rollback/1?message=back", "")
	do("admin", "POST", "revisions/2/tags/t%20u", "")
	do("admin", "DELETE", "revisions/2/tags/t%20u", "")
	do("admin", "POST", "revisions/latest/validations/v", result)
	do("admin", "POST", "revisions/99/validations/v", result)
	do("admin", "POST", "revisions/prune?keep=1", "")
	do("admin", "GET", "revisions", "")
	do("admin", "PATCH", "revisions", "")
	do("admin", "DELETE", "revisions", "").is(t, http.StatusNoContent)
	want := []string{
		"admin DELETE revisions <nil> 204",
		"admin POST revisions/prune?keep=1 <nil> 200",
		"admin POST revisions/99/validations/v 99 404",
		"admin POST revisions/latest/validations/v 3 201",
		"admin DELETE revisions/2/tags/t%20u 2 204",
		"admin POST revisions/2/tags/t%20u 2 201",
		"admin POST rollback/1?message=back 3 201",
		"admin PUT changesets?buckets=a 2 200",
		"reader PUT buckets/a/documents <nil> 403",
		"admin PUT buckets/a/documents <nil> 400",
		"admin PUT buckets/a/documents?dry-run=true <nil> 200",
		"admin PUT buckets/a/documents 1 200",
	}
	if diff := cmp.Diff(want, s.auditEvents(t, k, "")); diff != "" {
		t.Errorf("the audit (-want +got):\n%s", diff)
	}
	for query, part := range map[string][]string{
		"user=reader":                want[8:9],
		"revision=2":                 {want[4], want[5], want[7]},
		"limit=2&offset=1":           want[1:3],
		"limit=0":                    nil,
		"user=mallory":               nil,
		"since=2999-01-01T00:00:00Z": nil,
		"until=" + url.QueryEscape(began.Add(-time.Minute).Format(time.RFC3339)):             nil,
		"user=reader&since=" + url.QueryEscape(began.Add(-time.Minute).Format(time.RFC3339)): want[8:9],
	} {
		if diff := cmp.Diff(part, s.auditEvents(t, k, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for _, query := range []string{"limit=1001", "limit=x", "revision=x", "since=yesterday"} {
		do("admin", "GET", "audit?"+query, "").fails(t, http.StatusBadRequest, "HTTPInvalidParam")
	}
	do("reader", "GET", "audit", "").fails(t, http.StatusForbidden, "HTTPForbidden", "deckhand:show_audit")
}

// Every dry run is recorded as a dry run, whatever its result, because each answer reveals something to the caller.
func TestAudit_dryRuns(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "plain", "reader")
	s := k.startWith(t, "admin_api: role:admin or role:plain\n'deckhand:create_encrypted_documents': role:admin\n"+
		"'deckhand:show_audit': role:admin\n", "--secrets-keyset", newKeyset(t), "--max-body", "2000")
	site := layers("site") + widget("w", "\n  a: 1")
	secret := passphrase("pw", "sesame")
	for _, r := range []request{
		{method: "PUT", path: "buckets/a/documents", body: secret},
		{method: "PUT", path: "buckets/a/documents", body: passphrase("pw", "parsley")},
		{method: "PUT", path: "buckets/b/documents", body: site},
	} {
		r.header = k.as("admin")
		s.send(t, r).is(t, http.StatusOK)
	}
	before := len(s.auditEvents(t, k, "limit=1000"))
	large := widget("w", "\n  a: "+strings.Repeat("x", 3000))
	var want []string
	for _, c := range []struct {
		user, method, path, body, match string
		status                          int
	}{
		{"admin", "PUT", "buckets/b/documents?dry-run=true", widget("w", "\n  a: 2"), "", 200},
		{"admin", "PUT", "buckets/b/documents?dry-run=true", site, "", 200}, // changes nothing
		{"admin", "PUT", "buckets/b/documents?dry-run=true", "a: [", "", 400},
		{"plain", "PUT", "buckets/c/documents?dry-run=true", secret, "", 403},
		{"reader", "PUT", "buckets/b/documents?dry-run=true", site, "", 403},
		{"admin", "PUT", "buckets/c/documents?dry-run=true", site, "", 409},
		{"admin", "PUT", "buckets/b/documents?dry-run=true", site, `"1"`, 412},
		{"admin", "PUT", "buckets/b/documents?dry-run=true", large, "", 413},
		{"admin", "PUT", "changesets?buckets=b&dry-run=true", "", "", 200},
		{"plain", "PUT", "changesets?buckets=a&dry-run=true", in("a", secret), "", 403},
		{"admin", "PUT", "changesets?buckets=c&dry-run=true", in("c", widget("w", "\n  a: 1")), "", 409},
		{"admin", "PUT", "changesets?buckets=b&dry-run=true", large, "", 413},
		{"admin", "POST", "rollback/1?dry-run=true", "", "", 200},
		{"plain", "POST", "rollback/1?dry-run=true", "", "", 403},
		{"admin", "POST", "rollback/9?dry-run=true", "", "", 404},
		{"admin", "POST", "rollback/1?dry-run=true", "", `"1"`, 412},
		{"admin", "POST", "revisions/prune?keep=1&dry-run=true", "", "", 200},
		{"admin", "POST", "revisions/prune?keep=0&dry-run=true", "", "", 400},
		{"plain", "POST", "revisions/prune?keep=1&dry-run=true", "", "", 403},
		{"admin", "POST", "revisions/prune?keep=1&dry-run=true", "", `"1"`, 412},
		{"admin", "DELETE", "revisions?dry-run=true", "", "", 400},
	} {
		r := request{method: c.method, path: c.path, body: c.body, header: k.as(c.user), bad: c.status == 400 || c.status == 413}
		if c.match != "" {
			r.header["If-Match"] = c.match
		}
		if got := s.send(t, r); got.status != c.status {
			t.Errorf("%s %s: status %d, want %d\n%s", c.method, c.path, got.status, c.status, got.text)
		}
		want = append([]string{fmt.Sprint(c.user, " ", c.method, " ", c.path, " <nil> ", c.status)}, want...)
	}
	got := s.auditEvents(t, k, "limit=1000")
	if diff := cmp.Diff(want, got[:max(0, len(got)-before)]); diff != "" {
		t.Errorf("the audit (-want +got):\n%s", diff)
	}
	// A long query does not hide the dry-run parameter.
	path := "buckets/b/documents?message=" + strings.Repeat("m", 3000) + "&dry-run=true"
	s.send(t, request{method: "PUT", path: path, body: site, header: k.as("admin"), bad: true})
	if deed := s.auditEvents(t, k, "limit=1")[0]; !strings.Contains(deed, "buckets/b/documents?dry-run=true&message=mmm") {
		t.Errorf("the audit has %s", deed)
	}
}

// An audit event has the same request id as the answer and the log.
func TestAudit_whole(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	s := k.startWith(t, "")
	header := k.as("admin")
	header["X-End-User"] = "alice"
	put := s.send(t, request{method: "PUT", path: "buckets/a/documents", body: "x", header: header, bad: true})
	results := s.send(t, request{method: "GET", path: "audit", header: k.as("admin")}).results(t)
	if len(results) != 1 {
		t.Fatalf("the audit: %v", results)
	}
	got, _ := results[0].(map[string]any)
	delete(got, "at")
	delete(got, "id") // other sites have entries, too
	want := map[string]any{
		"user": map[string]any{"id": "admin", "name": "admin"}, "project": nil, "endUser": "alice",
		"rule": "deckhand:create_cleartext_documents", "method": "PUT", "target": below() + "/api/v1.0/buckets/a/documents",
		"revision": nil, "status": 400, "error": "HTTPBadRequest", "remote": "127.0.0.1",
		"request": put.got.Get("X-Deckhand-Req"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A change is in the audit as soon as it is acknowledged, even under concurrency.
func TestAudit_knowsWhatIsAcknowledged(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	s := k.startWith(t, "")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 5 {
				r := request{
					method: "PUT", path: fmt.Sprintf("buckets/b%d/documents", i), header: k.as("admin"),
					body: widget(fmt.Sprintf("w%d", i), fmt.Sprintf("\n  a: %d", j)),
				}
				got, err := s.try(t.Context(), r)
				if err != nil || got.status != http.StatusOK {
					t.Errorf("PUT: status %d, %v", got.status, err)
					return
				}
				revision, _, _ := strings.Cut(strings.Trim(got.got.Get("ETag"), `"`), "-")
				if found := s.auditEvents(t, k, "revision="+revision); len(found) != 1 {
					t.Errorf("revision %s stands in the audit as %v", revision, found)
				}
			}
		})
	}
	group.Wait()
	if got := s.auditEvents(t, k, "limit=1000"); len(got) != 40 {
		t.Errorf("%d audit events of 40", len(got))
	}
}

// A change is stored together with its audit event, or not at all. Refusals that could not be recorded are logged.
func TestAudit_cannotRecord(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	s := k.startWith(t, "")
	r := request{method: "PUT", path: "buckets/a/documents", body: widget("w", "\n  a: 1"), header: k.as("admin")}
	s.send(t, r).is(t, http.StatusOK)
	s.exec(t, "ALTER TABLE audit RENAME TO lost")
	r.body = widget("w", "\n  a: 2")
	s.send(t, r).is(t, http.StatusInternalServerError)
	s.send(t, request{path: "revisions/2/status", header: k.as("admin")}).is(t, http.StatusNotFound)
	result := "{status: success, validator: {name: tester, version: '1'}}"
	for _, r := range []request{
		{method: "POST", path: "revisions/1/tags/good", header: k.as("admin")},
		{method: "POST", path: "revisions/1/validations/v", header: k.as("admin"), body: result},
		{method: "DELETE", path: "revisions", header: k.as("admin")},
	} {
		s.send(t, r).is(t, http.StatusInternalServerError)
	}
	s.send(t, request{path: "revisions/1/tags/good", header: k.as("admin")}).is(t, http.StatusNotFound)
	if n := len(s.send(t, request{path: "revisions/1/validations/v", header: k.as("admin")}).results(t)); n > 0 {
		t.Errorf("%d results are stored", n)
	}
	eventually(t, "the log says so", func() bool {
		return strings.Contains(s.log.text(), "A CHANGE CANNOT BE RECORDED IN THE AUDIT")
	})
	s.exec(t, "ALTER TABLE lost RENAME TO audit")
}

// exec executes SQL in the server's database.
func (s *server) exec(t *testing.T, sql string) {
	t.Helper()
	execute(t, s.database, strings.ReplaceAll(sql, "'default'", "'"+siteName()+"'"))
}
