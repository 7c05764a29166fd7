package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// claimed is the answer to a request for work.
const claimed = `{"id":"c1","revision":17,"stamp":"ab","validation":"v","attempt":1,"documents":"http://x/docs"}`

// working is a server with work, which records the results that are posted.
func working(t *testing.T, refused string) (f *fake, posted *[]string) {
	t.Helper()
	posted = new([]string)
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/claims"):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, claimed)
		case r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			*posted = append(*posted, string(body))
			if refused != "" {
				w.WriteHeader(http.StatusConflict)
				fmt.Fprintf(w, `{"kind":"Status","code":"409 Conflict","message":%q}`, refused)
				return
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"revision":17,"status":"success"}`)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprint(w, claimed)
		}
	}), posted
}

// The exit code of the command is the status, and what it writes to a file is the rest of the result.
func TestWork(t *testing.T) {
	t.Parallel()
	const result = "POST revisions/17/validations/v?claim=c1&revision-stamp=ab"
	for name, c := range map[string]struct {
		script, refused string
		code            int
		last            string // request
		body            string
		says            string // on either output
	}{
		"success": {
			"test $PURSER_REVISION$PURSER_STAMP$PURSER_VALIDATION$PURSER_DOCUMENTS = 17abvhttp://x/docs", "", 0, result,
			`{"status":"success","validator":{"name":"sh"}}`, "Revision 17: v is a success",
		},
		"failure": {
			"exit 3", "", exitNo, result,
			`{"status":"failure","validator":{"name":"sh"},"errors":[{"message":"sh: exit status 3"}]}`, "v is a failure",
		},
		"a result": {
			`echo '{status: success, url: "http://x", errors: [{message: m}], validator: {name: n}}' >$PURSER_RESULT; exit 1`,
			"", exitNo, result,
			`{"status":"failure","url":"http://x","errors":[{"message":"m"}],"validator":{"name":"n"}}`, "",
		},
		"lost":           {"true", "w2 has claimed it", 0, result, `{"status":"success","validator":{"name":"sh"}}`, "w2 has claimed it"},
		"not a result":   {"echo text >$PURSER_RESULT", "", exitFailed, "", "", "the claim runs out: PURSER_RESULT must have a mapping"},
		"killed":         {"kill -9 $$", "", exitFailed, "", "", "revision 17: v: the claim runs out: run sh: signal: killed"},
		"its own output": {"echo hello", "", 0, result, `{"status":"success","validator":{"name":"sh"}}`, "hello"},
	} {
		f, posted := working(t, c.refused)
		stdout, stderr, code := purser(t, "work", "--once", "--server", f.URL, "--worker", "w", "v", "--", "sh", "-c", c.script)
		var body string
		if len(*posted) > 0 {
			body = (*posted)[0]
		}
		want := slices.DeleteFunc([]string{"POST claims", c.last}, func(request string) bool { return request == "" })
		got := append([]string{}, f.asked...)
		for i := range got {
			got[i], _, _ = strings.Cut(got[i], "?wait=")
		}
		if diff := cmp.Diff(want, got); diff != "" || code != c.code || body != c.body || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("%s: exit code %d, body %s\n%s%s%s", name, code, body, diff, stdout, stderr)
		}
	}
}

// A worker for all sites claims there, and does the rest in the site of the claim, which its command gets too.
func TestWork_sites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags, site, from, to string // the site of the claim; the requests for work, and those about it, begin with these
		command               string // the site that the command gets
	}{
		"none":        {"", "", "", "", "default"},
		"one":         {"--site atl1", "", "/sites/atl1/api/v1.0/", "/sites/atl1/api/v1.0/", "atl1"},
		"default":     {"--site default", "", "", "", "default"},
		"all":         {"--all-sites", "bos1", "/sites/-/api/v1.0/", "/sites/bos1/api/v1.0/", "bos1"},
		"all, too":    {"--site -", "bos1", "/sites/-/api/v1.0/", "/sites/bos1/api/v1.0/", "bos1"},
		"all, old":    {"--all-sites", "default", "/sites/-/api/v1.0/", "", "default"},
		"all, silent": {"--all-sites", "", "/sites/-/api/v1.0/", "", ""},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, strings.Replace(claimed, "{", `{"site":"`+c.site+`",`, 1))
		})
		args := append([]string{"work", "--once", "--server", f.URL}, strings.Fields(c.flags)...)
		stdout, stderr, code := purser(t, append(args, "v", "--", "sh", "-c", "echo site $PURSER_SITE")...)
		asked := append([]string{}, f.asked...)
		for i := range asked {
			asked[i], _, _ = strings.Cut(asked[i], "?")
		}
		if c.command == "" {
			if code != exitFailed || !strings.Contains(stderr, "does not say of which") {
				t.Errorf("%s: exit code %d: %s", name, code, stderr)
			}
			continue
		}
		want := []string{"POST " + c.from + "claims", "POST " + c.to + "revisions/17/validations/v"}
		if diff := cmp.Diff(want, asked); diff != "" || code != 0 || !strings.HasPrefix(stdout, "site "+c.command+"\n") {
			t.Errorf("%s: exit code %d\n%s%s%s", name, code, diff, stdout, stderr)
		}
	}
}

// While the command runs, its claim is extended; if it is lost, the command is stopped.
func TestWork_extends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	extended := filepath.Join(dir, "extended")
	var asked int
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/claims"):
			w.WriteHeader(http.StatusCreated)
		case r.Method == http.MethodPut:
			if asked++; asked == 2 {
				w.WriteHeader(http.StatusConflict)
				fmt.Fprint(w, `{"kind":"Status","code":"409 Conflict","message":"w2 has claimed it"}`)
				return
			}
			writeFile(t, extended, "")
		}
		fmt.Fprint(w, claimed)
	})
	_, stderr, code := purser(t, "work", "--once", "--claim-timeout", "150ms", "--server", f.URL, "v", "--", "sh", "-c",
		"exec sleep 600")
	if code != exitNo || !strings.Contains(stderr, "w2 has claimed it") || asked != 2 {
		t.Errorf("exit code %d, %d requests: %s", code, asked, stderr)
	}
	if _, err := os.Stat(extended); err != nil {
		t.Error(err)
	}
}

// Interrupted, it gives the work back.
func TestWork_interrupted(t *testing.T) {
	t.Parallel()
	f, posted := working(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	began := filepath.Join(dir, "began")
	var stdout, stderr bytes.Buffer
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"work", "--server", f.URL, "v", "--", "sh", "-c", "touch " + began + "; exec sleep 600"},
			surroundings{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr})
	}()
	for {
		if _, err := os.Stat(began); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	code := <-done
	if last := f.asked[len(f.asked)-1]; code != exitFailed || last != "DELETE claims/c1" || len(*posted) > 0 {
		t.Errorf("exit code %d, requests %q: %s", code, f.asked, &stderr)
	}
}

func TestWork_arguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"v":                 "name the validations and the command",
		"v --":              "name the validations and the command",
		"v --once -- true":  "flags come before them",
		"-- true":           "name the validations and the command",
		"v -- /nonexistent": "start /nonexistent",
	} {
		f, _ := working(t, "")
		_, stderr, code := purser(t, append([]string{"work", "--server", f.URL}, strings.Fields(args)...)...)
		if code != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
}

func TestClaimsCommand(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"count":2,"results":[{"revision":17,"stamp":"ab","validation":"v","state":"claimed","attempt":1,
			"worker":"w:1","since":"2026-11-26T10:00:00.123456","expiresAt":"2026-11-26T10:05:00.123456","progress":"half"},
			{"revision":17,"stamp":"ab","validation":"u","state":"open","attempt":0,"worker":"w:0",
			"since":"2026-11-26T09:00:00.123456","reason":"new switches"}],"next":null}`)
	})
	stdout, stderr, code := purser(t, "claims", "--server", f.URL)
	const want = `REVISION  VALIDATION  STATE    ATTEMPT  WORKER  SINCE                 EXPIRES               PROGRESS  REASON
17        v           claimed  1        w:1     2026-11-26 10:00:00Z  2026-11-26 10:05:00Z  half      -
17        u           open     0        -       -                     -                     -         new switches
`
	if diff := cmp.Diff(want, stdout); diff != "" || code != 0 {
		t.Errorf("exit code %d: %s\n%s", code, stderr, diff)
	}
}

func TestResultsRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"revision":17,"stamp":"ab","validation":"v","requestedAt":"x","reason":%s}`, body[len(`{"reason":`):len(body)-1])
	})
	stdout, stderr, code := purser(t, "results", "request", "v", "17", "-m", "why", "--server", f.URL)
	if code != 0 || stdout != "Revision 17: a new result of v is asked for\n" || f.asked[0] != "POST revisions/17/validations/v/request" {
		t.Errorf("exit code %d: %s%s %q", code, stdout, stderr, f.asked)
	}
}
