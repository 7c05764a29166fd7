package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// isDiff checks the differences between the buckets of two revisions: "a:modified b:created", sorted by bucket.
func (s site) isDiff(t *testing.T, pair, want string) {
	t.Helper()
	before, after, _ := strings.Cut(pair, " ")
	wanted := map[string]any{}
	for item := range strings.FieldsSeq(want) {
		bucket, became, _ := strings.Cut(item, ":")
		wanted[bucket] = became
	}
	got := s.get(t, "revisions/"+before+"/diff/"+after).is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("from revision %s to %s (-want +got):\n%s", before, after, diff)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	k1, k2 := widget("k1", "{x: 1}"), widget("k2", "{x: 2}")
	s.isDiff(t, "0 0", "")
	for _, put := range [][2]string{
		{"a", k1 + k2},
		{"b", widget("k3", "{}")},
		{"a", k1 + widget("k2", "{x: 3}")}, // changed data
		{"b", ""},                          // emptied
		{"a", k1 + k2},                     // as in the beginning
		{"a", docWith("acme/Widget/v1", "k1", "{x: 1}", ", labels: {l: m}") + k2}, // changed metadata
		{"a", widget("renamed", "{x: 1}") + k2},
		{"b", widget("k3", "{}")}, // as before it was deleted
		{"a", k2},
		{"a", ""},
		{"b", ""},
	} {
		s.put(t, put[0], put[1]).is(t, http.StatusOK)
	}
	s.tag(t, 3, "good")
	for _, c := range []struct{ pair, want string }{
		{"1 1", "a:unmodified"},
		{"1 2", "a:unmodified b:created"},
		{"2 3", "a:modified b:unmodified"},
		{"1 3", "a:modified b:created"},
		{"3 4", "a:unmodified b:deleted"},
		{"2 4", "a:modified b:deleted"},
		{"1 4", "a:modified"}, // b was created and deleted in between
		{"4 5", "a:modified"},
		{"1 5", "a:unmodified"},
		{"5 6", "a:modified"},
		{"6 7", "a:modified"},
		{"1 7", "a:modified"},
		{"3 8", "a:modified b:unmodified"},
		{"2 8", "a:modified b:unmodified"}, // putting the same documents again is not a change
		{"7 8", "a:unmodified b:created"},
		{"8 9", "a:modified b:unmodified"},
		{"9 10", "a:deleted b:unmodified"},
		{"1 10", "a:deleted b:created"},
		{"10 11", "b:deleted"},
		{"1 11", "a:deleted"},
		{"11 11", ""},
		{"0 1", "a:created"},
		{"0 3", "a:created b:created"},
		{"0 11", ""},
		{"tag:good 4", "a:unmodified b:deleted"},
		{"3 tag:good", "a:unmodified b:unmodified"},
		{"0 tag:good", "a:created b:created"},
		{"10 latest", "b:deleted"},
		{"11 latest", ""},
		{"0 latest", ""},
	} {
		s.isDiff(t, c.pair, c.want)
		before, after, _ := strings.Cut(c.pair, " ")
		s.isDiff(t, after+" "+before, c.want) // the order of revisions does not matter
	}
}

// Bucket names in differences are compared exactly.
func TestDiff_bucketNames(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a%2Fb%20%C3%A9", widget("k1", "{}")+layeringPolicy("lp"))
	s.put(t, "A%2Fb%20%C3%A9", widget("k2", "{}"))
	s.put(t, "null", widget("k3", "{}"))
	want := map[string]any{"a/b é": "unmodified", "A/b é": "created", "null": "created"}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/diff/3").mapping(t)); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
	s.get(t, "revisions/1/deepdiff/3").is(t, http.StatusOK)
}

func TestDiff_movedDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("k1", "{}")+widget("k2", "{}"))
	s.put(t, "b", widget("k3", "{}"))
	s.changeSet(t, "", in("a", widget("k2", "{}"))+in("b", widget("k3", "{}")+widget("k1", "{}"))).is(t, http.StatusOK)
	s.isDiff(t, "2 3", "a:modified b:modified")
	s.changeSet(t, "?buckets=a", in("c", widget("k2", "{}"))).is(t, http.StatusOK)
	s.isDiff(t, "3 4", "a:deleted b:unmodified c:created")
	s.isDiff(t, "1 4", "a:deleted b:created c:created")
}

func TestDiff_json(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("k1", "{}"))
	got := s.get(t, "revisions/0/diff/1", "Accept", typeJSON).is(t, http.StatusOK)
	if diff := cmp.Diff("{\"a\":\"created\"}\n", got.text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.get(t, "revisions/0/diff/0"); got.text != "{}\n" {
		t.Errorf("nothing against nothing is %q, want an empty mapping", got.text)
	}
}

func TestDiff_ofNothingYet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.isDiff(t, "0 0", "")
	s.get(t, "revisions/0/diff/latest").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=latest")
	s.get(t, "revisions/latest/diff/0").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=latest")
	s.get(t, "revisions/0/deepdiff/latest").isFault(t, http.StatusNotFound, "HTTPNotFound", "revision=latest")
	s.get(t, "revisions/0/diff/1").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=1")
}
