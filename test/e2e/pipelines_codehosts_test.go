package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// sha is the commit that pipelines are about.
const sha = "8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72"

// needs skips a test where a program is not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s", program)
		}
	}
}

// hosted is a repository with pipelines at GitHub or GitLab, that push to a server.
type hosted struct {
	*pipeline

	at      *codeHost
	marker  string
	preview func(t *testing.T, code int) // runs what a pull request runs
	push    func(t *testing.T, code int) // runs what a merge runs, which waits for a second
	failed  string                       // the state of a failure
	lost    string                       // that of a push that was refused
}

// atGithub returns a repository at GitHub.
func atGithub(t *testing.T, s *server) *hosted {
	t.Helper()
	job := newGithubJob(t)
	h := &hosted{pipeline: newPipeline(t, true), at: newGithub(t), marker: job.Env["MARKER"], failed: "failure", lost: "error"}
	h.env = append(h.env, "PURSER_SERVER="+s.url, "MARKER="+h.marker, "GITHUB_API_URL="+h.at.URL, "GITHUB_REPOSITORY=acme/site",
		"GITHUB_SERVER_URL=https://github.example", "GITHUB_SHA="+sha, "GITHUB_WORKSPACE="+h.dir, "GITHUB_RUN_ID=1",
		"GITHUB_TOKEN=token", "NUMBER=7", "PURSER_TOKEN=", "CI_PROJECT_URL=", "CI_COMMIT_SHA=")
	steps := func(t *testing.T, condition string, code int) {
		t.Helper()
		var ran []step
		for _, s := range job.Steps {
			if s.Run != "" && strings.Contains(s.If, condition) {
				ran = append(ran, s)
			}
		}
		if len(ran) < 2 {
			t.Fatalf("%d steps if %s", len(ran), condition)
		}
		for i, s := range ran {
			want := 0
			if i == len(ran)-1 {
				want = code
			}
			h.runs(t, strings.ReplaceAll(s.Run, "--wait 10m", "--wait 1s"), want, "bash", "-e")
		}
	}
	h.preview = func(t *testing.T, code int) { t.Helper(); steps(t, "env.PREVIEW == 'true'", code) }
	h.push = func(t *testing.T, code int) {
		t.Helper()
		_ = os.Remove(filepath.Join(h.dir, "pushed.json"))
		steps(t, "env.PUSH == 'true'", code)
	}
	h.runs(t, "git init -q . && git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m one", 0, "bash", "-e")
	return h
}

// atGitlab returns a repository at GitLab.
func atGitlab(t *testing.T, s *server) *hosted {
	t.Helper()
	h := &hosted{pipeline: newPipeline(t, true), at: newGitlab(t), failed: "failed", lost: "failed"}
	for name, value := range newGitlabJob(t, "purser-preview").Variables {
		h.env = append(h.env, name+"="+value)
		if name == "PURSER_MARKER" {
			h.marker = value
		}
	}
	h.env = append(h.env, "PURSER_SERVER="+s.url, "CI_API_V4_URL="+h.at.URL+"/api/v4", "CI_PROJECT_ID=5",
		"CI_PROJECT_URL=https://gitlab.example/acme/site", "CI_COMMIT_SHA="+sha, "CI_PROJECT_DIR="+h.dir, "CI_JOB_URL=https://x",
		"CI_MERGE_REQUEST_IID=7", "CI_PIPELINE_ID=9", "CI_COMMIT_TITLE=one", "GITLAB_TOKEN=token", "PURSER_TOKEN=", "GITHUB_SHA=")
	of := func(name string) func(t *testing.T, code int) {
		script := strings.Join(newGitlabJob(t, name).Script, "\n")
		return func(t *testing.T, code int) {
			t.Helper()
			h.runs(t, strings.ReplaceAll(script, "--wait 10m", "--wait 1s"), code, "bash", "-eo", "pipefail")
		}
	}
	h.preview, h.push = of("purser-preview"), of("purser-push")
	return h
}

