package e2e_test

import (
	"encoding/json"
	"encoding/xml"
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
	dir string
	env []string
}

// newPipeline returns a repository whose site has a mistake if wrong is set, on a machine with purser installed.
func newPipeline(t *testing.T, wrong bool) *pipeline {
	t.Helper()
	purser, err := commandLine()
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline{dir: t.TempDir()}
	bin := filepath.Join(t.TempDir(), "bin")
	size := "{size: 1}"
	if wrong {
		size = "{size: 101}"
	}
	for name, text := range map[string]string{
		"site/base.yaml": control("deckhand/LayeringPolicy/v1", "layers", "{layerOrder: [site]}") + sizes(),
		"site/w.yaml":    widget("w1", size),
	} {
		name = filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, text)
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(purser, filepath.Join(bin, "purser")); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GOBIN="+bin, "RUNNER_TEMP="+t.TempDir(), "TMPDIR="+t.TempDir())
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

// fromClone makes the pipeline build purser from this clone, in place of the project's URL.
func (p *pipeline) fromClone(t *testing.T) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "purser.git")
	script := "git clone -q --bare ../.. " + source + " && git -C " + source + " branch -f tried HEAD"
	if out, err := exec.CommandContext(t.Context(), "bash", "-c", script).CombinedOutput(); err != nil {
		t.Skipf("this is no clone: %s", out)
	}
	// Without paths in what it compiles, clones in other directories need not compile it again.
	p.env = append(p.env, "PURSER_SOURCE=file://"+source, "PURSER_VERSION=tried", "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath")
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

// The steps of the workflow build purser, and fail with a report if the site has a mistake.
func TestPipelines_githubWorkflow(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs map[string]struct {
			Steps []step
		}
	}
	readYAML(t, "../../docs/ci/github.yaml", &workflow)
	for _, wrong := range []bool{false, true} {
		p, failed := newPipeline(t, wrong), []string{}
		for _, step := range workflow.Jobs["check"].Steps {
			code, builds := 0, strings.Contains(step.Run, "git clone")
			switch {
			case step.Run == "" || len(failed) > 0 && step.If != "always()" || builds && wrong: // it was built for the other
				continue
			case builds:
				p.fromClone(t)
			case wrong && strings.Contains(step.Run, "--format github"):
				code, failed = 1, append(failed, step.Name)
			}
			out := p.runs(t, step.Run, code, "bash", "-e")
			if command := "::error file=site/w.yaml,title=purser%3A schema,line="; code == 1 && !strings.Contains(out, command) {
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
		for _, paths := range []string{"", "site/base.yaml site/w.yaml"} {
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

// The job of the template builds purser, and fails with a report if the site has a mistake.
func TestPipelines_gitlab(t *testing.T) {
	t.Parallel()
	var template map[string]struct {
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		Artifacts    struct{ Reports map[string]string }
	}
	readYAML(t, "../../docs/ci/gitlab.yaml", &template)
	job := template["purser-check"]
	for _, wrong := range []bool{false, true} {
		p := newPipeline(t, wrong)
		for name, value := range job.Variables {
			p.env = append(p.env, name+"="+value)
		}
		code, script := 1, job.Script // with the purser that is installed
		if !wrong {
			p.fromClone(t)
			code, script = 0, slices.Concat(job.BeforeScript, job.Script)
		}
		p.runs(t, strings.Join(script, "\n"), code, "bash", "-eo", "pipefail")
		quality, tests := p.reads(t, job.Artifacts.Reports["codequality"]), p.reads(t, job.Artifacts.Reports["junit"])
		if !json.Valid(quality) || xml.Unmarshal(tests, new(struct{})) != nil || hasFinding(quality) != wrong || hasFinding(tests) != wrong {
			t.Errorf("wrong %v:\n%s\n%s", wrong, quality, tests)
		}
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
