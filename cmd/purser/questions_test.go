package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/wire"
)

// fake is a server with scripted answers that records its requests.
type fake struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string
}

func newFake(t *testing.T, handle func(w http.ResponseWriter, r *http.Request)) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, strings.TrimSpace(r.Method+" "+strings.TrimPrefix(r.URL.RequestURI(), "/api/v1.0/")+" "+
			r.Header.Get("If-Match")))
		w.Header().Set("Content-Type", "application/json")
		handle(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// On a terminal, a push that deletes is shown and must be confirmed, and is made only if nothing has changed since.
func TestPush_asks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte("schema: acme/X/v1\nmetadata: {name: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for answer, code := range map[string]int{"y\n": 0, "yes\n": 0, "n\n": 1, "\n": 1, "": 1} {
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			w.Header().Set("ETag", `"7-abc"`)
			switch {
			case q.Get("dry-run") == "true":
				fmt.Fprint(w, `{"changed":true,"changes":{"deleted":2},"documents":[
					{"change":"deleted","bucket":"b","schema":"acme/X/v1","layer":null,"name":"gone"},
					{"change":"created","bucket":"b","schema":"acme/X/v1","layer":null,"name":"x"}]}`)
			case q.Get("max-deleted") == "0":
				w.WriteHeader(http.StatusConflict)
				fmt.Fprint(w, `{"kind":"Status","message":"too many","details":{"errorType":"TooManyDeleted"}}`)
			default:
				w.Header().Set("Purser-Revision", "8")
				w.Header().Set("Purser-Changes", "added=1, modified=0, deleted=2, unchanged=0")
				w.Header().Set("Purser-Status", "success; findings=0")
				fmt.Fprint(w, `{"findings":[]}`)
			}
		})
		var out, said bytes.Buffer
		got := run(t.Context(), []string{"push", "b", file, "--server", f.URL}, surroundings{
			stdin: strings.NewReader(answer), stdout: &out, stderr: &said, asks: true,
		})
		asked := []string{
			"PUT buckets/b/documents?findings=true&max-deleted=0", "PUT buckets/b/documents?diff=unified&dry-run=true&findings=true&rendered=true",
		}
		if code == 0 {
			asked = append(asked, `PUT buckets/b/documents?findings=true "7-abc"`)
		}
		if diff := cmp.Diff(asked, f.asked); diff != "" || got != code {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", answer, got, code, diff, said.String())
		}
		if !strings.HasPrefix(said.String(), "  would delete  b  [acme/X/v1] gone\nDelete 2 documents? [y/N] ") {
			t.Errorf("%q: it asks %q", answer, said.String())
		}
	}
}

// A push without any document, as of a wrong folder, is refused, even if it would delete nothing.
func TestPush_nothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"docs", "src"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "docs", "values.yaml"), []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"b", dir}, {"b", "-"}, {"--changeset", dir}, {"--changeset", dir, "--max-deleted", "1"}} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) })
		_, stderr, code := purser(t, append([]string{"push", "--server", f.URL}, args...)...)
		if code != exitFailed || len(f.asked) > 0 || !strings.Contains(stderr, "there are no documents in "+args[1]) {
			t.Errorf("%q: exit code %d, requests %q\n%s", args, code, f.asked, stderr)
		}
		if said := strings.Contains(stderr, "skipped, because nothing there has a schema: "); said != (args[1] == dir) {
			t.Errorf("%q: what was looked at is not said:\n%s", args, stderr)
		}
	}
}

