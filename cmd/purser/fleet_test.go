package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fleetServer is a server whose sites are named after the outcome of a push: same, new, bad, none or no, and a number. It
// records changes, but no dry runs.
type fleetServer struct {
	*fake

	sites   []string // of the list
	revised int      // the newest revision of the site global
	put     []string
	onPut   func()
}

func newFleet(t *testing.T, sites ...string) *fleetServer {
	t.Helper()
	s := &fleetServer{sites: sites, revised: 17, onPut: func() {}}
	s.fake = newFake(t, func(w http.ResponseWriter, r *http.Request) {
		site, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/sites/"), "/api/v1.0/")
		switch {
		case r.URL.Path == "/sites":
			s.list(w, r)
		case r.Method == http.MethodPut:
			s.take(w, r, site)
		case site == "global" && strings.HasPrefix(path, "revisions/9/status"):
			fmt.Fprint(w, `{"revision":9,"status":"failure"}`)
		case site == "global" && strings.HasPrefix(path, "revisions/none"):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","message":"There is none","details":{"errorType":"RevisionNotFound"}}`)
		case site == "global" && strings.HasPrefix(path, "revisions/9"):
			fmt.Fprint(w, `{"id":9,"stamp":"cd"}`)
		case site == "global" && strings.HasSuffix(path, "/status"):
			fmt.Fprintf(w, `{"revision":%d,"status":"success"}`, s.revised)
		case site == "global":
			fmt.Fprintf(w, `{"id":%d,"stamp":"ab"}`, s.revised)
			s.revised++ // whoever asks again is told of another one
		default:
			t.Errorf("asked for %s", r.URL)
		}
	})
	return s
}

// list answers with a page of at most two sites.
func (s *fleetServer) list(w http.ResponseWriter, r *http.Request) {
	const most = 2
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	var found []string
	for _, site := range s.sites[min(offset, len(s.sites)):] {
		if len(found) == most {
			break
		}
		found = append(found, fmt.Sprintf(`{"name":%q,"status":"success","labels":{"wave":%q},"sources":{"base":{"site":"global",
			"revision":9,"stamp":"cd","bucket":"base","behind":3}}}`, site, site[len(site)-1:]))
	}
	next := "null"
	if offset+most < len(s.sites) {
		next = `"more"`
	}
	fmt.Fprintf(w, `{"count":%d,"results":[%s],"next":%s}`, len(found), strings.Join(found, ","), next)
}

