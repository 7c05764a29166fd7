package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
)

// Links lead to the commit that a pipeline has checked out, and nowhere else whatever the variables and files are.
func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	const sha = "0123456789012345678901234567890123456789"
	github := map[string]string{
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": sha, "GITHUB_WORKSPACE": "/w",
	}
	gitlab := map[string]string{"CI_PROJECT_URL": "https://gitlab.example:8443/g/s/r", "CI_COMMIT_SHA": sha, "CI_PROJECT_DIR": "/w"}
	for _, c := range []struct {
		env              map[string]string
		name, value      string
		file, link, text string
	}{
		{github, "", "", "/w/site/a b.yaml", "https://github.com/o/r/blob/" + sha + "/site/a%20b.yaml#L3", "site/a b.yaml"},
		{gitlab, "", "", "/w/site/a.yaml", "https://gitlab.example:8443/g/s/r/-/blob/" + sha + "/site/a.yaml#L3", "site/a.yaml"},
		{github, "", "", "/elsewhere/a.yaml", "", "/elsewhere/a.yaml"},
		{github, "GITHUB_SHA", "", "/w/a.yaml", "", "/w/a.yaml"},
		{github, "GITHUB_SHA", "main) [x](y", "/w/a.yaml", "", "/w/a.yaml"},
		{github, "GITHUB_REPOSITORY", "", "/w/a.yaml", "", "/w/a.yaml"},
		{github, "GITHUB_REPOSITORY", "o/r)x", "/w/a.yaml", "https://github.com/o/r%29x/blob/" + sha + "/a.yaml#L3", "a.yaml"},
		{github, "GITHUB_SERVER_URL", "javascript://x", "/w/a.yaml", "", "/w/a.yaml"},
		{github, "GITHUB_SERVER_URL", "https://user@github.com", "/w/a.yaml", "", "/w/a.yaml"},
		{github, "GITHUB_WORKSPACE", "", "a.yaml", "https://github.com/o/r/blob/" + sha + "/a.yaml#L3", "a.yaml"},
		{nil, "", "", "a.yaml", "", "a.yaml"},
	} {
		at := repositoryOf(func(name string) string {
			if name == c.name {
				return c.value
			}
			return c.env[name]
		})
		file := at.relative(c.file)
		if link := at.link(check.Place{File: file, Line: 3}); link != c.link || file != c.text {
			t.Errorf("%s=%s: %s at %q, want %s at %q", c.name, c.value, file, link, c.text, c.link)
		}
	}
}

// A dry run writes the formats of pull requests to the standard output, with the exit codes of any dry run; a refusal is a
// report too.
func TestPush_reports(t *testing.T) {
	t.Setenv("GITHUB_SHA", "") // these tests may run in a pipeline
	t.Setenv("CI_COMMIT_SHA", "")
	file, full := documentFile(t), filepath.Join(t.TempDir(), "full.md")
	answer, status := "", http.StatusOK
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `[{"schema":"acme/X/v1","metadata":{"name":"x"},"data":{"a":1},"status":{"bucket":"b"}}]`)
			return
		}
		w.Header().Set("Purser-Revision", "8")
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	})
	const changed = `{"changed":true,"revision":8,"status":"%s","changes":{"modified":1},"total":1,
		"documents":[{"change":"modified","bucket":"b","schema":"acme/X/v1","layer":null,"name":"x"}],
		"validationPolicies":[{"name":"p","status":"failure","validations":[{"name":"v","status":"%[1]s"}]}],
		"findings":[{"level":"error","validation":"v","document":{"schema":"acme/X/v1","name":"x"},"message":"no","line":2}]}`
	for _, c := range []struct {
		args, answer string
		status, code int
		out, stderr  string
	}{
		{"-o markdown", fmt.Sprintf(changed, "failure"), 200, exitNo, "**Failure**: revision 8 would fail `v`\n", ""},
		{"--format markdown", fmt.Sprintf(changed, "success"), 200, 0, "```diff\n--- stored\n+++ " + file + "\n", ""},
		{"--format markdown --detailed-exit-code", fmt.Sprintf(changed, "success"), 200, exitChange, "`" + file + ":1`", ""},
		{"-o markdown", `{"changed":true,"revision":8,"status":"success","findings":[{"schema":"acme/X/v1","status":"failure"}]}`, 200, 0, `

**Warnings**

- ` + "`The findings are not listed: the caller may not read them`\n- `What changes rendered is not known: the caller may not compare", ""},
		{"--format github", fmt.Sprintf(changed, "failure"), 200, exitNo, "::error file=" + file + ",title=purser%3A rendering,line=1", ""},
		{"--format gitlab", fmt.Sprintf(changed, "failure"), 200, exitNo, `"check_name": "rendering"`, ""},
		{
			"--format markdown", `{"kind":"Status","message":"line 2 is wrong","details":{"errorType":"InvalidDocument"}}`, 400, exitNo,
			"**Refused**: the change cannot be made\n\n**Why**\n\n- `" + file + ":1 is wrong`\n",
			"purser: " + file + ":1 is wrong\n",
		},
		{"--format gitlab", `{"kind":"Status","message":"x","details":{"errorType":"InvalidDocument"}}`, 400, exitNo, `"path": "` + file + `"`, "purser: x\n"},
		{"--format markdown", `{"kind":"Status","message":"x","details":{}}`, 401, exitFailed, "", "purser: x"},
	} {
		answer, status = c.answer, c.status
		args := append([]string{"push", "b", file, "--server", f.URL, "--dry-run"}, strings.Fields(c.args)...)
		if strings.Contains(c.args, "markdown") {
			args = append(args, "--full", full)
		}
		_ = os.Remove(full)
		stdout, stderr, code := purser(t, args...)
		if code != c.code || !strings.Contains(stdout, c.out) || !strings.HasPrefix(stderr, c.stderr) || (c.out == "") != (stdout == "") {
			t.Errorf("%s: exit code %d, want %d\n%s\n%s", c.args, code, c.code, stdout, stderr)
		}
		if text, _ := os.ReadFile(full); strings.Contains(c.args, "markdown") && string(text) != stdout {
			t.Errorf("%s: the whole comment is\n%s", c.args, text)
		}
	}
}

