package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// conditional returns the changes that can be made conditional, each with the status of its success.
func conditional() map[string]struct {
	change
	status int
} {
	return map[string]struct {
		change
		status int
	}{
		"PUT":                   {put("a", widget("new", "{}")), http.StatusOK},
		"PUT of the same":       {put("a", widget("w1", "{x: 1}")), http.StatusOK},
		"dry run":               {change{method: http.MethodPut, path: "buckets/a/documents?dry-run=true"}, http.StatusOK},
		"change set":            {set("", in("b", widget("new", "{}"))), http.StatusOK},
		"rollback":              {back("1"), http.StatusCreated},
		"dry run of a rollback": {change{method: http.MethodPost, path: "rollback/0?dry-run=true"}, http.StatusOK},
		"purge":                 {purging(), http.StatusNoContent},
	}
}

func (s site) ifMatch(t *testing.T, c change, condition string) response {
	t.Helper()
	r := c.request("")
	r.header = append(slices.Clone(r.header), "If-Match", condition)
	return s.send(t, r)
}

func TestConditions_ofChanges(t *testing.T) {
	t.Parallel()
	for name, c := range conditional() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.fillConditions(t)
			old := s.etag(t, "revisions/2")
			newest := `"2-` + stamp(t, s.get(t, "revisions/2").mapping(t)) + `"`
			before := s.everything(t)
			for _, stale := range []string{
				`"1"`, `"3"`, `"0"`, `"0", "1"`, `W/"1"`, s.etag(t, "revisions/1"), s.etag(t, "revisions/1/documents"), `"2-99"`, `"2-99.abc"`,
				`"999999999999999999"`,
			} {
				a := s.ifMatch(t, c.change, stale)
				a.isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "the newest is 2", "nothing was changed")
				if got := []any{a.Header.Get("ETag"), a.mapping(t)["metadata"]}; !cmp.Equal(got, []any{newest, map[string]any{"revision": 2}}) {
					t.Errorf("the newest revision as ETag and in the metadata: %v, want 2", got)
				}
			}
			for _, malformed := range []string{
				"2", `"2`, `""`, "", `"x"`, `"02"`, `"-1"`, `"2",`, `"1" "2"`, `"latest"`, `"2.0"`, "**", `"9999999999999999999"`, `"2-"`, `w/"2"`,
			} {
				r := c.request("")
				r.header = append(slices.Clone(inYAML), "If-Match", malformed)
				s.send(t, r).isFault(t, http.StatusBadRequest, "HTTPInvalidHeader", `"If-Match" header is invalid`)
			}
			none := c.request("")
			none.header = append(slices.Clone(inYAML), "If-None-Match", "*")
			s.send(t, none).isFault(t, http.StatusBadRequest, "HTTPInvalidHeader", `"If-None-Match" header is only for reading`)
			s.isAsBefore(t, before)
			for _, good := range []func() string{
				func() string { return `"2"` }, func() string { return `W/"2"` }, func() string { return "*" },
				func() string { return `"7", "2"` }, func() string { return `"1",*` },
				func() string { return s.etag(t, "revisions/2") },
				func() string { return s.etag(t, "revisions/2", "Accept", typeJSON) + `, "7"` },
				func() string { return s.etag(t, "revisions/latest/documents?limit=1") },
			} {
				s.ifMatch(t, c.change, good()).is(t, c.status)
				s.purge(t)
				s.fillConditions(t)
			}
			// After a purge the numbers are the same, but the revisions are not.
			s.ifMatch(t, c.change, old).
				isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "all revisions were deleted in between")
		})
	}
}

func TestConditions_ofNothingYet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range conditional() {
		for _, stale := range []string{"*", `"1"`} {
			if strings.HasPrefix(c.path, "rollback/1") {
				continue
			}
			a := s.ifMatch(t, c.change, stale)
			a.isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "If-Match asks for")
			if got := a.Header.Get("ETag"); !strings.HasPrefix(got, `"0-`) {
				t.Errorf("ETag %s, want that of no revision", got)
			}
		}
	}
	s.ifMatch(t, back("1"), `"0"`).isFault(t, http.StatusNotFound, "RevisionNotFound")
	for _, c := range []change{put("a", widget("w", "{}")), set("", in("a", widget("w", "{}"))), back("0"), purging()} {
		s.ifMatch(t, c, `"0"`)
		s.isRevision(t, map[bool]int{true: 0, false: 1}[c.method == http.MethodDelete])
		s.purge(t)
	}
	if got := s.put(t, "a", "").is(t, http.StatusOK).Header.Get("ETag"); !strings.HasPrefix(got, `"0-`) {
		t.Errorf("ETag of a PUT that makes no first revision: %s", got)
	}
}

// The ETag in the answer to any kind of change is a valid condition for the next one.
func TestConditions_chain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	etag := `"0"`
	for i, c := range []change{
		put("a", widget("w1", "{}")), set("", in("b", widget("w2", "{}"))), back("1"), put("a", widget("w1", "{}")), back("0"), put("a", ""),
		put("a", widget("w3", "{}")),
	} {
		a := s.ifMatch(t, c, etag)
		if a.StatusCode >= http.StatusBadRequest {
			t.Fatalf("change %d with If-Match %s: %d\n%s", i+1, etag, a.StatusCode, a.text)
		}
		etag = a.Header.Get("ETag")
		want := `"0-`
		if head := s.head(t); head != "0" {
			want = `"` + head + `-` + stamp(t, s.get(t, "revisions/latest").mapping(t)) + `"`
		}
		if !strings.HasPrefix(etag, want) {
			t.Errorf("change %d: ETag %s, want %s", i+1, etag, want)
		}
		// Tags and results do not create a revision.
		s.tag(t, 1, fmt.Sprintf("t%d", i))
		s.report(t, 1, "a-validation", "success")
	}
	s.ifMatch(t, purging(), etag).is(t, http.StatusNoContent)
}

func TestConditions_oneWriterWins(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillConditions(t)
	const writers, rounds = 9, 4
	for round := range rounds {
		head := s.head(t)
		answers := make([]response, writers)
		var all sync.WaitGroup
		for i := range writers {
			documents := widget("w", fmt.Sprintf("{round: %d, writer: %d}", round, i))
			r := []change{put("a", documents), set("", in("a", documents)), back("1")}[i%3].request("")
			r.header = append(slices.Clone(inYAML), "If-Match", `"`+head+`"`)
			all.Go(func() { answers[i] = s.send(t, r) })
		}
		all.Wait()
		won, newest := 0, fmt.Sprintf(`"%d-%s"`, round+3, stamp(t, s.get(t, "revisions/latest").mapping(t)))
		for _, a := range answers {
			switch a.StatusCode {
			case http.StatusOK, http.StatusCreated:
				won++
			case http.StatusPreconditionFailed:
				if got := a.Header.Get("ETag"); got != newest {
					t.Errorf("round %d: a writer that lost is told %s, want %s", round, got, newest)
				}
			default:
				t.Errorf("round %d: %d\n%s", round, a.StatusCode, a.text)
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d writers won, want one", round, won)
		}
		s.isRevision(t, round+3)
	}
}