// take answers to a PUT to a site.
func (s *fleetServer) take(w http.ResponseWriter, r *http.Request, site string) {
	w.Header().Set("ETag", `"4-aa"`)
	dryRun := r.URL.Query().Get("dry-run") == "true"
	if !dryRun {
		s.put = append(s.put, site)
		s.onPut()
		w.Header().Set("ETag", `"5-bb"`)
		w.Header().Set("Purser-Status", "success; findings=0")
	}
	switch {
	case strings.HasPrefix(site, "same"):
		w.Header().Del("Purser-Status")
		fmt.Fprint(w, `{"changed":false,"status":"success"}`)
	case strings.HasPrefix(site, "new"):
		fmt.Fprint(w, `{"changed":true,"status":"success"}`)
	case strings.HasPrefix(site, "bad"):
		fmt.Fprint(w, `{"changed":true,"status":"failure","validations":[{"name":"v","status":"failure"}],
			"beginToFail":{"count":1,"documents":[{"schema":"acme/Host/v1","layer":"site","name":"`+site+`-cmp"}]},
			"findings":[{"level":"error","validation":"deckhand-schema-validation","document":{"schema":"acme/Host/v1","layer":"site",
			"name":"`+site+`-cmp"},"path":".data.mtu","message":"9001 is greater than the maximum of 9000"}]}`)
	case strings.HasPrefix(site, "none"):
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"kind":"Status","message":"Something is wrong","details":{"errorType":"InternalError"}}`)
	default:
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, `{"kind":"Status","message":"The site %s is full","details":{"errorType":"SiteFull"}}`, site)
	}
}

var tookTime = regexp.MustCompile(`, (\d+ min )?\d+ s`)

// fleetPushed runs purser fleet push with arguments, and returns what it prints without times.
func fleetPushed(t *testing.T, s *fleetServer, args string) (stdout, stderr string, code int) {
	t.Helper()
	stdout, stderr, code = purser(t, append(strings.Fields("fleet push base "+args), "--server", s.URL)...)
	return tookTime.ReplaceAllString(stdout, ", 0 s"), stderr, code
}

// A dry run prints groups and changes nothing.
func TestFleetPush_dryRun(t *testing.T) {
	t.Parallel()
	s := newFleet(t, "bad1", "bad2", "global", "new1", "new2", "no1", "same1", "same2", "same3")
	for args, c := range map[string]struct {
		want string
		code int
	}{
		"--from global@tag:candidate --sites type=x --dry-run": {`8 sites, 16 at a time, 0 s
3  would not change
2  would change, and stay success
2  would FAIL: bad1 bad2
     [acme/Host/v1, site] …-cmp .data.mtu: 9001 is greater than the maximum of 9000
1  would be refused: no1
     The site … is full
`, exitNo},
		"--from global@latest --follows --dry-run --group 3": {`2  would FAIL
     [acme/Host/v1, site] …-cmp .data.mtu: 9001 is greater than the maximum of 9000
bad1
bad2
`, exitNo},
	} {
		stdout, stderr, code := fleetPushed(t, s, args)
		if diff := cmp.Diff(c.want, stdout); diff != "" || code != c.code || len(s.put) > 0 {
			t.Errorf("%s: exit code %d, put %v\n%s%s", args, code, s.put, diff, stderr)
		}
	}
	if _, stderr, code := fleetPushed(t, s, "--from global@latest --follows --dry-run --group 9"); code != exitFailed ||
		!strings.Contains(stderr, "there is no group 9: there are 4") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// All sites get the revision that a name stood for at the start, and the question about sites is that of the flags.
func TestFleetPush_source(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct{ list, from, says string }{
		"--from global@tag:candidate --sites a=b --sites c=": {
			"archived=false&label=a%3Db&label=c%3D&limit=1000", "from=global%4017-ab%2Fbase",
			"global@tag:candidate is revision 17 of global, and its bucket base is for bucket base of 3 sites",
		},
		"--from global@latest/other --sites a=b --expect-success -m why --max-deleted 3": {
			"archived=false&label=a%3Db&limit=1000", "expect=success&findings=true&from=global%4017-ab%2Fother&max-deleted=3&message=why", "bucket other",
		},
		"--from global@9 --follows --yes": {"archived=false&follows=global&limit=1000", "dry-run=true&findings=true&from=global%409-cd%2Fbase", "is revision 9"},
	} {
		s := newFleet(t, "new1", "new2", "new3")
		_, stderr, code := fleetPushed(t, s, args+" --dry-run")
		puts := 0
		for _, asked := range s.asked {
			if strings.HasPrefix(asked, "PUT ") {
				puts++
				if !strings.Contains(asked, want.from) {
					t.Errorf("%s: asked %s, want %s", args, asked, want.from)
				}
			}
		}
		if code != 0 || puts != 3 || !strings.Contains(stderr, want.says) || !strings.Contains(strings.Join(s.asked, "\n"), "GET /sites?"+want.list) {
			t.Errorf("%s: exit code %d, asked %q\n%s", args, code, s.asked, stderr)
		}
	}
}

// What a command line must have, and what is said if no site is selected.
func TestFleetPush_refuses(t *testing.T) {
	t.Parallel()
	for args, c := range map[string]struct {
		says string
		code int
	}{
		"--from global --sites a=b":                      {"--from must be SITE@REVISION", exitFailed},
		"--from global@ --sites a=b":                     {"--from must be SITE@REVISION", exitFailed},
		"--from Global@1 --sites a=b":                    {"did you mean global?", exitFailed},
		"--from global@1":                                {"name the sites: --sites KEY=VALUE", exitFailed},
		"--from global@1 --sites a":                      {"--sites a: a label is KEY=VALUE", exitFailed},
		"--from global@1 --sites a=b --parallel 0":       {"--parallel must be from 1 to 256", exitFailed},
		"--from global@1 --sites a=b --max-failures 0":   {"--max-failures must be at least 1", exitFailed},
		"--from global@1 --sites a=b --group=-1":         {"--group must be the number of a group", exitFailed},
		"--from global@1 --sites a=b":                    {"has the labels a=b: purser sites lists the sites", exitFailed},
		"--from global@1 --follows":                      {"fleet status global lists those that do", exitFailed},
		"--from global@none --sites a=b":                 {"There is none", exitFailed},
		"--from global@9 --sites a=b --expect-success":   {"revision 9 of global is a failure (--expect-success)", exitNo},
		"--from global@1 --sites a=b --report /no/where": {"open the report", exitFailed},
	} {
		s := newFleet(t, "global")
		if strings.Contains(args, "--report") {
			s.sites = []string{"new1"}
		}
		stdout, stderr, code := fleetPushed(t, s, args)
		if code != c.code || !strings.Contains(stderr, c.says) || len(s.put) > 0 {
			t.Errorf("%s: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

// reportLines returns the lines of a report about sites, as NAME OUTCOME REVISION, and about how runs ended.
func reportLines(t *testing.T, path string) (lines []string) {
	t.Helper()
	for text := range strings.Lines(textOf(t, path)) {
		var line struct {
			Site     string `json:"site"`
			Outcome  string `json:"outcome"`
			Ended    string `json:"ended"`
			Stamp    string `json:"stamp"`
			Revision int64  `json:"revision"`
			Sites    int    `json:"sites"`
			Left     int    `json:"left"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch {
		case line.Ended != "":
			lines = append(lines, fmt.Sprintf("%s %d %d", line.Ended, line.Sites, line.Left))
		case line.Site != "":
			lines = append(lines, fmt.Sprintf("%s %s %d-%s", line.Site, line.Outcome, line.Revision, line.Stamp))
		}
	}
	return lines
}

