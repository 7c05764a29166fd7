package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"purser/internal/store/storetest"
)

// A history that two servers made is what was stored, after a prune too; a row that is changed by SQL and another history
// are found.
func TestVerify(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	other, p := startOn(t, s.database), at(t, s)
	p.run(t, "verify").exits(t, 0, "there is no revision\n")
	s.put(t, "site", layeringPolicy("lp")+widget("w", "{size: 1}")).is(t, http.StatusOK)
	other.put(t, "more", widget("x", "{size: 1}")).is(t, http.StatusOK)
	s.put(t, "site", layeringPolicy("lp")+widget("w", "{size: 2}")).is(t, http.StatusOK)
	other.rollback(t, "1").is(t, http.StatusCreated)
	s.put(t, "more", widget("y", "{size: 1}")).is(t, http.StatusOK)
	var saved string
	for strings.Count(saved, "purser.revision.created") < 5 { // events are numbered within a second
		saved = p.does(t, "events", "-o", "json")
	}
	p.writes(t, "events.jsonl", saved)
	at(t, other).run(t, "verify").exits(t, 0, "revisions 1 to 5: the chain is unbroken\n")
	p.run(t, "verify", "--events", "events.jsonl").exits(t, 0, "events: 5 of 5 agree\n")

	conn := storetest.Connect(t, s.database)
	change := func(from, to string) {
		storetest.Execute(t, conn, "UPDATE contents SET body = '"+to+"' WHERE body = '"+from+"'")
	}
	change(`{"size":2}`, `{"size":3}`)
	p.run(t, "verify").exits(t, 1, "revision 3: the database has something else now")
	change(`{"size":3}`, `{"size":2}`)

	s.prune(t).is(t, http.StatusOK)
	p.run(t, "verify", "--events", "events.jsonl").exits(t, 0, "the one before was deleted", "events: 2 of 5 agree")
	s.send(t, request{method: http.MethodDelete, path: "revisions"}).is(t, http.StatusNoContent)
	s.put(t, "site", widget("w", "{size: 1}")).is(t, http.StatusOK)
	p.run(t, "verify", "--events", "events.jsonl").exits(t, 1, "revision 1: the histories part here")
}
