package api_test

import (
	"net/http"
	"testing"
)

func TestWaivers(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "p", policy("ready", "a-validation"))
	a := s.post(t, "revisions/1/waivers", "{validation: a-validation, reason: ticket 4711, for: P7D}").is(t, http.StatusCreated)
	t.Log(a.text)
	t.Log(s.get(t, "revisions/1/status").text)
	t.Log(s.get(t, "revisions/1/status?waivers=false").text)
	t.Log(s.get(t, "revisions/1/waivers").text)
	t.Log(s.get(t, "waivers?active=true").text)
	t.Log(s.get(t, "events?since=0").text)
}
