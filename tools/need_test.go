// Package tools_test runs the shell scripts of this directory with stubs for the programs that they call.
package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clone is a copy of tools/need in a tree of its own, on a machine that has only what the test provides.
type clone struct{ dir string }

// newClone returns a clone whose go.mod requires Go 1.26.8. Its machine has that Go, and no package manager.
func newClone(t *testing.T) clone {
	t.Helper()
	c := clone{t.TempDir()}
	script, err := os.ReadFile("need")
	if err != nil {
		t.Fatal(err)
	}
	// Absolute paths are replaced with paths in the tree.
	text := string(script)
	for _, root := range []string{"/usr/", "/opt/"} {
		text = strings.ReplaceAll(text, " "+root, " "+c.dir+root)
	}
	c.write(t, "tools/need", text, 0o700)
	c.write(t, "go.mod", "module purser\n\ngo 1.26.8\n", 0o600)
	for _, name := range []string{"sh", "dirname", "sed", "sort", "tr", "env", "rm", "touch", "chmod"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, c.path("bin/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	c.program(t, "go", `case $2 in CC) echo gcc -m64 ;; GOVERSION) echo go1.26.8 ;; esac`)
	c.program(t, "id", "echo 0")
	return c
}

func (c clone) path(name string) string { return filepath.Join(c.dir, name) }

func (c clone) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	for _, dir := range []string{filepath.Dir(c.path(name)), c.path("bin")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.path(name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// program puts a program into PATH.
func (c clone) program(t *testing.T, name, text string) {
	t.Helper()
	c.write(t, "bin/"+name, "#!/bin/sh\n"+text+"\n", 0o700)
}

// recorder puts a program into PATH that records its arguments, then does what text says.
func (c clone) recorder(t *testing.T, name, text string) {
	t.Helper()
	c.program(t, name, fmt.Sprintf(`echo "%s $*" >>'%s'`+"\n%s", name, c.path("calls"), text))
}

// manager puts a package manager into PATH. Every call of it installs all programs.
func (c clone) manager(t *testing.T, name string) {
	t.Helper()
	c.recorder(t, name, fmt.Sprintf(
		`cd '%s'; for p in gcc dot postgres initdb make curl; do touch $p; chmod +x $p; done`, c.path("bin")))
}

// need runs the script and returns its output, the recorded calls and the exit code.
func (c clone) need(t *testing.T, needs ...string) (said, calls string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.path("tools/need"), needs...)
	cmd.Env = []string{"PATH=" + c.path("bin")}
	out, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		code = failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	recorded, _ := os.ReadFile(c.path("calls")) // missing if nothing was called
	return string(out), string(recorded), code
}

// is checks a result of need.
func is(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func isCode(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}

func TestNeed_installs(t *testing.T) {
	t.Parallel()
	const lock = "-qq -o DPkg::Lock::Timeout=300 "
	for manager, test := range map[string]struct{ calls, packages string }{
		"apt-get": {
			"apt-get " + lock + "update\napt-get " + lock +
				"install -y --no-install-recommends gcc libc6-dev postgresql graphviz make curl\n",
			"gcc libc6-dev postgresql graphviz make curl",
		},
		"dnf": {
			"dnf -q install -y gcc glibc-devel postgresql-server graphviz make curl\n",
			"gcc glibc-devel postgresql-server graphviz make curl",
		},
		"apk": {
			"apk add --no-cache gcc musl-dev postgresql postgresql-client graphviz make curl\n",
			"gcc musl-dev postgresql postgresql-client graphviz make curl",
		},
		"brew": {
			"brew install gcc postgresql@17 graphviz make curl\n",
			"gcc postgresql@17 graphviz make curl",
		},
	} {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.manager(t, manager)
			said, calls, code := c.need(t, "go", "cc", "postgres", "graphviz", "make", "curl")
			is(t, "calls", calls, test.calls)
			is(t, "said", said, fmt.Sprintf("Missing: cc postgres graphviz make curl. Installing %s with %s.\n",
				test.packages, manager))
			isCode(t, code, 0)
		})
	}
}

func TestNeed_withSudo(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.program(t, "id", "echo 1000")
	c.recorder(t, "sudo", `shift; [ "$1" = true ] || "$@"`)
	c.manager(t, "apt-get")
	_, calls, code := c.need(t, "graphviz")
	const lock = "apt-get -qq -o DPkg::Lock::Timeout=300 "
	is(t, "calls", calls, "sudo -n true\n"+
		"sudo -n "+lock+"update\n"+lock+"update\n"+
		"sudo -n env DEBIAN_FRONTEND=noninteractive "+lock+"install -y --no-install-recommends graphviz\n"+
		lock+"install -y --no-install-recommends graphviz\n")
	isCode(t, code, 0)
}

// A user who may not install is shown the command, and nothing is called.
func TestNeed_tells(t *testing.T) {
	t.Parallel()
	for manager, command := range map[string]string{
		"apt-get": "sudo apt-get update && sudo apt-get install -y postgresql graphviz",
		"dnf":     "sudo dnf install -y postgresql-server graphviz",
		"apk":     "sudo apk add postgresql postgresql-client graphviz",
	} {
		for _, sudo := range []string{"", "exit 1"} {
			t.Run(manager+", sudo: "+sudo, func(t *testing.T) {
				t.Parallel()
				c := newClone(t)
				c.program(t, "id", "echo 1000")
				if sudo != "" { // sudo asks for a password
					c.program(t, "sudo", sudo)
				}
				c.manager(t, manager)
				said, calls, code := c.need(t, "postgres", "graphviz")
				is(t, "said", said,
					"Missing: postgres graphviz. Install that and run this again:\n\n    "+command+"\n\n")
				is(t, "calls", calls, "")
				isCode(t, code, 1)
			})
		}
	}
}

func TestNeed_noManager(t *testing.T) {
	t.Parallel()
	said, _, code := newClone(t).need(t, "graphviz")
	is(t, "said", said, "Missing: graphviz. Install that and run this again.\n")
	isCode(t, code, 1)
}

func TestNeed_installsTheWrongThing(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.recorder(t, "dnf", "")
	said, _, code := c.need(t, "graphviz")
	is(t, "said", said, "Missing: graphviz. Installing graphviz with dnf.\nStill missing after that: graphviz.\n")
	isCode(t, code, 1)
}

// A Postgres that the server would find is not installed again.
func TestNeed_findsPostgres(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{
		"bin", "usr/lib/postgresql/15/bin", "usr/libexec/postgresql17", "usr/pgsql-16/bin", "asked",
		"opt/homebrew/opt/postgresql@17/bin", "usr/local/opt/postgresql@17/bin",
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.manager(t, "dnf")
			c.program(t, "pg_config", fmt.Sprintf("echo '%s'", c.path("asked")))
			c.write(t, dir+"/initdb", "", 0o700)
			c.write(t, dir+"/postgres", "", 0o700)
			said, calls, code := c.need(t, "postgres")
			is(t, "said", said+calls, "")
			isCode(t, code, 0)
		})
	}
}

