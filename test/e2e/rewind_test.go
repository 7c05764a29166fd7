package e2e_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
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

// A claim that is lost when the database is restored is not confirmed, and its work can be claimed again.
func TestRewind_claims(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "policy", layeringPolicy("lp")+policy("p", "a-validation")).is(t, http.StatusOK)
	const ask, result = "{validations: [a-validation], worker: w}", "{status: success, validator: x}"
	s.post(t, "claims?wait=1m", "{validations: [b-validation, a-validation], worker: w, timeout: 1s}").is(t, http.StatusCreated)
	back := s.save(t)
	lost := s.post(t, "claims?wait=1m", ask).is(t, http.StatusCreated).mapping(t) // once the first one has run out
	back()
	path, _ := lost["id"].(string)
	s.send(t, request{method: http.MethodPut, path: "claims/" + path}).fails(t, http.StatusNotFound, "UnknownClaim", "Claim work again")
	s.post(t, "revisions/1/validations/a-validation?claim="+path, result).
		fails(t, http.StatusNotFound, "UnknownClaim", "Claim work again")
	again := s.post(t, "claims?wait=1m", ask).is(t, http.StatusCreated).mapping(t)
	id, _ := again["id"].(string)
	s.post(t, "revisions/1/validations/a-validation?claim="+id, result).is(t, http.StatusCreated)
}

// comments sends a document with a comment to a bucket of its name, which makes no revision if only that is new.
func (s *server) comments(t *testing.T, name, comment string) (text string) {
	t.Helper()
	text = widget(name, "{}") + "# " + comment + "\n"
	s.put(t, name, text).is(t, http.StatusOK)
	return text
}

// Texts that are lost when the database is restored are stored again when they are sent again, whatever a server
// remembers of them, and whatever others have sent meanwhile.
func TestRewind_texts(t *testing.T) {
	t.Parallel()
	one := startFresh(t)
	two := startOn(t, one.database)
	sendTwice := func(name, comment string) string {
		one.comments(t, name, comment)
		return one.comments(t, name, comment)
	}
	together := func(name, comment string) string {
		text := in(name, widget(name, "{}")) + "# " + comment + "\n"
		one.changeSet(t, "", text+in("of-"+name, widget("of-"+name, "{x: "+comment+"}"))).is(t, http.StatusOK)
		return text
	}
	sites := map[string]struct {
		send      func(name, comment string) string // with server 1, returning the text
		meanwhile bool                              // server 2 sends another one after the database is restored
	}{
		"once":                {func(name, comment string) string { return one.comments(t, name, comment) }, false},
		"once-meanwhile":      {func(name, comment string) string { return one.comments(t, name, comment) }, true},
		"twice":               {sendTwice, false},
		"twice-meanwhile":     {sendTwice, true}, // server 1 has read the lost text from the database
		"in-revision":         {together, false},
		"in-revision-another": {together, true},
	}
	names := slices.Sorted(maps.Keys(sites))
	const form = "revisions/latest/documents?form=submitted&status.bucket="
	first := map[string]string{}
	is := func(s *server, name, want string) {
		t.Helper()
		if _, got, _ := strings.Cut(s.get(t, form+name).is(t, http.StatusOK).text, "\n"); got != want {
			t.Errorf("%s: submitted was\n%s\nwant\n%s", name, got, want)
		}
	}
	for _, name := range names {
		first[name] = one.comments(t, name, "c1")
		is(two, name, first[name])
	}
	back := one.save(t)

	for _, name := range names {
		is(one, name, sites[name].send(name, "c2"))
	}
	back()
	for _, name := range names {
		want := first[name]
		if sites[name].meanwhile {
			want = two.comments(t, name, "c3")
		}
		is(one, name, want)
		is(two, name, want)
	}
	for _, name := range names {
		again := sites[name].send(name, "c2")
		is(one, name, again)
		is(two, name, again)
	}
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
