package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The site of a command is that of the flag, the environment, the configuration file or the server's URL, in this order.
func TestSite_precedence(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[]}`) })
	for _, c := range []struct{ flag, env, file, url, want string }{
		{"", "", "", "", "buckets"},
		{"", "", "", "/sites/url", "/sites/url/api/v1.0/buckets"},
		{"", "", "file", "/sites/url/api/v1.0", "/sites/file/api/v1.0/buckets"},
		{"", "env", "file", "/sites/url", "/sites/env/api/v1.0/buckets"},
		{"flag", "env", "file", "/sites/url", "/sites/flag/api/v1.0/buckets"},
		{"default", "env", "file", "/sites/url", "buckets"},
		{"", "default", "file", "", "buckets"},
		{"", "", "default", "/sites/url", "buckets"},
		{"", "", "default", "", "buckets"},
	} {
		entry := "servers:\n  lab:\n    url: " + f.URL + c.url + "\n"
		if c.file != "" {
			entry += "    site: " + c.file + "\n"
		}
		inConfig(t, entry)
		args := []string{"buckets"}
		if c.flag != "" {
			args = append(args, "--site", c.flag)
		}
		t.Setenv("PURSER_SITE", c.env)
		f.asked = nil
		_, stderr, code := purser(t, args...)
		if want := []string{"GET " + c.want + "?limit=1000&offset=0"}; code != 0 || cmp.Diff(want, f.asked) != "" {
			t.Errorf("%+v: exit code %d, asked %q, want %q\n%s", c, code, f.asked, want, stderr)
		}
	}
}

// A name that no site can have is refused before anything is sent, and so is "-" where one site is meant.
func TestSite_refuses(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(http.ResponseWriter, *http.Request) {})
	for args, want := range map[string]string{
		"status --site ATL1":                   `"ATL1" cannot be the name of a site: did you mean atl1?`,
		"status --site a/b":                    "up to 63 lower-case letters, digits, dots",
		"status --site -":                      "only work, claims and waivers list can be about",
		"sites show a_":                        "cannot be the name of a site",
		"sites set a. --label b=c":             "cannot be the name of a site",
		"sites set a --label b":                "a label is KEY=VALUE",
		"sites --label =b":                     "a label is KEY=VALUE",
		"sites set a --keep x":                 "a limit is a number, or none",
		"sites set a --keep -1":                "",
		"sites set a --changes=-1":             "a limit is a number, or none",
		"sites --status odd":                   "must be one of",
		"waivers 17 --all-sites":               "revision 17 is one of one site",
		"sites set a --label b=c --no-label b": "--label sets b and --no-label removes it",
	} {
		_, stderr, code := purser(t, append(strings.Fields(args), "--server", f.URL)...)
		if code != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("asked %q", f.asked)
	}
}

const (
	atl1 = `{"name":"atl1","labels":{"wave":"1","region":"us"},"limits":{"documents":50000,"keep":9},"archived":false,` +
		`"revision":17,"stamp":"ab","status":"success","documents":12,"createdAt":"2026-11-20T10:00:00.5","changedAt":"2026-11-26T10:00:00.123456"}`
	bos1 = `{"name":"bos1","labels":{},"limits":{},"archived":true,"revision":0,"stamp":null,"status":null,"documents":0,` +
		`"createdAt":"2026-11-20T10:00:00.5","changedAt":"2026-11-20T10:00:00.5"}`
)

// sited is a server with two sites: atl1, and bos1, which is archived. It records what is put.
func sited(t *testing.T) (f *fake, put *string) {
	t.Helper()
	put = new(string)
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/sites/")
		known := map[string]string{"atl1": atl1, "bos1": bos1}[name]
		switch {
		case r.URL.Path == "/sites":
			fmt.Fprintf(w, `{"count":2,"results":[%s,%s],"next":null}`, atl1, bos1)
		case r.Method == http.MethodPut && r.Header.Get("If-None-Match") == "*" && known != "":
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, `{"kind":"Status","message":"there is a site","details":{"errorType":"PreconditionFailed"}}`)
		case r.Method == http.MethodPut:
			body, _ := io.ReadAll(r.Body)
			if *put = string(body); known == "" {
				w.WriteHeader(http.StatusCreated)
			}
			fmt.Fprintf(w, `{"name":%q}`, name)
		case r.Method == http.MethodDelete && name == "bos1":
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"kind":"Status","message":"atl1 is in use","details":{"errorType":"SiteNotArchived"}}`)
		case known == "":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","message":"There is no site","details":{"errorType":"UnknownSite"}}`)
		default:
			fmt.Fprint(w, known)
		}
	}), put
}

