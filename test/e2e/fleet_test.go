package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"purser/internal/fleet"
	"purser/internal/store/storetest"
)

// site returns a server whose requests are about one of its sites.
func (s *server) site(name string) *server {
	at := *s
	at.url = s.root + "/sites/" + name
	return &at
}

const fleetSize = 12

// fleetOf makes a site with two revisions of the bucket layers, and sites that are a success, whose label type has its
// name. It returns the names of the sites.
func fleetOf(t *testing.T, s *server, source string) (names []string) {
	t.Helper()
	add := func(name, labels string) *server {
		s.send(t, request{method: http.MethodPut, path: "/sites/" + name, body: "{labels: {" + labels + "}}", header: yamlBody()}).
			is(t, http.StatusCreated)
		return s.site(name)
	}
	from := add(source, "")
	for _, size := range []string{"1", "2"} {
		from.put(t, "layers", "# of revision "+size+"\n"+widget("shared", "{size: "+size+"}")+widget("only-"+size, "{}")).is(t, http.StatusOK)
	}
	for i := range fleetSize {
		names = append(names, fmt.Sprintf("%s-%02d", source, i+1))
		add(names[i], "type: "+source).put(t, "own", layeringPolicy("lp")).is(t, http.StatusOK)
	}
	return names
}

// front passes requests on to a server. Before a change it calls change with the number of those before.
type front struct {
	*httptest.Server

	target  atomic.Pointer[url.URL]
	changes atomic.Int32
	change  func(n int, w http.ResponseWriter, r *http.Request, forward http.Handler)
}

func newFront(t *testing.T, s *server) *front {
	t.Helper()
	f := &front{change: func(_ int, w http.ResponseWriter, r *http.Request, forward http.Handler) { forward.ServeHTTP(w, r) }}
	f.leadsTo(s)
	forward := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(f.target.Load()) },
		ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // as if the server itself was gone
		},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || r.URL.Query().Has("dry-run") {
			forward.ServeHTTP(w, r)
			return
		}
		f.change(int(f.changes.Add(1)), w, r, forward)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *front) leadsTo(s *server) {
	target, _ := url.Parse(s.root) // of a server that has answered
	f.target.Store(target)
}

// pusher is a person whose commands go through a front.
func (f *front) pusher(t *testing.T) *person {
	t.Helper()
	return &person{home: t.TempDir(), env: []string{"PURSER_SERVER=" + f.URL}}
}

// reportOf returns the last line about each site in a report, the number of lines about sites, and how the last run
// ended.
func reportOf(t *testing.T, p *person, name string) (sites map[string]fleet.SiteLine, lines int, ended string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, name))
	if err != nil {
		t.Fatal(err)
	}
	sites = map[string]fleet.SiteLine{}
	for line := range strings.Lines(string(text)) {
		var of struct {
			fleet.SiteLine

			Ended string `json:"ended"`
		}
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if of.Site != "" {
			lines++
			sites[of.Site] = of.SiteLine
		}
		if of.Ended != "" {
			ended = of.Ended
		}
	}
	return sites, lines, ended
}

// isAs checks that a site is as a line of a report says.
func (s *server) isAs(t *testing.T, line fleet.SiteLine) {
	t.Helper()
	at := s.site(line.Site)
	made := at.get(t, fmt.Sprintf("revisions/%d", line.Revision)).is(t, http.StatusOK).mapping(t)
	if made["stamp"] != line.Stamp || made["status"] != line.Status {
		t.Errorf("%s: revision %d is %v, and the report says %+v", line.Site, line.Revision, made, line)
	}
	var found map[string]any
	for _, listed := range at.get(t, "buckets").results(t) {
		if bucket, _ := listed.(map[string]any); bucket["name"] == "layers" {
			found, _ = bucket["from"].(map[string]any)
		}
	}
	revision := strconv.FormatInt(line.From.Revision, 10)
	if found["site"] != line.From.Site || fmt.Sprint(found["revision"]) != revision || found["stamp"] != line.From.Stamp {
		t.Errorf("%s follows %v, and the report says %+v", line.Site, found, line)
	}
	const submitted = "/documents?form=submitted&status.bucket=layers"
	want := s.site(line.From.Site).get(t, "revisions/"+revision+submitted).is(t, http.StatusOK).text
	if got := at.get(t, "revisions/latest"+submitted).is(t, http.StatusOK).text; got != want {
		t.Errorf("%s has other documents than the revision that it follows:\n%s\n%s", line.Site, got, want)
	}
}

