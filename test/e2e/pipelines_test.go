package e2e_test

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// pipeline is a repository of documents in which the scripts of docs/ci run.
type pipeline struct {
	dir, bin string
	env      []string
}

// newPipeline returns a repository whose site has a mistake if wrong is set, on a machine with purser installed.
func newPipeline(t *testing.T, wrong bool) *pipeline {
	t.Helper()
	purser, err := commandLine()
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline{dir: t.TempDir(), bin: t.TempDir()}
	size := "{size: 1}"
	if wrong {
		size = "{size: 101}"
	}
	for name, text := range map[string]string{
		"site/base/base.yaml": control("deckhand/LayeringPolicy/v1", "layers", "{layerOrder: [site]}") + sizes(),
		"site/app/w.yaml":     widget("w1", size),
	} {
		name = filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, text)
	}
	if err := os.Symlink(purser, filepath.Join(p.bin, "purser")); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "PATH="+p.bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+t.TempDir(), "TMPDIR="+t.TempDir(),
		"GITHUB_PATH="+filepath.Join(p.dir, "added-to-path"))
	return p
}

// runs executes a script in a shell and checks its exit code.
func (p *pipeline) runs(t *testing.T, script string, code int, shell ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", script)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d (%v): %s\n%s", got, code, err, script, out)
	}
	return string(out)
}