// Formats of pull requests are for dry runs, and only the comment can be too long.
func TestPush_reportFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--format markdown":             "--format markdown needs --dry-run",
		"--format gitlab":               "--format gitlab needs --dry-run",
		"--dry-run --full x":            "--full needs --format markdown",
		"--dry-run -o github --full x":  "--full needs --format markdown",
		"--dry-run --format html":       `--format must be one of`,
		"--dry-run --output=odd":        `--format must be one of`,
		"--dry-run -o markdown --full=": "--full must not be empty",
	} {
		stdout, stderr, code := purser(t, append([]string{"push", "b", "none.yaml"}, strings.Fields(args)...)...)
		if !strings.Contains(stderr, want) || code != exitFailed {
			t.Errorf("%s: exit code %d (-want +got)\n%s", args, code, cmp.Diff(want, stdout+stderr))
		}
	}
}

// A dry run asks for as much as the caller may read, and as the server knows.
func TestPush_asksForLess(t *testing.T) {
	t.Parallel()
	file := documentFile(t)
	for name, c := range map[string]struct {
		refuses func(query string) (status int, errorType string)
		want    string
	}{
		"all": {func(string) (int, string) { return 0, "" }, "both"},
		"no comparisons": {func(query string) (int, string) {
			if strings.Contains(query, "rendered=true") {
				return http.StatusForbidden, "Forbidden"
			}
			return 0, ""
		}, "both, rendered, findings"},
		"an older server": {func(query string) (int, string) {
			if strings.Contains(query, "rendered=true") {
				return http.StatusBadRequest, "HTTPInvalidParam"
			}
			return 0, ""
		}, "both, findings"},
		"no findings": {func(query string) (int, string) {
			if strings.Contains(query, "findings=true") {
				return http.StatusForbidden, "Forbidden"
			}
			return 0, ""
		}, "both, rendered"},
		"nothing": {func(string) (int, string) { return http.StatusForbidden, "Forbidden" }, "both, rendered, findings, neither"},
		"wrong":   {func(string) (int, string) { return http.StatusBadRequest, "InvalidDocument" }, "both, findings"},
	} {
		var asked []string
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			said := map[string]string{"true+true": "both", "true+": "findings", "+true": "rendered", "+": "neither"}[q.Get("findings")+"+"+
				q.Get("rendered")]
			asked = append(asked, said)
			if status, kind := c.refuses(r.URL.RawQuery); status != 0 {
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"kind":"Status","message":"no","details":{"errorType":%q}}`, kind)
				return
			}
			fmt.Fprint(w, `{"changed":false,"status":"success"}`)
		})
		purser(t, "push", "b", file, "--server", f.URL, "--dry-run", "-o", "markdown")
		if got := strings.Join(asked, ", "); got != c.want {
			t.Errorf("%s: asked for %q, want %q", name, got, c.want)
		}
	}
}