// To post a result needs no other right: the server resolves the revision.
func TestResultsPost_onlyPosts(t *testing.T) {
	t.Parallel()
	for args, asked := range map[string]string{
		"17":                      "POST revisions/17/validations/v",
		"latest":                  "POST revisions/latest/validations/v",
		"tag:good --stamp abcdef": "POST revisions/tag:good/validations/v?revision-stamp=abcdef",
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"revision":17,"status":"success"}`) })
		stdout, stderr, code := purser(t, append(strings.Fields("results post v "+args), "--status", "success", "--server", f.URL)...)
		if diff := cmp.Diff([]string{asked}, f.asked); diff != "" || code != 0 || stdout != "Revision 17: v is a success\n" {
			t.Errorf("%s: exit code %d\n%s%s%s", args, code, diff, stdout, stderr)
		}
	}
}

// The result of a user says what it is about where the server shows it: a failure as an error, a success in the validator.
func TestVote(t *testing.T) {
	t.Parallel()
	by := `"validator":{"name":"purser","version":"` + versionText()
	for args, want := range map[string]string{
		"approve v":                 `{"status":"success","errors":[],` + by + `"}}`,
		"approve v 17 -m fine":      `{"status":"success","errors":[],` + by + `","message":"fine"}}`,
		"reject v 17 -m wrong":      `{"status":"failure","errors":[{"message":"wrong"}],` + by + `"}}`,
		"reject v --url http://h/1": `{"status":"failure","errors":[],` + by + `"},"url":"http://h/1"}`,
		"approve v --inputs schemas=a/*,b/*;layers=site;labels=role:x,y:": `{"status":"success","errors":[],` + by +
			`"},"inputs":{"schemas":["a/*","b/*"],"layers":["site"],"labels":{"role":"x","y":""}}}`,
		"results post v --status success --release 1 --inputs {\"buckets\":[\"net\"]}": `{"status":"success","errors":[],` +
			`"validator":{"name":"purser","version":"1"},"inputs":{"buckets":["net"]}}`,
	} {
		var sent string
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			sent = string(body)
			fmt.Fprint(w, `{"revision":17,"status":"success"}`)
		})
		stdout, stderr, code := purser(t, append(strings.Fields(args), "--server", f.URL)...)
		verb, _, _ := strings.Cut(args, " ")
		said := map[string]string{"approve": "approved", "reject": "rejected", "results": "a success"}[verb]
		if diff := cmp.Diff(want, sent); diff != "" || code != 0 || len(f.asked) != 1 ||
			stdout != "Revision 17: v is "+said+"\n" {
			t.Errorf("%s: exit code %d, %s (-want +got):\n%s%s", args, code, stdout, diff, stderr)
		}
	}
	for args, want := range map[string]string{
		"approve v --inputs schema=a/*":             `the key schema is unknown (did you mean schemas?)`,
		"approve v --inputs schemas=":               `schemas[0] is not a text of 1 to 255 characters`,
		"approve v --inputs [":                      "--inputs: line 1",
		"approve v --inputs site":                   "it is not a mapping",
		"approve v -m " + strings.Repeat("x", 1000): "--message is too long to be shown with an approval, by ",
		"results post v -f x --inputs schemas=a":    "--file holds the whole result; leave --status, --inputs and --url out",
	} {
		f := newFake(t, func(http.ResponseWriter, *http.Request) {})
		_, stderr, code := purser(t, append(strings.Fields(args), "--server", f.URL)...)
		if code != exitFailed || !strings.Contains(stderr, want) || len(f.asked) > 0 {
			t.Errorf("%s: exit code %d, asked %q\n%s", args, code, f.asked, stderr)
		}
	}
}