func (p *pipeline) reads(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fromRelease makes the pipeline install purser from the files of a release, in place of those at the project's URL.
func (p *pipeline) fromRelease(t *testing.T) {
	t.Helper()
	purser, err := commandLine()
	if err != nil {
		t.Fatal(err)
	}
	const folder = "purser_0.0.1_linux_amd64"
	release := t.TempDir()
	if err := os.Mkdir(filepath.Join(release, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(purser, filepath.Join(release, folder, "purser")); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(release, folder+".tar.gz")
	if out, err := exec.CommandContext(t.Context(), "tar", "-chzf", archive, "-C", release, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PURSER_RELEASE=file://"+release, "PURSER_VERSION=0.0.1",
		fmt.Sprintf("PURSER_SHA256=%x", sha256.Sum256(text)))
	if err := os.Remove(filepath.Join(p.bin, "purser")); err != nil { // the pipeline has only what it installs
		t.Fatal(err)
	}
}

// takesPath adds what a step has written to GITHUB_PATH to the PATH of later ones.
func (p *pipeline) takesPath(t *testing.T) {
	t.Helper()
	added := strings.TrimSpace(string(p.reads(t, "added-to-path")))
	p.env = append(p.env, "PATH="+added+":"+os.Getenv("PATH"))
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// hasFinding reports whether text contains the finding of a wrong site.
func hasFinding(text []byte) bool {
	return strings.Contains(string(text), "101 is greater than the maximum of")
}

// step is a step of a GitHub workflow or action.
type step struct {
	Name, Run, Shell, If string
	Env                  map[string]string
}

// githubJob is the job of the GitHub workflow.
type githubJob struct {
	Env   map[string]string
	Steps []step
}

func newGithubJob(t *testing.T) githubJob {
	t.Helper()
	var workflow struct{ Jobs map[string]githubJob }
	readYAML(t, "../../docs/ci/github.yaml", &workflow)
	return workflow.Jobs["check"]
}

// githubSteps returns the steps of the GitHub workflow that need no server.
func githubSteps(t *testing.T) []step {
	t.Helper()
	return slices.DeleteFunc(newGithubJob(t).Steps, func(s step) bool { return strings.Contains(s.If, "env.") })
}

// The steps of the workflow install purser, and fail with a report if the site has a mistake.
func TestPipelines_githubWorkflow(t *testing.T) {
	t.Parallel()
	for _, wrong := range []bool{false, true} {
		p, failed := newPipeline(t, wrong), []string{}
		for _, step := range githubSteps(t) {
			code, installs := 0, step.Name == "Install purser"
			switch {
			case step.Run == "" || len(failed) > 0 && step.If != "always()":
				continue
			case installs:
				p.fromRelease(t)
			case wrong && strings.Contains(step.Run, "--format github"):
				code, failed = 1, append(failed, step.Name)
			}
			out := p.runs(t, step.Run, code, "bash", "-e")
			if installs {
				p.takesPath(t)
			}
			if command := "::error file=site/app/w.yaml,title=purser%3A schema,line="; code == 1 && !strings.Contains(out, command) {
				t.Errorf("%s: %s", step.Name, out)
			}
		}
		if report := p.reads(t, "purser.sarif"); !json.Valid(report) || hasFinding(report) != wrong || (len(failed) > 0) != wrong {
			t.Errorf("wrong %v, failed steps %q:\n%s", wrong, failed, report)
		}
	}
}

// The action passes on its inputs, and fails if the site has a mistake.
func TestPipelines_githubAction(t *testing.T) {
	t.Parallel()
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct{ Steps []step }
	}
	readYAML(t, "../../docs/ci/action.yaml", &action)
	input := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) }}$`)
	for _, wrong := range []bool{false, true} {
		for _, paths := range []string{"", "site/base site/app/w.yaml"} {
			for _, step := range action.Runs.Steps {
				p := newPipeline(t, wrong)
				for name, value := range step.Env {
					parts := input.FindStringSubmatch(value)
					if parts == nil {
						t.Fatalf("%s: %s", name, value)
					}
					if value = action.Inputs[parts[1]].Default; parts[1] == "paths" && paths != "" {
						value = paths
					}
					p.env = append(p.env, name+"="+value)
				}
				code := 0
				if wrong {
					code = 1
				}
				if out := p.runs(t, step.Run, code, step.Shell, "--noprofile", "--norc", "-eo", "pipefail"); hasFinding([]byte(out)) != wrong {
					t.Errorf("paths %q, wrong %v: %s", paths, wrong, out)
				}
			}
		}
	}
}

// gitlabJob is a job of the GitLab template.
type gitlabJob struct {
	Extends      string
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Script       []string
	Artifacts    struct{ Reports map[string]string }
}

// newGitlabJob returns a job of the template with what it extends.
func newGitlabJob(t *testing.T, name string) gitlabJob {
	t.Helper()
	var template map[string]gitlabJob
	readYAML(t, "../../docs/ci/gitlab.yaml", &template)
	job := template[name]
	base := template[job.Extends]
	job.Variables, job.BeforeScript = base.Variables, base.BeforeScript
	return job
}

// newGitlabPipeline returns the job of the template that checks files, and a repository that runs it with a release.
func newGitlabPipeline(t *testing.T, wrong bool) (gitlabJob, *pipeline) {
	t.Helper()
	job, p := newGitlabJob(t, "purser-check"), newPipeline(t, wrong)
	for name, value := range job.Variables {
		p.env = append(p.env, name+"="+value)
	}
	p.fromRelease(t)
	return job, p
}

// The job of the template installs purser, and fails with a report if the site has a mistake.
func TestPipelines_gitlab(t *testing.T) {
	t.Parallel()
	for code, wrong := range []bool{false, true} {
		job, p := newGitlabPipeline(t, wrong)
		p.runs(t, strings.Join(slices.Concat(job.BeforeScript, job.Script), "\n"), code, "bash", "-eo", "pipefail")
		quality, tests := p.reads(t, job.Artifacts.Reports["codequality"]), p.reads(t, job.Artifacts.Reports["junit"])
		if !json.Valid(quality) || xml.Unmarshal(tests, new(struct{})) != nil || hasFinding(quality) != wrong || hasFinding(tests) != wrong {
			t.Errorf("wrong %v:\n%s\n%s", wrong, quality, tests)
		}
	}
}

// Neither template runs a purser with another digest than the one that it names.
func TestPipelines_otherArchive(t *testing.T) {
	t.Parallel()
	other := "PURSER_SHA256=" + strings.Repeat("0", 64)
	job, p := newGitlabPipeline(t, false)
	p.env = append(p.env, other)
	if out := p.runs(t, strings.Join(job.BeforeScript, "\n"), 1, "bash", "-eo", "pipefail"); !strings.Contains(out, "FAILED") {
		t.Errorf("GitLab: %s", out)
	}
	p = newPipeline(t, false)
	p.fromRelease(t)
	p.env = append(p.env, other)
	for _, step := range githubSteps(t) {
		if step.Name == "Install purser" {
			if out := p.runs(t, step.Run, 1, "bash", "-e"); !strings.Contains(out, "FAILED") {
				t.Errorf("GitHub: %s", out)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "added-to-path")); err == nil {
		t.Error("GitHub: the other archive is in PATH")
	}
}

// The pre-commit hook runs in a repository that uses it, with the arguments in docs/check.md.
func TestPipelines_preCommit(t *testing.T) {
	t.Parallel()
	var hooks []struct{ ID, Entry string }
	readYAML(t, "../../.pre-commit-hooks.yaml", &hooks)
	page, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	use := regexp.MustCompile(`(?s)- id: (\S+)\n *args: \[([^]]*)]`).FindSubmatch(page)
	if len(hooks) != 1 || use == nil || string(use[1]) != hooks[0].ID {
		t.Fatalf("hooks %v, in docs/check.md %q", hooks, use)
	}
	for code, wrong := range []bool{false, true} {
		p := newPipeline(t, wrong)
		if out := p.runs(t, hooks[0].Entry+" "+string(use[2]), code, "bash"); hasFinding([]byte(out)) != wrong {
			t.Errorf("wrong %v: %s", wrong, out)
		}
	}
}
