package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
)

// lines collects what is logged.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

// taken returns the messages that were logged since the last call, with their levels and paths.
func (l *lines) taken(t *testing.T) (all []string) {
	t.Helper()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	decoder := json.NewDecoder(&l.text)
	for decoder.More() {
		var of struct {
			Level  string `json:"level"`
			Msg    string `json:"msg"`
			Method string `json:"method"`
			Path   string `json:"path"`
			User   string `json:"user"`
		}
		if err := decoder.Decode(&of); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimSpace(strings.Join([]string{of.Level, of.Msg, of.Method, of.Path, of.User}, " ")))
	}
	return all
}

// A view of a page is one line of the log and one request in the metrics, and makes the same number of calls of the API
// however many validations and results there are. A change is logged as one of the API, too.
func TestOverview_calls(t *testing.T) {
	t.Parallel()
	var log lines
	var mutex sync.Mutex
	var observed []string
	s := newSite(t, func(config *api.Config) {
		config.Log = slog.New(slog.NewJSONHandler(&log, nil))
		config.Observe = func(route, method string, status int, _ time.Duration) {
			mutex.Lock()
			defer mutex.Unlock()
			observed = append(observed, fmt.Sprint(method, " ", route, " ", status))
		}
	})
	b := s.as(t, "admin")
	counts := map[int]int{}
	for _, validations := range []int{1, 15} {
		var required []string
		for i := range validations {
			required = append(required, fmt.Sprintf("{name: v%d-validation}", i))
		}
		s.put(t, "control", hostSchema, layers, doc("deckhand/ValidationPolicy/v1", "gate", "cleartext", "",
			"{validations: ["+strings.Join(required, ", ")+"]}"))
		for i := range validations {
			s.call(t, http.MethodPost, fmt.Sprintf("revisions/latest/validations/v%d-validation", i), "{status: failure, validator: {name: v, version: '1'}}")
		}
		log.taken(t)
		observed = nil
		before := s.calls.made
		b.get(t, "/ui/").is(t, http.StatusOK).shows(t, fmt.Sprintf("v%d-validation ✗ failure", validations-1), "Ada by v 1")
		if diff := cmp.Diff([]string{"INFO page GET /ui/ admin"}, log.taken(t)); diff != "" {
			t.Errorf("logged (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"GET /ui/ 200"}, observed); diff != "" {
			t.Errorf("observed (-want +got)\n%s", diff)
		}
		counts[validations] = s.calls.made - before
	}
	if counts[1] != counts[15] || counts[15] > 3 { // who the user is, which sites there are, and all that the page shows
		t.Errorf("the overview makes %v calls", counts)
	}
	observed = nil
	form := b.get(t, "/ui/revisions/2").form(t, "/ui/revisions/2/tags")
	form.Set("name", "good")
	b.send(t, http.MethodPost, "/ui/revisions/2/tags", form, "Sec-Fetch-Site", "same-origin").is(t, http.StatusSeeOther)
	if got := log.taken(t); !slices.Contains(got, "INFO page POST /ui/revisions/2/tags admin") ||
		!slices.Contains(got, "INFO request POST /api/v1.0/revisions/2/tags/good admin") {
		t.Errorf("logged %q", got)
	}
	if want := []string{"GET /ui/revisions/{revision} 200", "POST /ui/revisions/{revision}/tags 303"}; !cmp.Equal(want, observed) {
		t.Errorf("observed %q", observed)
	}
}

// Beside a verdict that says no are the ways out of it, for users who may take them.
func TestOverview_ways(t *testing.T) {
	t.Parallel()
	s := broken(t)
	s.call(t, http.MethodPost, "revisions/2/validations/drydock-validation", "{status: success, validator: {name: d, version: '1'}}")
	const back, compare, post = `href="/ui/revisions/2/rollback"`, `href="/ui/compare?from=2&amp;to=3"`, `href="/ui/revisions/3/validations/drydock-validation#act">Approve, reject or waive</a>`
	for _, target := range []string{"/ui/", "/ui/revisions/3"} {
		page := s.as(t, "admin").get(t, target).is(t, http.StatusOK)
		for _, link := range []string{back, compare, post, "<title>✗ Revision 3 may not be deployed · Purser</title>"} {
			if !strings.Contains(page.text, link) {
				t.Errorf("%s has no %s:\n%s", target, link, page.text)
			}
		}
		page = s.as(t, "reader").get(t, target).is(t, http.StatusOK)
		if strings.Contains(page.text, back) || strings.Contains(page.text, post) || !strings.Contains(page.text, compare) {
			t.Errorf("%s offers a reader what only an admin may do, or no comparison:\n%s", target, page.text)
		}
	}
	b := s.as(t, "admin")
	if form := b.get(t, "/ui/revisions/3?post=drydock-validation").form(t, "/ui/revisions/3/validations"); form.Get("name") != "drydock-validation" {
		t.Errorf("the form for a result has %v", form)
	}
	// A preview can be opened again, and changes nothing.
	for range 2 {
		b.get(t, "/ui/revisions/2/rollback?message=as+before").is(t, http.StatusOK).shows(t, "Roll back to revision 2?")
	}
	b.get(t, "/ui/").shows(t, "Revision 3 may not be deployed")
	s.as(t, "reader").get(t, "/ui/revisions/2/rollback").is(t, http.StatusForbidden)
}

// The log has who asked for a secret on a page, and no other reads of pages.
func TestDocument_secretsInLog(t *testing.T) {
	t.Parallel()
	var log lines
	s := newSite(t, func(config *api.Config) { config.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	b := s.as(t, "admin")
	s.put(t, "site", layers, doc("acme/Widget/v1", "w", "cleartext", "", "{a: 1}"))
	const path = "/ui/revisions/1/document"
	for query, shows := range map[string]bool{"": false, "&secrets=shown": true} {
		log.taken(t)
		b.get(t, path+"?schema=acme/Widget/v1&layer=site&name=w"+query).is(t, http.StatusOK)
		got := log.taken(t)
		read := slices.Contains(got, "INFO request GET /api/v1.0/revisions/1/documents admin")
		if read != shows || !slices.Contains(got, "INFO page GET "+path+" admin") {
			t.Errorf("%q: the log has %q", query, got)
		}
	}
}