// A pull request gets one comment, which each commit updates. A merge pushes, and sets the status of the commit to the
// verdict: pending as long as a result is missing, never success before.
func TestPipelines_codeHosts(t *testing.T) {
	t.Parallel()
	needs(t, "jq", "curl", "git")
	for name, newHosted := range map[string]func(*testing.T, *server) *hosted{"GitHub": atGithub, "GitLab": atGitlab} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.put(t, "policies", policy("p", "deckhand-schema-validation", "late-validation")).is(t, http.StatusOK)
			h := newHosted(t, s)
			h.at.fill(h.marker)
			isComment := func(parts ...string) {
				t.Helper()
				made := h.at.made()
				if len(made) != 1 || !strings.HasSuffix(made[0], "\n"+h.marker+"\n") {
					t.Fatalf("%d comments: %q", len(made), made)
				}
				for _, part := range parts {
					if !strings.Contains(made[0], part) {
						t.Errorf("the comment does not contain %q:\n%s", part, made[0])
					}
				}
			}
			h.preview(t, 1)
			isComment("**Failure**: revision 2 would fail `deckhand-schema-validation`, and would wait for the results of `late-validation`\n",
				".example/acme/site/", "/blob/"+sha+"/site/app/w.yaml#L", "101 is greater than the maximum of", "added `[acme/Widget/v1, site] w1`")
			writeFile(t, filepath.Join(h.dir, "site/app/w.yaml"), widget("w1", "{size: 1}"))
			h.preview(t, 0)
			isComment("**Pending**: revision 2 would wait for the results of `late-validation`\n")

			isStatus := func(state, description string) {
				t.Helper()
				if got, want := h.at.last(), sha+" "+state+" purser: "+description; got != want {
					t.Errorf("status %q, want %q", got, want)
				}
			}
			h.push(t, 0)
			isStatus("pending", "Revision 2: pending")
			s.report(t, 2, "late-validation", "success")
			h.push(t, 0)
			isStatus("success", "Revision 2: success")
			s.report(t, 2, "late-validation", "failure")
			h.push(t, 1)
			isStatus(h.failed, "Revision 2: "+h.failed)
			writeFile(t, filepath.Join(h.dir, "site/app/w.yaml"), "schema: [")
			h.push(t, 1)
			isStatus(h.lost, "Not pushed, or the verdict is not known: see the log")
			h.preview(t, 1)
			isComment("**Refused**: the change cannot be made\n")
			writeFile(t, filepath.Join(h.dir, "site/app/w.yaml"), widget("w1", "{size: 1}"))
			h.env = append(h.env, "PURSER_SERVER=not a URL")
			h.preview(t, 2)
			isComment("**Not known**: the dry run failed, and the log of the job says why\n")
		})
	}
}