// Sites are listed and shown; one that is archived is marked.
func TestSites_read(t *testing.T) {
	t.Parallel()
	const all = "GET /sites?limit=1000&offset=0&sort=name"
	for args, want := range map[string][]string{ // the requests, and the output
		"sites": {all, `NAME  STATUS        REVISION  DOCUMENTS  CHANGED               LABELS
atl1  success       17        12         2026-11-26 10:00:00Z  region=us,wave=1
bos1  - (archived)  0         0          2026-11-20 10:00:00Z  -
`},
		"sites list -o name": {all, "atl1\nbos1\n"},
		"sites --label region=us --label wave=1 --status failure --archived --sort changedAt -n 2 -o name": {
			"GET /sites?archived=true&label=region%3Dus&label=wave%3D1&limit=2&offset=0&sort=changedAt&status=failure", "atl1\nbos1\n",
		},
		"sites --site atl1 -o name": {all, "atl1\nbos1\n"}, // of the server
		"sites show atl1": {"GET /sites/atl1", `name       atl1
status     success
revision   17
stamp      ab
documents  12
created    2026-11-20 10:00:00Z
changed    2026-11-26 10:00:00Z
labels     region=us,wave=1
limits     50000 documents, 9 revisions kept
`},
		"sites show bos1": {"GET /sites/bos1", `name       bos1
status     - (archived)
documents  0
created    2026-11-20 10:00:00Z
changed    2026-11-20 10:00:00Z
labels     -
limits     those of the server
`},
		"sites show bos1 -o json": {"GET /sites/bos1", bos1 + "\n"},
	} {
		f, _ := sited(t)
		stdout, stderr, code := purser(t, append(strings.Fields(args), "--server", f.URL)...)
		if diff := cmp.Diff(want, append(append([]string{}, f.asked...), stdout)); diff != "" || code != 0 {
			t.Errorf("%s: exit code %d, %s (-want +got)\n%s", args, code, stderr, diff)
		}
	}
}

// A change keeps what is not named, and a site is made only if there is none.
func TestSites_set(t *testing.T) {
	t.Parallel()
	const kept = `"limits":{"documents":50000,"keep":9}`
	for args, c := range map[string]struct {
		requests, put, says string
		code                int
	}{
		"set atl1 --label wave=2 --label x=": {
			"GET PUT", `{"labels":{"region":"us","wave":"2","x":""},` + kept + `,"archived":false}`, "Changed site atl1\n", 0,
		},
		"set atl1 --no-label wave --no-label none": {"GET PUT", `{"labels":{"region":"us"},` + kept + `,"archived":false}`, "Changed site atl1\n", 0},
		"set atl1 --documents 0 --changes 60 --keep none": {
			"GET PUT", `{"labels":{"region":"us","wave":"1"},"limits":{"changes":60},"archived":false}`, "Changed site atl1\n", 0,
		},
		"set bos1 --label a=b":    {"GET PUT", `{"labels":{"a":"b"},"limits":{},"archived":true}`, "Changed site bos1\n", 0},
		"set new1":                {"GET PUT", `{"labels":{},"limits":{},"archived":false}`, "Made site new1\n", 0},
		"set new1 --new --keep 5": {"PUT", `{"labels":{},"limits":{"keep":5},"archived":false}`, "Made site new1\n", 0},
		"set atl1 --new":          {"PUT", "", "there is a site", exitNo},
		"archive atl1":            {"GET PUT", `{"labels":{"region":"us","wave":"1"},` + kept + `,"archived":true}`, "Archived site atl1\n", 0},
		"open bos1":               {"GET PUT", `{"labels":{},"limits":{},"archived":false}`, "Opened site bos1\n", 0},
		"archive new1":            {"GET", "", "`purser sites` lists the sites that you may see.", exitFailed},
	} {
		f, put := sited(t)
		stdout, stderr, code := purser(t, append(strings.Fields("sites "+args), "--server", f.URL)...)
		var requests []string
		for _, asked := range f.asked {
			requests = append(requests, strings.Fields(asked)[0])
		}
		if got := strings.Join(requests, " "); got != c.requests || *put != c.put || code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("%s: exit code %d, requests %s, put %s\n%s%s", args, code, got, *put, stdout, stderr)
		}
	}
}

// An archived site is deleted once its name has been typed, or given as --confirm.
func TestSites_delete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, stdin string
		asks        bool
		says        string
		code        int
	}{
		{"bos1 --confirm bos1", "", false, "Site bos1 is being deleted", 0},
		{"bos1", "bos1\n", true, "Type its name to delete it: ", 0},
		{"bos1", "y\n", true, "nothing was deleted", exitNo},
		{"bos1", "", true, "nothing was deleted", exitNo},
		{"bos1 --confirm bos2", "bos1\n", true, "nothing was deleted", exitNo},
		{"bos1", "bos1\n", false, "add --confirm bos1", exitNo},
		{"atl1 --confirm atl1", "", false, "`purser sites archive` archives a site", exitNo},
	} {
		f, _ := sited(t)
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append(strings.Fields("sites delete "+c.args), "--server", f.URL), surroundings{
			stdin: strings.NewReader(c.stdin), stdout: &stdout, stderr: &stderr, asks: c.asks,
		})
		name := strings.Fields(c.args)[0]
		sent := len(f.asked) == 1 && f.asked[0] == "DELETE /sites/"+name+"?confirm="+name
		if code != c.code || !strings.Contains(stdout.String()+stderr.String(), c.says) || sent != (code == 0 || name == "atl1") {
			t.Errorf("%s, %q: exit code %d, asked %q\n%s%s", c.args, c.stdin, code, f.asked, &stdout, &stderr)
		}
	}
}