// revised checks the number of revisions of a site.
func (s *server) revised(t *testing.T, name string, want int) {
	t.Helper()
	if got := len(s.site(name).get(t, "revisions").results(t)); got != want {
		t.Errorf("%s has %d revisions, want %d", name, got, want)
	}
}

func pushLine(from, report string, more ...string) []string {
	source, _, _ := strings.Cut(from, "@")
	return append([]string{
		"fleet", "push", "layers", "--from", from, "--sites", "type=" + source, "--report", report,
	}, more...)
}

// What a push to a fleet reports is so, whatever others do meanwhile.
func TestFleet(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--site-changes", "0")
	for name, test := range map[string]func(*testing.T, *server){
		"two at once": fleetTwice, "interrupted": fleetInterrupted, "the source fails": fleetUnpromoted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// fleetTwice pushes two revisions to the same sites at once, while somebody else changes one of these.
func fleetTwice(t *testing.T, s *server) {
	t.Helper()
	names := fleetOf(t, s, "twice")
	f := newFront(t, s)
	var both sync.WaitGroup // have begun
	both.Add(2)
	var first [2]sync.Once
	var third atomic.Int32
	f.change = func(_ int, w http.ResponseWriter, r *http.Request, forward http.Handler) {
		which := 0
		if r.URL.Query().Get("message") == "b" {
			which = 1
		}
		first[which].Do(func() {
			both.Done()
			both.Wait()
		})
		if n := third.Load(); strings.Contains(r.URL.Path, names[4]) && n < 2 && third.CompareAndSwap(n, n+1) {
			a, err := s.site(names[4]).try(t.Context(), request{
				method: http.MethodPut, path: "buckets/third/documents", body: widget("third", fmt.Sprintf("{n: %d}", n)), header: yamlBody(),
			})
			if err != nil || a.status != http.StatusOK {
				t.Errorf("somebody else changes a site: %v %s", err, a.text)
			}
		}
		forward.ServeHTTP(w, r)
	}
	p := f.pusher(t)
	var pushes sync.WaitGroup
	for i, message := range []string{"a", "b"} {
		pushes.Go(func() {
			args := pushLine(fmt.Sprintf("twice@%d", i+1), message, "--parallel", "3", "--max-failures", "99", "--yes", "-m", message)
			if got := p.run(t, args...); got.code > 1 {
				t.Errorf("a push ends with %d:\n%s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
	pushes.Wait()
	a, _, _ := reportOf(t, p, "a")
	b, _, _ := reportOf(t, p, "b")
	for _, name := range names {
		made := 1 // the site's own revision
		newest := fleet.SiteLine{}
		for _, line := range []fleet.SiteLine{a[name], b[name]} {
			switch line.Outcome {
			case fleet.Stays:
				made++
				if line.Revision > newest.Revision {
					newest = line
				}
			case fleet.Refused: // others have changed it four times
			default:
				t.Errorf("%s: %+v", name, line)
			}
		}
		if name == names[4] {
			made += int(third.Load())
		}
		if newest.Revision > 0 {
			s.isAs(t, newest)
		}
		s.revised(t, name, made)
	}
	if third.Load() != 2 {
		t.Errorf("somebody else has made %d changes, want 2", third.Load())
	}
}

// fleetInterrupted interrupts a push, and lets it go on.
func fleetInterrupted(t *testing.T, s *server) {
	t.Helper()
	names := fleetOf(t, s, "interrupted")
	f := newFront(t, s)
	p := f.pusher(t)
	process := make(chan *os.Process, 2)
	p.began = func(began *os.Process) { process <- began }
	f.change = func(n int, w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if n == 3 {
			if err := (<-process).Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
		forward.ServeHTTP(w, r)
	}
	args := pushLine("interrupted@latest", "report", "--parallel", "2")
	p.run(t, args...).exits(t, 2, "not begun", "purser: interrupted")
	done, lines, ended := reportOf(t, p, "report")
	if ended != "interrupted" || len(done) < 3 || len(done) == len(names) || lines != len(done) {
		t.Errorf("the report is about %d sites in %d lines, and the push %s", len(done), lines, ended)
	}
	for _, name := range names {
		if line, begun := done[name]; begun {
			s.isAs(t, line)
		} else {
			s.revised(t, name, 1)
		}
	}
	p.run(t, args...).exits(t, 0, fmt.Sprintf("%d of them before, as the report says", len(done)))
	done, lines, ended = reportOf(t, p, "report")
	if ended != "complete" || len(done) != len(names) || lines != len(names) {
		t.Errorf("the report is about %d sites in %d lines, and the push %s", len(done), lines, ended)
	}
	for _, name := range names {
		s.isAs(t, done[name])
		s.revised(t, name, 2)
	}
}

// fleetUnpromoted posts a failure for the source in the middle of a push with --expect-success.
func fleetUnpromoted(t *testing.T, s *server) {
	t.Helper()
	names := fleetOf(t, s, "unpromoted")
	source := s.site("unpromoted")
	source.put(t, "policies", layeringPolicy("lp")+policy("p", "lab-validation")).is(t, http.StatusOK)
	source.report(t, 3, "lab-validation", "success")
	f := newFront(t, s)
	f.change = func(n int, w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if n == 3 {
			a, err := source.try(t.Context(), request{
				method: http.MethodPost, path: "revisions/3/validations/lab-validation", body: "{status: failure, validator: {name: lab}}", header: yamlBody(),
			})
			if err != nil || a.status != http.StatusCreated {
				t.Errorf("post a failure: %v %s", err, a.text)
			}
		}
		forward.ServeHTTP(w, r)
	}
	p := f.pusher(t)
	args := pushLine("unpromoted@latest", "report", "--expect-success", "--parallel", "1", "--max-failures", "99")
	p.run(t, args...).exits(t, 1, "10  refused, and not changed", "of the site unpromoted is no success (expect=success)", "lab-validation")
	done, _, _ := reportOf(t, p, "report")
	for i, name := range names {
		if i < 2 {
			s.isAs(t, done[name])
			s.revised(t, name, 2)
		} else {
			s.revised(t, name, 1)
		}
	}
	p.run(t, args...).exits(t, 1, "is a failure (--expect-success), and nothing was changed")
}

// A server that is killed in the middle of a push, and started again, has each site as the report says: none is lost,
// and none gets a second revision.
func TestFleet_killed(t *testing.T) {
	t.Parallel()
	database := storetest.URL(t)
	begun := func() *server { return launch(t, program, patientClient(), database) }
	s := begun()
	s.ready(t)
	names := fleetOf(t, s, "killed")
	f, again := newFront(t, s), make(chan struct{})
	f.change = func(n int, w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if n != 5 {
			forward.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(httptest.NewRecorder(), r) // it is made, and the answer is lost
		_ = s.process.Process.Kill()
		<-s.ended
		if s = begun(); s.await() != nil {
			t.Errorf("the server does not start again:\n%s", s.log.text())
		}
		f.leadsTo(s)
		close(again)
		panic(http.ErrAbortHandler)
	}
	p := f.pusher(t)
	args := pushLine("killed@latest", "report", "--parallel", "3", "--max-failures", "99")
	if got := p.run(t, args...); got.code == 0 {
		got.exits(t, 0, "  did not change\n", "an answer was lost: this push may have made the change before")
	} else {
		got.exits(t, 2, "could not be asked")
	}
	<-again
	t.Cleanup(func() { s.stop(t) })
	p.run(t, args...).exits(t, 0)
	done, _, ended := reportOf(t, p, "report")
	if ended != "complete" || len(done) != len(names) {
		t.Errorf("the report is about %d sites, and the push %s", len(done), ended)
	}
	for _, name := range names {
		s.isAs(t, done[name])
		s.revised(t, name, 2)
	}
}