// receivesVerdicts starts examples/commit-status.py and returns its URL.
func receivesVerdicts(t *testing.T, env ...string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "../../examples/commit-status.py")
	cmd.Env = append(append(os.Environ(), "LISTEN="+address), env...)
	cmd.SysProcAttr = withParent()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	eventually(t, "a receiver", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// The receiver sets the status of the revision's commit to the present verdict, whatever the event says, and for nobody
// without the secret.
func TestCommitStatusExample(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var revision atomic.Value // as a server answers
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := revision.Load().(string); ok && r.URL.Path == "/api/v1.0/revisions/17" && r.Header.Get("X-Auth-Token") == "prs_x" {
			fmt.Fprint(w, text)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	validated := func(status, source string, validations ...string) string {
		list := []map[string]string{}
		for _, v := range validations {
			list = append(list, map[string]string{"name": "v", "status": v})
		}
		text, err := json.Marshal(map[string]any{"status": status, "source": source, "validationPolicies": []any{
			map[string]any{"name": "p", "status": status, "validations": list}, map[string]any{"name": "q", "status": status},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, host := range []struct {
		at                           *codeHost
		repository, statuses, failed string
	}{
		{newGithub(t), "https://github.example/acme/site", "/repos/acme/site/statuses", "failure"},
		{newGitlab(t), "https://gitlab.example/acme/site", "/api/v4/projects/acme%2Fsite/statuses", "failed"},
	} {
		url := receivesVerdicts(t, "PURSER_SERVER="+server.URL, "PURSER_TOKEN=prs_x", "WEBHOOK_SECRET="+secret, "STATUS_TOKEN=x",
			"REPOSITORY="+host.repository, "STATUSES="+host.at.URL+host.statuses)
		post := func(kind string, at time.Time, signature func(string) string) int {
			t.Helper()
			body := `{"type":"` + kind + `","data":{"revision":17,"from":"failure","to":"success","because":[]}}`
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			signed, err := signer.Sign("msg_1", at, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Webhook-Id", "msg_1")
			request.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
			request.Header.Set("Webhook-Signature", signature(signed))
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			return answer.StatusCode
		}
		const changed, posted, commit = "purser.verdict.changed", "purser.validation.posted", "/commit/" + sha
		genuine := func(signed string) string { return "v1,AAAA " + signed }
		for name, c := range map[string]struct {
			revision, kind string
			code           int
			state          string // "" if no status is set
		}{
			"success":        {validated("success", host.repository+commit, "success"), changed, 204, "success"},
			"of GitLab":      {validated("success", host.repository+"/-"+commit, "success"), changed, 204, "success"},
			"one is missing": {validated("failure", host.repository+commit, "success", "missing"), changed, 204, "pending"},
			"one is expired": {validated("failure", host.repository+commit, "expired", "success"), changed, 204, "pending"},
			"one fails":      {validated("failure", host.repository+commit, "missing", "failure"), changed, 204, host.failed},
			"a policy fails": {validated("failure", host.repository+commit, "success"), changed, 204, host.failed},
			"no source":      {validated("success", ""), changed, 204, ""},
			"other source":   {validated("success", "https://evil.example/acme/site"+commit), changed, 204, ""},
			"other path":     {validated("success", host.repository+commit+"/../x"), changed, 204, ""},
			"a result":       {validated("failure", host.repository+commit, "failure"), posted, 204, host.failed},
			"other event":    {validated("success", host.repository+commit), "purser.revision.created", 204, ""},
			"no answer":      {"", changed, 502, ""},
		} {
			if revision.Store(c.revision); c.revision == "" {
				revision.Store("{")
			}
			if code := post(c.kind, time.Now(), genuine); code != c.code {
				t.Errorf("%s: %d, want %d", name, code, c.code)
			}
			want := ""
			if c.state != "" {
				want = sha + " " + c.state + " purser: Revision 17: " + c.state
			}
			if got := host.at.last(); got != want {
				t.Errorf("%s: status %q, want %q", name, got, want)
			}
		}
		revision.Store(validated("success", host.repository+commit, "success"))
		for name, code := range map[string]int{
			"forged":   post(changed, time.Now(), func(signed string) string { return signed[:len(signed)-5] + "AAAA=" }),
			"unsigned": post(changed, time.Now(), func(string) string { return "" }),
			"old":      post(changed, time.Now().Add(-time.Hour), genuine),
			"future":   post(changed, time.Now().Add(time.Hour), genuine),
		} {
			if status := host.at.last(); code != http.StatusUnauthorized || status != "" {
				t.Errorf("%s: %d, status %q", name, code, status)
			}
		}
	}
}

// A commit whose revision waits for validators is a success when all results are there, and not before; a late failure is
// told too, though it changes no verdict. The events are those of a server, by its webhook.
func TestCommitStatusExample_ofServer(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	const repository, second = "https://github.example/acme/site", "0e31f5b29c8d7a6450c1d8e2f4b7a9610d3e5c73"
	s, host := startCalling(t), newGithub(t)
	url := receivesVerdicts(t, "PURSER_SERVER="+s.url, "WEBHOOK_SECRET="+secret, "STATUS_TOKEN=x", "REPOSITORY="+repository,
		"STATUSES="+host.URL+"/repos/acme/site/statuses")
	hook, _ := s.hook(t, "{url: '"+url+"', secret: "+secret+", types: [purser.verdict.changed, purser.validation.posted, "+
		"purser.revision.created]}")
	events := 0
	push := func(documents, commit string) {
		t.Helper()
		header := yamlBody()
		if commit != "" {
			header["X-Purser-Source"] = repository + "/commit/" + commit
		}
		s.send(t, request{method: "PUT", path: "buckets/site/documents", body: documents, header: header}).is(t, http.StatusOK)
		events++
	}
	var want []string
	// isSet waits until all events are delivered, and then compares all statuses that were ever set, one after the other.
	isSet := func(statuses ...string) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d events are delivered", events), func() bool {
			return strings.Count(fmt.Sprint(s.deliveries(t, hook)), ": delivered 204") == events
		})
		want = append(want, statuses...)
		if diff := cmp.Diff(want, slices.Compact(host.allSet())); diff != "" {
			t.Fatalf("statuses of commits (-want +got):\n%s", diff)
		}
	}
	report := func(revision int, validation, status string, changes int) {
		t.Helper()
		s.report(t, revision, validation, status)
		events += 1 + changes // of the verdict
	}
	status := func(commit, state string, revision int) string {
		return fmt.Sprintf("%s %s purser: Revision %d: %[2]s", commit, state, revision)
	}

	s.put(t, "policies", policy("p", "deckhand-schema-validation", "first-validation", "late-validation")).is(t, http.StatusOK)
	events++
	push(widget("w", "{x: 1}"), sha)
	isSet()
	report(2, "first-validation", "success", 0)
	isSet(status(sha, "pending", 2)) // the other one is missing
	report(2, "late-validation", "success", 1)
	isSet(status(sha, "success", 2))
	report(2, "late-validation", "failure", 1)
	isSet(status(sha, "failure", 2))
	report(2, "late-validation", "success", 1)
	isSet(status(sha, "success", 2))

	push(widget("w", "{x: 2}"), second)
	isSet()
	report(3, "first-validation", "success", 0)
	isSet(status(second, "pending", 3))
	report(3, "late-validation", "failure", 0) // the verdict was a failure before
	isSet(status(second, "failure", 3))
	report(3, "late-validation", "success", 1)
	isSet(status(second, "success", 3))

	push(widget("w", "{x: 3}"), "") // of no commit
	report(4, "first-validation", "success", 0)
	report(4, "late-validation", "success", 1)
	report(2, "late-validation", "failure", 0) // not the newest, of which the verdict is told
	isSet(status(sha, "failure", 2))
}

// The example is short enough to read.
func TestCommitStatusExample_lines(t *testing.T) {
	t.Parallel()
	const most = 80
	text, err := os.ReadFile("../../examples/commit-status.py")
	if n := strings.Count(string(text), "\n"); err != nil || n > most {
		t.Errorf("%d lines: %v", n, err)
	}
}