func TestNeed_go(t *testing.T) {
	t.Parallel()
	const fetch = ": install it from https://go.dev/dl"
	for name, test := range map[string]struct{ program, said string }{
		"the same":        {"echo go1.26.8", ""},
		"a newer patch":   {"echo go1.26.10", ""},
		"a newer one":     {"echo go1.30", ""},
		"of today":        {"echo devel go1.27-abcdef", ""},
		"an older patch":  {"echo go1.26.7", "Go 1.26.8 or newer is needed, this is 1.26.7" + fetch + ", or set GOTOOLCHAIN=auto.\n"},
		"an older one":    {"echo go1.9", "Go 1.26.8 or newer is needed, this is 1.9" + fetch + ", or set GOTOOLCHAIN=auto.\n"},
		"that cannot say": {"echo invalid go version >&2; exit 1", "Go 1.26.8 or newer is needed" + fetch + ".\nThis one says: invalid go version\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.program(t, "go", test.program)
			said, _, code := c.need(t, "go")
			is(t, "said", said, test.said)
			if (code != 0) != (test.said != "") {
				t.Errorf("exit code %d", code)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		c := newClone(t)
		if err := os.Remove(c.path("bin/go")); err != nil {
			t.Fatal(err)
		}
		said, _, code := c.need(t, "go", "graphviz")
		is(t, "said", said,
			"Go is missing: install Go 1.26.8 or newer from https://go.dev/dl and put its bin directory in PATH.\n")
		isCode(t, code, 1)
	})
}
