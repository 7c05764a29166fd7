package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/store/storetest"
)

// save saves the state of the server's database. back restores it, like a backup or a failover to a lagging standby.
// Both break connections.
func (s *server) save(t *testing.T) (back func()) {
	t.Helper()
	at, err := url.Parse(s.database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(at.Path, "/")
	saved := name + "_saved"
	conn, err := pgx.Connect(t.Context(), storetest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	do := func(statements ...string) {
		t.Helper()
		for _, sql := range statements {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	leave := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'"
	closed, open := "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false", "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true"
	do(closed, leave, "CREATE DATABASE "+saved+" TEMPLATE "+name, open)
	return func() {
		t.Helper()
		do(closed, leave, "DROP DATABASE "+name+" WITH (FORCE)", "ALTER DATABASE "+saved+" RENAME TO "+name,
			"ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
	}
}

// A database that is restored and then changed differently reuses revision numbers. A server that ran meanwhile does
// not confuse lost revisions with new ones, neither its own nor those of clients.
func TestRewind(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "policy", layeringPolicy("lp")).is(t, http.StatusOK)
	s.put(t, "a", widget("w", "{x: 1}")).is(t, http.StatusOK)
	s.put(t, "b", widget("other", "{x: 1}")).is(t, http.StatusOK)
	back := s.save(t)

	s.put(t, "a", widget("w", "{x: 2}")+widget("v", "{}")).is(t, http.StatusOK) // revision 4, which is lost
	lost := s.etag(t, "revisions/4")
	lostStamp := stamp(t, s.get(t, "revisions/4").mapping(t))
	documents, rendered := s.etag(t, "revisions/4/documents"), s.etag(t, "revisions/4/rendered-documents")
	back()
	other := startOn(t, s.database)
	other.put(t, "b", widget("other", "{x: 1}")+widget("new", "{}")).is(t, http.StatusOK) // another revision 4

	for path, tag := range map[string]string{
		"revisions/4": lost, "revisions/4/documents": documents, "revisions/4/rendered-documents": rendered,
	} {
		s.get(t, path, "If-None-Match", tag).is(t, http.StatusOK)
	}
	s.get(t, "revisions/4/rendered-documents?metadata.name=new").isNames(t, "new@4")
	s.get(t, "revisions/4/rendered-documents?metadata.name=v").isNames(t)
	s.ifMatch(t, put("a", widget("w", "{x: 3}")), lost).
		fails(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "the database was restored")
	result := "{status: success, validator: x}"
	for _, condition := range []request{
		{path: "revisions/4/validations/v", header: map[string]string{"If-Match": lost}, body: result},
		{path: "revisions/4/validations/v?revision-stamp=" + lostStamp, header: map[string]string{}, body: result},
		{path: "revisions/4/tags/t", header: map[string]string{"If-Match": documents}},
		{path: "revisions/4/tags/t?revision-stamp=" + lostStamp, header: map[string]string{}},
	} {
		condition.method = http.MethodPost
		condition.header["Content-Type"] = typeXYAML
		s.send(t, condition).fails(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "another revision 4")
	}
	s.isRevision(t, 4)
	if n := len(s.get(t, "revisions/4/tags").mapping(t)); n > 0 {
		t.Errorf("revision 4 has %d tags", n)
	}

	// The lost change can be made again, as a new one.
	s.put(t, "a", widget("w", "{x: 2}")+widget("v", "{}")).is(t, http.StatusOK)
	s.get(t, "revisions/latest/documents?schema=acme/Widget/v1").isNames(t, "w@5", "other@3", "new@4", "v@5")
	s.put(t, "a", "").is(t, http.StatusOK)
	s.get(t, "revisions/latest/documents?schema=acme/Widget/v1").isNames(t, "other@3", "new@4")
	now := stamp(t, s.get(t, "revisions/4").mapping(t))
	s.post(t, "revisions/4/validations/v?revision-stamp="+now, result).is(t, http.StatusCreated)
	s.send(t, request{
		method: http.MethodPost, path: "revisions/4/validations/v", body: result,
		header: map[string]string{"If-Match": s.etag(t, "revisions/4/documents"), "Content-Type": typeXYAML},
	}).is(t, http.StatusCreated)
}

// A result for a revision before a purge does not count for the later one with the same number.
func TestConditions_ofResults(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "a", widget("w", "{}")).is(t, http.StatusOK)
	old := stamp(t, s.get(t, "revisions/1/status").mapping(t))
	s.purge(t)
	s.put(t, "a", widget("w", "{}")+policy("ready", "v")).is(t, http.StatusOK)
	result := "{status: success, validator: x}"
	s.post(t, "revisions/1/validations/v?revision-stamp="+old, result).
		fails(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed")
	if got := s.get(t, "revisions/1/status").mapping(t)["status"]; got != "failure" {
		t.Errorf("the status is %v by a result for another revision", got)
	}
	for _, bad := range []string{"x", "0", "12345678901234567"} {
		s.send(t, request{
			method: http.MethodPost, path: "revisions/1/validations/v?revision-stamp=" + bad, header: yamlBody(), body: result, bad: true,
		}).fails(t, http.StatusBadRequest, "HTTPInvalidParam", `"revision-stamp"`)
	}
}
