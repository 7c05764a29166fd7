package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/api"
)

// from returns a change that says from which commit it is made.
func (c change) from(source string) request {
	r := c.request("")
	r.header = append(slices.Clone(r.header), "X-Purser-Source", source)
	return r
}

// numbersFrom returns the revisions that a list finds by their source.
func (s site) numbersFrom(t *testing.T, source, query string) string {
	t.Helper()
	var numbers []any
	for _, item := range s.get(t, "revisions?source="+url.QueryEscape(source)+query).is(t, http.StatusOK).results(t) {
		r, _ := item.(map[string]any)
		numbers = append(numbers, r["id"])
	}
	return fmt.Sprint(numbers...)
}

const commit = "https://git.example/acme/site/commit/"

// The source of each kind of change is kept, is in all answers that have the message, and finds its revisions.
func TestSources(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := commit+"8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72", "git+https://git.example/acme/site@8F2C41Daaaaaaa"
	s.send(t, put("a", widget("w", "{x: 1}")).from(one)).is(t, http.StatusOK)
	s.send(t, set("", in("a", widget("w", "{x: 2}"))).from(two)).is(t, http.StatusOK)
	s.put(t, "a", widget("w", "{x: 3}")).is(t, http.StatusOK)
	s.send(t, back("1").from(one)).is(t, http.StatusCreated)
	s.do(t, http.MethodPut, "buckets/p/packages/io.acme.A", library(t, "io.acme.A", "1.0", ""),
		append(slices.Clone(asZip), "X-Purser-Source", commit+"abcdef01")...).is(t, http.StatusOK)
	want := []any{one, two, nil, one, commit + "abcdef01"}
	// Changes that make no revision are not recorded.
	s.send(t, put("a", widget("w", "{x: 1}")).from(commit+"0000000")).is(t, http.StatusOK)
	dry := put("a", widget("w", "{x: 9}"))
	dry.path += "?dry-run=true"
	s.send(t, dry.from(commit+"0000000")).is(t, http.StatusOK)

	var listed, shown, history, buckets, told []any
	for i, item := range s.get(t, "revisions").results(t) {
		r, _ := item.(map[string]any)
		listed = append(listed, r["source"])
		shown = append(shown, s.get(t, fmt.Sprintf("revisions/%d", i+1)).mapping(t)["source"])
	}
	for _, item := range s.get(t, "documents/acme/Widget/v1/site/w/history").results(t) {
		c, _ := item.(map[string]any)
		history = append(history, c["source"])
	}
	for _, item := range s.get(t, "buckets").results(t) {
		b, _ := item.(map[string]any)
		buckets = append(buckets, b["source"])
	}
	events, _ := s.get(t, "events?type=purser.revision.created").mapping(t)["events"].([]any)
	for _, item := range events {
		e, _ := item.(map[string]any)
		data, _ := e["data"].(map[string]any)
		told = append(told, data["source"])
	}
	for what, found := range map[string][2][]any{
		"listed": {want, listed}, "shown": {want, shown}, "in events": {want, told},
		"in the history": {{one, nil, two, one}, history}, "of buckets": {{one, commit + "abcdef01"}, buckets},
	} {
		if diff := cmp.Diff(found[0], found[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for source, want := range map[string]string{
		one: "1 4", two: "2", "8f2c41d": "1 2 4", "8F2C41D": "1 2 4", "8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72": "1 4",
		"8f2c41daaaaaaa": "2", "8f2c41daaaaaaab": "", "abcdef0": "5", "abcdef1": "", "0000000": "",
		commit + "8f2c41d": "", strings.ToUpper(commit) + "8f2c41d": "?", // of which no revision has just this URL
	} {
		if want == "?" {
			s.get(t, "revisions?source="+url.QueryEscape(source)).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "source")
		} else if got := s.numbersFrom(t, source, ""); got != want {
			t.Errorf("the revisions from %s are %q, want %q", source, got, want)
		}
	}
	if got := s.numbersFrom(t, "8f2c41d", "&sort=id&order=desc&limit=2"); got != "4 2" {
		t.Errorf("the newest ones are %q", got)
	}
	s.tag(t, 4, "good")
	if got := s.numbersFrom(t, one, "&tag=good"); got != "4" {
		t.Errorf("those with a tag are %q", got)
	}
	s.prune(t, "keep=1").is(t, http.StatusOK)
	if got := s.numbersFrom(t, one, ""); got != "4" {
		t.Errorf("after a prune they are %q", got)
	}
}

// A source that is none is refused, whatever kind the change is, and changes nothing; so is the search for one.
func TestSources_refused(t *testing.T) {
	t.Parallel()
	s := filled(t, 2)
	before := s.everything(t)
	for source, part := range map[string]string{
		"main": "begin with https://", "http://git.example/commit/8f2c41d": "begin with https://",
		"https://git.example/tree/main": "names no commit", "https://bob:hunter2@git.example/8f2c41d": "a user or a password",
		commit + "8f2c41d/" + strings.Repeat("x", 500): "at most 500", commit + "8f2c41d\t": "a space",
	} {
		for _, c := range []change{put("b1", ""), set("?buckets=b1", ""), back("0")} {
			got := s.send(t, c.from(source))
			got.isFault(t, http.StatusBadRequest, "HTTPInvalidHeader", "X-Purser-Source", part, "such as https://")
			if strings.Contains(got.text, "hunter2") {
				t.Errorf("the answer quotes a password:\n%s", got.text)
			}
		}
		s.get(t, "revisions?source="+url.QueryEscape(source)).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", part,
			"7 hexadecimal digits")
	}
	s.get(t, "revisions?source=8f2c41d&source=abcdef0").isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "only once")
	s.isAsBefore(t, before)
}

// As messages, sources are kept with --compat=deckhand too. A list that looks for one is Deckhand's, which does not.
func TestSources_compat(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) { config.Compat = true })
	for i := range 2 {
		c := put("a", widget("w", fmt.Sprintf("{x: %d}", i)))
		s.send(t, c.from(fmt.Sprint(commit, "8f2c41", i))).is(t, http.StatusOK)
	}
	if got := s.get(t, "revisions/2").mapping(t)["source"]; got != commit+"8f2c411" {
		t.Errorf("the source is %v", got)
	}
	if got := s.numbersFrom(t, "8f2c410", ""); got != "1 2" {
		t.Errorf("listed are %q", got)
	}
}