// A pull that cannot learn whether it was shown all documents deletes no files.
func TestPull_unsure(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/whoami"):
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"kind":"Status","message":"broken"}`)
		case strings.HasSuffix(r.URL.Path, "/documents"):
			w.Header().Set("Content-Type", "text/plain")
		default:
			fmt.Fprint(w, `{"id":3}`)
		}
	})
	dir := t.TempDir()
	at := filepath.Join(dir, "site", "Host", "old.yaml")
	wasPulled(t, dir, "schema: acme/Host/v1\nmetadata: {name: old, storagePolicy: encrypted}\n")
	_, stderr, code := purser(t, "pull", dir, "3", "--replace", "--server", f.URL)
	if _, err := os.Stat(at); err != nil || code != 2 || !strings.Contains(stderr, "broken") {
		t.Errorf("exit code %d, %v\n%s", code, err, stderr)
	}
}

// The command reads events up to the newest, and then waits for new ones.
func TestEvents(t *testing.T) {
	t.Parallel()
	const newest = 5
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		since, err := strconv.Atoi(q.Get("since"))
		switch {
		case err != nil:
			t.Errorf("since %q", q.Get("since"))
		case since == newest && q.Get("wait") != "":
			w.WriteHeader(http.StatusGone) // ends the command
			fmt.Fprint(w, `{"kind":"Status","message":"forgotten","details":{"errorType":"Gone"}}`)
			return
		}
		events := []map[string]any{}
		for id := since + 1; id <= min(since+2, newest); id++ {
			since = id
			events = append(events, map[string]any{
				"id": strconv.Itoa(id), "type": "purser.tag.set", "subject": "revisions/1", "time": "2026-11-21T10:00:00.123456Z",
				"data": map[string]any{"revision": 1, "tag": "t\x1b" + strconv.Itoa(id)},
			})
			if len(events) == 2 {
				break
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"cursor": strconv.Itoa(since), "events": events})
	})
	stdout, _, code := purser(t, "events", "--server", f.URL, "--type", "a", "--type", "b")
	if got := strings.Count(stdout, "\n"); code != 0 || got != newest {
		t.Errorf("exit code %d, %d events, want %d\n%s", code, got, newest, stdout)
	}
	if want := "2026-11-21 10:00:00Z  purser.tag.set  revisions/1  revision=1 tag=t⟨U+001B⟩1\n"; !strings.HasPrefix(stdout, want) {
		t.Errorf("it prints %q, want %q", stdout, want)
	}
	f.asked = nil
	stdout, stderr, code := purser(t, "events", "--server", f.URL, "--follow", "--since", "3", "-o", "json")
	if code != 2 || strings.Count(stdout, "\n") != 2 || !strings.Contains(stderr, "forgotten") {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	want := []string{"GET events?since=3", "GET events?since=5", "GET events?since=5&wait=30s"}
	if diff := cmp.Diff(want, f.asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// A search that has not looked at all documents says so, and how to go on.
func TestShow_searched(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/documents") && !r.URL.Query().Has("searched") {
			w.Header().Set("Purser-Searched", "10000")
		}
		if strings.HasSuffix(r.URL.Path, "/documents") {
			fmt.Fprint(w, "[]")
			return
		}
		fmt.Fprint(w, `{"id":1,"stamp":"0000000000000001"}`)
	})
	const further = "purser: the first 10000 documents were searched, and others may match: select fewer, by --schema, " +
		"--bucket or --label, or go on with --searched 10000\n"
	for args, want := range map[string]string{"": further, "--searched=10000": "purser: no document matches\n"} {
		all := append([]string{"show", "--server", f.URL, "-o", "json", "--search", "x"}, strings.Fields(args)...)
		if _, stderr, code := purser(t, all...); stderr != want || code != 0 {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
}

// The output of each command, in each format.
func TestOutput_forms(t *testing.T) {
	t.Parallel()
	const list = `{"count":2,"results":[
		{"id":2,"stamp":"a","kind":"rollback","rolledBackTo":1,"user":"anna","message":"two\nlines\u001b[0m","createdAt":"2026-11-22T09:42:22.160686","buckets":["b","c"],"status":"failed","tags":["good"]},
		{"id":1,"stamp":"b","kind":"put","user":null,"message":null,"createdAt":"2026-11-22T09:42:21.160686","buckets":["b"],"status":"success","tags":[]}],"next":null}`
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, list) })
	for form, want := range map[string]string{
		"table": "REVISION  STATUS   AT                    USER  BUCKETS  TAGS  MESSAGE\n" +
			"2         failure  2026-11-22 09:42:22Z  anna  b,c      good  rollback to 1: two lines⟨U+001B⟩[0m\n" +
			"1         success  2026-11-22 09:42:21Z  -     b        -\n",
		"name": "2\n1\n",
		"yaml": "count: 2\nresults:\n- id: 2\n  stamp: a\n",
		"json": `{"count":2,"results":[{"id":2,"stamp":"a",`,
	} {
		stdout, stderr, code := purser(t, "log", "--server", f.URL, "-o", form)
		if got := stdout[:min(len(stdout), len(want))]; got != want || code != 0 {
			t.Errorf("-o %s: exit code %d %s\n%s", form, code, stderr, cmp.Diff(want, got))
		}
	}
	if _, stderr, code := purser(t, "log", "--server", f.URL, "-o", "xml"); code != 2 || !strings.Contains(stderr, "must be one of") {
		t.Errorf("-o xml: exit code %d, %s", code, stderr)
	}
}

// Whichever pages are empty, JSON and YAML are one list.
func TestFindingsPage_empty(t *testing.T) {
	t.Parallel()
	one := wire.Finding{Level: "error", Validation: "v", Message: "no"}
	for _, pages := range [][]int{{0, 0}, {0, 1}, {1, 0}, {1, 0, 2}, {0, 0, 1, 0}, {2, 3}} {
		for _, form := range []string{"json", "yaml"} {
			text, all := "", 0
			for i, n := range pages {
				page := findingsPage{wire.Findings{Findings: slices.Repeat([]wire.Finding{one}, n)}, nil, i == 0, i == len(pages)-1, all}
				text, all = text+page.in(form, "4", false), all+n
			}
			var got struct {
				Findings *[]wire.Finding `json:"findings"`
			}
			value, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
			if form == "json" {
				err = errors.Join(err, json.Unmarshal([]byte(text), &got))
			}
			if err != nil || json.Unmarshal(document.AppendJSON(nil, value), &got) != nil || got.Findings == nil || len(*got.Findings) != all {
				t.Errorf("%v -o %s: %v\n%s", pages, form, err, text)
			}
		}
	}
}

// Findings are read page by page, whatever their number, and the pages make one text.
func TestFindings_pages(t *testing.T) {
	t.Parallel()
	var cut atomic.Bool // the last page says that others were not examined
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		next, first := map[string]string{"": "0.2.2", "0.2.2": "9.2.0", "9.2.0": ""}[r.URL.Query().Get("after")], len(r.URL.Query().Get("after"))
		found := wire.Findings{
			Revision: new(int64(4)), Counts: wire.Counts{Total: 4, More: next != "" || cut.Load()}, Next: wire.Optional(next),
			Findings: []wire.Finding{{Level: "error", Validation: fmt.Sprintf("v%d", first), Message: "no\u202e"}, {Level: "error", Validation: "w", Message: "no"}},
		}
		if json.NewEncoder(w).Encode(found) != nil {
			t.Error("not encoded")
		}
	})
	const lines = "error: v0: no⟨U+202E⟩\nerror: w: no\n"
	all := lines + strings.ReplaceAll(lines+lines, "v0", "v5")
	for args, want := range map[string]string{
		"":                  all,
		"--limit 2":         lines + "and at least 2 more\n",
		"-o name":           "v0\nw\nv5\nw\nv5\nw\n",
		"-o name --limit 2": "v0\nw\n",
	} {
		stdout, stderr, code := purser(t, append(strings.Fields("findings latest --server "+f.URL), strings.Fields(args)...)...)
		if diff := cmp.Diff(want, stdout); diff != "" || code != 0 {
			t.Errorf("%q: exit code %d %s\n%s", args, code, stderr, diff)
		}
	}
	cut.Store(true)
	if stdout, _, _ := purser(t, "findings", "--server", f.URL); stdout != all+"and perhaps others, which were not examined\n" {
		t.Errorf("a list that is not complete:\n%s", stdout)
	}
	for _, form := range []string{"json", "yaml"} {
		stdout, stderr, code := purser(t, "findings", "--server", f.URL, "-o", form)
		var got wire.Findings
		value, err := document.ParseOne(t.Context(), []byte(stdout), document.YAML, document.DefaultLimits())
		if err != nil || code != 0 || json.Unmarshal(document.AppendJSON(nil, value), &got) != nil || len(got.Findings) != 6 || got.Total != 4 || got.Next != "" {
			t.Errorf("-o %s: exit code %d %s, %v\n%s", form, code, stderr, err, stdout)
		}
	}
	want := []string{
		"GET revisions/latest/findings?limit=10000", "GET revisions/4/findings?after=0.2.2&limit=10000",
		"GET revisions/4/findings?after=9.2.0&limit=10000",
	}
	f.asked = nil
	if purser(t, "findings", "--server", f.URL); !cmp.Equal(want, f.asked) {
		t.Errorf("requests (-want +got):\n%s", cmp.Diff(want, f.asked))
	}
}

// Without --layer, the log of a document is that of the one without a layer, or else of the one in the newest revision.
func TestLog_layer(t *testing.T) {
	t.Parallel()
	const missing = "No revision has a document"
	for name, c := range map[string]struct {
		stored, args string // stored are layers, - for none
		want         string
		code         int
	}{
		"without a layer":     {"-", "", "revision 1", 0},
		"in one layer":        {"site", "", "revision 1", 0},
		"in several":          {"global site", "", "several layers have a document acme/Host/v1/a: add --layer global or site", exitFailed},
		"in the one given":    {"global site", "--layer site", "revision 1", 0},
		"in another than it":  {"global", "--layer site", missing, exitFailed},
		"in none":             {"", "", missing, exitFailed},
		"in none, with a way": {"", "", "add --layer", exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
				layer, isHistory := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/a/history"), "/api/v1.0/documents/acme/Host/v1/")
				switch {
				case isHistory && slices.Contains(strings.Fields(c.stored), layer):
					io.WriteString(w, `{"results":[{"revision":1,"change":"created"}]}`)
				case isHistory:
					w.WriteHeader(http.StatusNotFound)
					io.WriteString(w, `{"kind":"Status","message":"`+missing+`","details":{"errorType":"DocumentNotFound"}}`)
				default:
					var documents []string
					for layer := range strings.FieldsSeq(c.stored) {
						documents = append(documents, `{"schema":"acme/Host/v1","metadata":{"name":"a","layeringDefinition":{"layer":"`+layer+`"}}}`)
					}
					io.WriteString(w, "["+strings.Join(documents, ",")+"]")
				}
			})
			args := append([]string{"log", "--document", "acme/Host/v1/a", "--server", f.URL}, strings.Fields(c.args)...)
			stdout, stderr, code := purser(t, args...)
			if !strings.Contains(stdout+stderr, c.want) || code != c.code {
				t.Errorf("exit code %d, %q, %q, want %d, %q", code, stdout, stderr, c.code, c.want)
			}
		})
	}
}