// A push changes sites in waves until one fails, and goes on where it ended once that is mended.
func TestFleetPush_waves(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report")
	s := newFleet(t, "new1", "same2", "bad3", "new3", "new4")
	args := "--from global@9 --sites type=x --waves wave --parallel 1 --report " + path
	stdout, stderr, code := fleetPushed(t, s, args)
	const want = `3 sites, 1 at a time, 0 s
1  did not change
1  changed, and stayed success
1  would FAIL: bad3
     [acme/Host/v1, site] …-cmp .data.mtu: 9001 is greater than the maximum of 9000
1  not begun: wave 3
1  not begun: wave 4
`
	const says = "purser: stopped after 1 failure (--max-failures 1); 2 sites not begun\n"
	if diff := cmp.Diff(want, stdout); diff != "" || code != exitNo || !strings.HasSuffix(stderr, says) {
		t.Errorf("exit code %d\n%s%s", code, diff, stderr)
	}
	if diff := cmp.Diff([]string{"new1", "same2"}, s.put); diff != "" {
		t.Errorf("put (-want +got):\n%s", diff)
	}
	lines := []string{"new1 success 5-bb", "same2 unchanged 5-bb", "bad3 would-fail 4-aa", "stopped 3 2"}
	if diff := cmp.Diff(lines, reportLines(t, path)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if _, stderr, code := fleetPushed(t, s, strings.Replace(args, "@9", "@latest", 1)); code != exitFailed ||
		!strings.Contains(stderr, "is about copies of bucket base of global@9, whose stamp is cd, to bucket base, and not about copies") {
		t.Errorf("of another revision: exit code %d, %s", code, stderr)
	}
	// A crash has cut the file in a line.
	if err := os.WriteFile(path, []byte(textOf(t, path)+`{"site":"new3","outc`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.sites, s.put = []string{"new1", "same2", "new3", "new4"}, nil
	stdout, stderr, code = fleetPushed(t, s, args)
	const after = `4 sites, 1 at a time, 0 s; 2 of them before, as the report says
1  did not change
3  changed, and stayed success
`
	if diff := cmp.Diff(after, stdout); diff != "" || code != 0 {
		t.Errorf("exit code %d\n%s%s", code, diff, stderr)
	}
	if diff := cmp.Diff([]string{"new3", "new4"}, s.put); diff != "" {
		t.Errorf("put (-want +got):\n%s", diff)
	}
	lines = append(lines, "new3 success 5-bb", "new4 success 5-bb", "complete 4 0")
	if diff := cmp.Diff(lines, reportLines(t, path)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// A dry run that is made again with its report asks only the sites that could not be asked.
func TestFleetPush_dryRunAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report")
	s := newFleet(t, "bad1", "bad2", "new1", "none1")
	args := "--from global@9 --sites type=x --dry-run --report " + path
	first, stderr, code := fleetPushed(t, s, args)
	if code != exitFailed || !strings.HasSuffix(stderr, "purser: 1 site could not be asked\n") ||
		!strings.HasSuffix(first, "1  could not be asked: none1\n     Something is wrong\n") {
		t.Errorf("exit code %d: %s%s", code, first, stderr)
	}
	s.asked = nil
	again, stderr, code := fleetPushed(t, s, args)
	begin, rest, _ := strings.Cut(again, "\n")
	_, want, _ := strings.Cut(first, "\n")
	if diff := cmp.Diff(want, rest); diff != "" || code != exitFailed || !strings.HasSuffix(begin, "; 3 of them before, as the report says") {
		t.Errorf("exit code %d: %s\n%s%s", code, begin, diff, stderr)
	}
	puts := slices.DeleteFunc(s.asked, func(asked string) bool { return !strings.HasPrefix(asked, "PUT ") })
	if len(puts) != 1 || !strings.Contains(puts[0], "/sites/none1/") {
		t.Errorf("asked %q", puts)
	}
	if _, stderr, code := fleetPushed(t, s, strings.Replace(args, "--dry-run ", "", 1)); code != exitFailed || len(s.put) > 0 ||
		!strings.Contains(stderr, "is about dry runs of bucket base") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// After a signal the site that was begun is finished, and the report says what was not begun.
func TestFleetPush_interrupted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report")
	s := newFleet(t, "new1", "new2", "new3")
	ctx, stop := context.WithCancel(t.Context())
	s.onPut = stop
	var out, said bytes.Buffer
	code := run(ctx, append(strings.Fields("fleet push base --parallel 1 --from global@9 --sites type=x --report"), path, "--server", s.URL),
		surroundings{stdin: strings.NewReader(""), stdout: &out, stderr: &said})
	const want = "1 site, 1 at a time, 0 s\n1  changed, and stayed success\n2  not begun\n"
	if got := tookTime.ReplaceAllString(out.String(), ", 0 s"); code != exitFailed || got != want || !strings.HasSuffix(said.String(), "purser: interrupted\n") {
		t.Errorf("exit code %d: %s%s", code, got, said.String())
	}
	if diff := cmp.Diff([]string{"new1 success 5-bb", "interrupted 1 2"}, reportLines(t, path)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// A second signal ends the process although a push is not done, and does not wait.
func TestInterrupt_again(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fleetPushes.Lock()
		began, again := time.Now(), make(chan os.Signal, 1)
		again <- os.Interrupt
		code := 0
		interrupt([]string{"fleet", "push"}, again, func(ended int) { code = ended })
		if code != exitFailed || time.Since(began) != 0 {
			t.Errorf("exit code %d after %v", code, time.Since(began))
		}
		fleetPushes.Unlock()
		time.Sleep(time.Minute) // so that nothing waits any more; a fake sleep
	})
}

// On a terminal a line shows the progress, and nothing of it stays.
func TestFleetPush_progress(t *testing.T) {
	t.Parallel()
	s := newFleet(t, "new1", "new2")
	var out, said bytes.Buffer
	code := run(t.Context(), append(strings.Fields("fleet push base --from global@9 --sites type=x --dry-run --server"), s.URL),
		surroundings{stdin: strings.NewReader(""), stdout: &out, stderr: &said, live: true})
	if code != 0 || !strings.Contains(said.String(), " of 2 sites, ") || !strings.HasSuffix(said.String(), eraseLine) || strings.Contains(out.String(), "/s") {
		t.Errorf("exit code %d: %q %q", code, out.String(), said.String())
	}
}

// A list of sites that changes while it is read is not taken for a whole one.
func TestEachSite(t *testing.T) {
	t.Parallel()
	s := newFleet(t, "new1", "new2", "new3", "new4")
	s.Config.Handler = func(before http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("offset") == "1" { // the second page
				s.sites = s.sites[1:]
			}
			before.ServeHTTP(w, r)
		}
	}(s.Config.Handler)
	_, stderr, code := fleetPushed(t, s, "--from global@9 --sites type=x")
	if code != exitFailed || !strings.Contains(stderr, "sites were made or deleted while the list of them was read") || len(s.put) > 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Sites that follow a site are listed with the buckets that do.
func TestFleetStatus(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"results":[
			{"name":"atl1","status":"success","sources":{"layer":{"site":"global","revision":17,"stamp":"ab","bucket":"base","behind":0},
				"net":{"site":"global","revision":3,"stamp":"cd","bucket":"net","behind":1000}}},
			{"name":"bos1","status":"failure","archived":true,"sources":{"base":{"site":"global","revision":9,"stamp":"ef","bucket":"base"}}}]}`)
	})
	const head = "SITE  STATUS              BUCKET  FROM            BEHIND\n"
	const asked = "GET /sites?follows=global&limit=1000&offset=0"
	for args, want := range map[string]string{
		"": head + `atl1  success             layer   global@17/base  0
atl1  success             net     global@3/net    1000 or more
bos1  failure (archived)  base    global@9/base   unknown
`,
		"--bucket base --behind -o name": "bos1\n",
		"--behind -o name":               "atl1\nbos1\n",
		"--bucket other -o json":         `{"count":0,"results":[]}` + "\n",
	} {
		f.asked = nil
		stdout, stderr, code := purser(t, append(strings.Fields("fleet status global "+args), "--server", f.URL)...)
		if diff := cmp.Diff(want, stdout); diff != "" || code != 0 || !slices.Equal(f.asked, []string{asked}) {
			t.Errorf("%s: exit code %d, asked %q\n%s%s", args, code, f.asked, diff, stderr)
		}
	}
	if _, stderr, code := purser(t, "fleet", "status", "Global", "--server", f.URL); code != exitFailed || !strings.Contains(stderr, "did you mean global?") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
