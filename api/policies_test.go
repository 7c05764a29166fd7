package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gate is a ValidationPolicy that lists validations, given in YAML.
func gate(lists string) string {
	return control("deckhand/ValidationPolicy/v1", "gate", "{validations: ["+lists+"]}")
}

const (
	unguarded = "There is no ValidationPolicy: only the server's own checks counted"
	deleted   = "The ValidationPolicy gate no longer applies"
)

// A change that weakens a policy is announced by its dry run, by its answer and by its revision, and each form of a
// status without a policy says what counted.
func TestHandler_policies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	header := append([]string{"Content-Type", "application/x-yaml"}, asJSON...)
	const path = "buckets/policies/documents"
	for _, c := range []struct {
		method, path, body string
		weakened           []string
		notice             string
	}{
		{"PUT", "buckets/b/documents", widget("w1", "{}"), nil, unguarded},
		{"PUT", path, gate("{name: a-validation, expiresAfter: P1D}, {name: b-validation}"), nil, ""},
		{"PUT", path, gate("{name: a-validation, expiresAfter: P7D}, {name: b-validation}"), []string{
			"Results of a-validation expire after P7D, not after P1D any more",
		}, ""},
		{"PUT", path, gate("{name: a-validation, expiresAfter: P7D}"), []string{
			"No ValidationPolicy requires b-validation any more",
		}, ""},
		{"PUT", "buckets/b/documents", widget("w2", "{}"), nil, ""},
		{"PUT", path, "", []string{deleted, "No ValidationPolicy requires a-validation any more"}, unguarded},
		{"POST", "rollback/2", "", nil, ""},
		{"POST", "rollback/1", "", []string{
			deleted, "No ValidationPolicy requires a-validation any more", "No ValidationPolicy requires b-validation any more",
		}, unguarded},
	} {
		warnings := slices.DeleteFunc(append(slices.Clone(c.weakened), c.notice), func(s string) bool { return s == "" })
		would := s.do(t, c.method, c.path+"?dry-run=true", c.body, header...)
		did := s.do(t, c.method, c.path, c.body, header...)
		for name, got := range map[string]response{"dry run": would, "change": did} {
			if diff := cmp.Diff(warnings, got.Header.Values("Purser-Warning")); diff != "" && len(warnings) > 0 {
				t.Errorf("%s %s: warnings of the %s (-want +got)\n%s", c.method, c.path, name, diff)
			}
		}
		revision := s.get(t, "revisions/latest", asJSON...).mapping(t)
		status := s.get(t, "revisions/latest/status", asJSON...).mapping(t)
		for name, got := range map[string]map[string]any{"dry run": would.mapping(t), "revision": revision} {
			if weakened := texts(got["weakened"]); !slices.Equal(weakened, c.weakened) {
				t.Errorf("%s %s: weakened of the %s: %v", c.method, c.path, name, weakened)
			}
		}
		text := s.get(t, "revisions/latest/status", "Accept", "text/plain").text
		notices := []any{would.mapping(t)["notice"], status["notice"], strings.Contains(text, "\n"+unguarded+"\n")}
		want := []any{c.notice, c.notice, true}
		if c.notice == "" {
			want = []any{nil, nil, false}
		}
		if diff := cmp.Diff(want, notices); diff != "" {
			t.Errorf("%s %s: notices (-want +got)\n%s\n%s", c.method, c.path, diff, text)
		}
	}
}

// texts returns the strings of a list in JSON.
func texts(list any) (all []string) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, fmt.Sprint(item))
	}
	return all
}

// A revision names its neighbours that are left after a prune, and what was weakened since the one before it.
func TestHandler_neighbours(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "policies", gate("{name: a-validation}"))
	for _, name := range []string{"w1", "w2", "w3"} {
		s.put(t, "b", widget(name, "{}"))
	}
	s.put(t, "policies", "")
	s.put(t, "b", widget("w4", "{}"))
	s.do(t, http.MethodPost, "revisions/1/tags/kept", "", asJSON...)
	s.do(t, http.MethodPost, "revisions/3/tags/kept", "", asJSON...)
	if got := s.do(t, http.MethodPost, "revisions/prune?keep=1", "", asJSON...); got.StatusCode != http.StatusOK {
		t.Fatal(got.text)
	}
	for id, want := range map[int][]any{1: {0., 3., 0}, 3: {1., 6., 0}, 6: {3., 0., 2}} {
		got := s.get(t, fmt.Sprintf("revisions/%d", id), asJSON...).mapping(t)
		if diff := cmp.Diff(want, []any{got["previous"], got["next"], len(texts(got["weakened"]))}); diff != "" {
			t.Errorf("revision %d: previous, next and weakened (-want +got)\n%s", id, diff)
		}
	}
}

// A prune with the ETag of its dry run is not made once there is a newer revision, which makes another one old.
func TestHandler_pruneAsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, name := range []string{"w1", "w2", "w3"} {
		s.put(t, "b", widget(name, "{}"))
	}
	prune := func(query string, header ...string) response {
		return s.do(t, http.MethodPost, "revisions/prune?keep=2"+query, "", append(header, asJSON...)...)
	}
	shown := prune("&dry-run=true").is(t, http.StatusOK).Header.Get("ETag")
	s.put(t, "b", widget("w4", "{}"))
	prune("", "If-Match", shown).is(t, http.StatusPreconditionFailed)
	s.get(t, "revisions/1").is(t, http.StatusOK)
	shown = prune("&dry-run=true").is(t, http.StatusOK).Header.Get("ETag")
	if got := prune("", "If-Match", shown).is(t, http.StatusOK); got.Header.Get("ETag") != shown {
		t.Errorf("the ETag after the prune is %s, want %s", got.Header.Get("ETag"), shown)
	}
	s.get(t, "revisions/2").is(t, http.StatusGone)
}

// The headers about policies are few and short, whatever the names of policies, so that proxies let them pass.
func TestHandler_policiesLong(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var lists []string
	for i := range 30 {
		lists = append(lists, fmt.Sprintf("{name: %q}", fmt.Sprintf("é-%02d-%s", i, strings.Repeat("x", 240))))
	}
	s.put(t, "policies", gate(strings.Join(lists, ", ")))
	got := s.put(t, "policies", "").Header.Values("Purser-Warning")
	if len(got) != 5 || got[0] != deleted || got[3] != "Policies are weakened in more ways, which the revision lists" || got[4] != unguarded {
		t.Errorf("%d warnings: %q", len(got), got)
	}
	for _, warning := range got {
		if len(warning) > 201 || strings.ContainsFunc(warning, func(r rune) bool { return r > '~' }) {
			t.Errorf("%d bytes: %q", len(warning), warning)
		}
	}
}
