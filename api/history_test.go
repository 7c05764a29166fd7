package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// isHistory checks the kind, user, message and rolledBackTo of each revision, in the list and in the revision itself.
func (s site) isHistory(t *testing.T, want ...string) {
	t.Helper()
	text := func(item any) string {
		r, _ := item.(map[string]any)
		line := fmt.Sprintf("%v by %v: %v", r["kind"], r["user"], r["message"])
		if origin, rolledBack := r["rolledBackTo"]; rolledBack {
			line += fmt.Sprintf(" (to %v)", origin)
		}
		return line
	}
	listed, shown := []string{}, []string{}
	for i, item := range s.get(t, "revisions").results(t) {
		listed = append(listed, text(item))
		shown = append(shown, text(s.get(t, fmt.Sprintf("revisions/%d", i+1)).mapping(t)))
	}
	for what, got := range map[string][]string{"listed": listed, "shown": shown} {
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			t.Errorf("history as %s (-want +got):\n%s", what, diff)
		}
	}
}

// because sends a change with a user and a message in its headers, unless these are empty.
func (s site) because(t *testing.T, c change, user, message string) response {
	t.Helper()
	r := c.request("")
	if user != "" {
		r.header = append(slices.Clone(r.header), "X-End-User", user)
	}
	if message != "" {
		r.header = append(slices.Clone(r.header), "X-Purser-Message", message)
	}
	return s.send(t, r)
}

func purging() change { return change{method: http.MethodDelete, path: "revisions"} }

func TestHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := func(i int) string { return widget("w", fmt.Sprintf("{x: %d}", i)) }
	s.because(t, put("a", w(1)), "", "").is(t, http.StatusOK)
	s.because(t, put("a", w(2)), "alice", "larger disks").is(t, http.StatusOK)
	s.because(t, set("", in("a", w(3))), "bob", "").is(t, http.StatusOK)
	s.because(t, back("1"), "", "as before: é").is(t, http.StatusCreated)
	s.because(t, back("0"), "carol", "").is(t, http.StatusCreated)
	s.because(t, put("a?message=from+the+URL", ""), "", "").is(t, http.StatusNotFound) // the query is not part of the bucket's name
	c := put("a", w(6))
	c.path += "?message=from%20the+URL%2C%20%C3%A9"
	s.because(t, c, "", "").is(t, http.StatusOK)
	c.body = w(7)
	s.because(t, c, "dave", "from the header").is(t, http.StatusOK)
	// Changes that make no revision are not recorded.
	s.because(t, c, "eve", "nothing new").is(t, http.StatusOK)
	c = put("a", w(9))
	c.path += "?dry-run=true"
	s.because(t, c, "eve", "only tried").is(t, http.StatusOK)
	s.because(t, put("b", w(7)), "eve", "a conflict").is(t, http.StatusConflict)
	s.tag(t, 2, "good")
	want := []string{
		"put by <nil>: <nil>", "put by alice: larger disks", "changeset by bob: <nil>", "rollback by <nil>: as before: é (to 1)",
		"rollback by carol: <nil> (to 0)", "put by <nil>: from the URL, é", "put by dave: from the header",
	}
	s.isHistory(t, want...)
	s.isRevision(t, 7)
}

func TestHistory_message(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	longest := strings.Repeat("é", 1000)
	s.because(t, put("a", widget("w1", "{}")), "", longest).is(t, http.StatusOK)
	c := put("a", widget("w2", "{}"))
	c.path += "?message=" + url.QueryEscape(longest)
	s.because(t, c, "", "").is(t, http.StatusOK)
	s.isHistory(t, "put by <nil>: "+longest, "put by <nil>: "+longest)
	before := s.everything(t)
	changes := []change{put("a", ""), set("?buckets=a", ""), back("0"), purging()}
	for _, c := range changes {
		for name, header := range map[string]string{"at most 1000": longest + "x", "not valid UTF-8": "\xe9t\xe9"} {
			r := c.request("")
			r.header = []string{"X-Purser-Message", header}
			s.send(t, r).isFault(t, http.StatusBadRequest, "HTTPBadRequest", name, "X-Purser-Message")
		}
		for query, help := range map[string]string{
			"message=" + strings.Repeat("x", 1001): "1001 characters", "message=%E9": "UTF-8", "message=a&message=b": "only once", "message=%00": "NUL",
			"message=%zz": "cannot be read",
		} {
			r := c.request("?" + query)
			a := s.send(t, r)
			if a.is(t, http.StatusBadRequest); !strings.Contains(a.text, help) {
				t.Errorf("%s %s: %q is not in the error:\n%s", c.method, r.path, help, a.text)
			}
		}
	}
	s.isAsBefore(t, before)
}

// A malformed user name is recorded as well as possible, and is never a reason to refuse a change.
func TestHistory_user(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.because(t, put("a", widget("w1", "{}")), strings.Repeat("é", 300), "").is(t, http.StatusOK)
	s.because(t, put("a", widget("w2", "{}")), "\xe9ve", "").is(t, http.StatusOK)
	s.because(t, put("a", widget("w3", "{}")), "a \"b\" <c@d>", "").is(t, http.StatusOK)
	s.isHistory(t, "put by "+strings.Repeat("é", 255)+": <nil>", "put by \ufffdve: <nil>", "put by a \"b\" <c@d>: <nil>")
}

func TestHistory_purge(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	purged := func() any { return s.get(t, "revisions").mapping(t)["purged"] }
	is := func(user, message any) {
		t.Helper()
		marker, _ := purged().(map[string]any)
		marker["createdAt"] = marker["at"]
		delete(marker, "at")
		if diff := cmp.Diff(map[string]any{"user": user, "message": message}, withoutTime(t, marker)); diff != "" {
			t.Errorf("marker (-want +got):\n%s", diff)
		}
	}
	if marker := purged(); marker != nil {
		t.Errorf("there was no purge, but there is %v", marker)
	}
	s.because(t, put("a", widget("w", "{}")), "alice", "first").is(t, http.StatusOK)
	if marker := purged(); marker != nil {
		t.Errorf("there was no purge, but there is %v", marker)
	}
	s.because(t, purging(), "bob", "start anew").is(t, http.StatusNoContent)
	s.isHistory(t)
	is("bob", "start anew")
	s.because(t, put("a", widget("w", "{}")), "carol", "").is(t, http.StatusOK)
	s.isHistory(t, "put by carol: <nil>")
	is("bob", "start anew")
	r := purging().request("")
	r.header = []string{"If-Match", `"7"`, "X-End-User", "eve"}
	s.send(t, r).is(t, http.StatusPreconditionFailed)
	is("bob", "start anew")
	s.do(t, http.MethodDelete, "revisions?message=again", "").is(t, http.StatusNoContent)
	is(nil, "again")
	s.purge(t)
	is(nil, nil)
}

func TestHistory_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	s.because(t, purging(), "alice", "anew").is(t, http.StatusNoContent)
	s.because(t, put("a", widget("w", "{}")), "bob", "first").is(t, http.StatusOK)
	s.because(t, back("1"), "", "").is(t, http.StatusCreated)
	s.isHistory(t, "put by bob: first", "rollback by <nil>: <nil> (to 1)")
	listing := s.get(t, "revisions?limit=1&offset=1").mapping(t)
	for _, key := range []string{"next", "prev", "purged"} {
		if value, there := listing[key]; there {
			t.Errorf("the listing has %s: %v, which the reference does not have", key, value)
		}
	}
}