// Lists of all sites say which site an item is of.
func TestAllSites(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/claims") {
			fmt.Fprint(w, `{"results":[{"site":"atl1","revision":17,"validation":"v","state":"open","attempt":0}]}`)
			return
		}
		fmt.Fprint(w, `{"results":[{"site":"atl1","id":3,"revision":17,"validation":"v","reason":"r","by":"anna","status":"active",
			"expiresAt":"2026-11-26T10:00:00"}]}`)
	})
	const everywhere, sites = "/sites/-/api/v1.0/", "SITE  "
	for args, want := range map[string]struct{ below, stdout string }{ // the beginnings of the path and the output
		"claims --all-sites URL": {everywhere, sites + `REVISION  VALIDATION  STATE  ATTEMPT  WORKER  SINCE  EXPIRES  PROGRESS  REASON
atl1  17        v           open   0        -       -      -        -         -
`},
		"claims --site - URL": {everywhere, sites},
		"claims URL/sites/-":  {everywhere, sites},
		"claims -o name URL":  {"", "v\n"},
		"waivers --all-sites URL": {everywhere, sites + `STATUS  ID  REVISION  VALIDATION  UNTIL                 BY    REASON
atl1  active  3   17        v           2026-11-26 10:00:00Z  anna  r
`},
		"waivers --site atl1 URL":      {"/sites/atl1/api/v1.0/", "STATUS  ID"},
		"waivers --site - -o name URL": {everywhere, "atl1/3\n"},
	} {
		f.asked = nil
		words := strings.Fields(strings.Replace(args, "URL", "--server "+f.URL, 1))
		stdout, stderr, code := purser(t, words...)
		if code != 0 || !strings.HasPrefix(stdout, want.stdout) || !strings.HasPrefix(f.asked[0], "GET "+want.below+words[0]) {
			t.Errorf("%s: exit code %d, asked %q\n%s%s", args, code, f.asked, stdout, stderr)
		}
	}
}

// Commands that are printed to help name the site that the command line has named, unless the environment does.
func TestSite_hints(t *testing.T) {
	t.Setenv("PURSER_SITE", "")
	for env, want := range map[string]string{"": "purser findings 3 --site atl1\n", "atl1": "purser findings 3\n", "bos1": "purser findings 3 --site atl1\n"} {
		t.Setenv("PURSER_SITE", env)
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/9/status") {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"kind":"Status","message":"no","details":{"errorType":"RevisionNotFound"}}`)
				return
			}
			fmt.Fprint(w, `{"revision":3,"status":"failure","findings":[{"level":"error","validation":"v","message":"no result","rule":"missing"}],"total":1}`)
		})
		stdout, stderr, _ := purser(t, "status", "3", "--site", "atl1", "--server", f.URL)
		if !strings.Contains(stdout, want) {
			t.Errorf("PURSER_SITE=%s: %s%s", env, stdout, stderr)
		}
		_, stderr, _ = purser(t, "status", "9", "--site", "atl1", "--server", f.URL)
		if hint := strings.Replace(strings.TrimSpace(want), "findings 3", "log", 1); !strings.Contains(stderr, "`"+hint+"`") {
			t.Errorf("PURSER_SITE=%s: %s, want %s", env, stderr, hint)
		}
	}
}

// A login is one to the server, whichever site its URL or --site names, and whether or not the user has rights there.
func TestLogin_site(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer s3cret":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"kind":"Status","message":"who?","details":{"errorType":"Unauthorized"}}`)
		case r.URL.Path == "/sites":
			fmt.Fprint(w, `{"results":[]}`)
		case r.URL.Path == "/sites/atl1/api/v1.0/whoami":
			fmt.Fprint(w, `{"user":{"id":"7","name":"anna"},"roles":["reader"],"rules":[]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","message":"no","details":{"errorType":"UnknownSite"}}`)
		}
	})
	for args, want := range map[string]string{
		"lab":                             "as a user without rights in this site;",
		"lab --site atl1":                 "as anna;",
		f.URL + "/sites/atl1 --site bos1": "as a user without rights in this site;",
		f.URL + "/sites/bos1/api/v1.0 --site atl1": "as anna;",
	} {
		path := inConfig(t, "servers:\n  lab:\n    url: "+f.URL+"\n")
		stdout, stderr, code := withInput(t, "s3cret\n", append([]string{"login"}, strings.Fields(args)...)...)
		if code != 0 || !strings.Contains(stdout, "Logged in to lab "+want) {
			t.Errorf("%s: exit code %d, %s%s", args, code, stdout, stderr)
		}
		if got, want := textOf(t, path), "servers:\n  lab:\n    url: "+f.URL+"\n    token-file: lab.token\n"; got != want {
			t.Errorf("%s: the file is\n%s", args, got)
		}
	}
	stdout, _, code := withInput(t, "", "whoami", "--site", "atl1")
	if code != 0 || !strings.HasPrefix(stdout, "server   "+f.URL+"\nsite     atl1\nuser     anna") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}
