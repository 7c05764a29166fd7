package main

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The configuration and the records of pulls are kept in a folder of the tests, and not in those of whoever runs them.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "purser-home-")
	for _, name := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		if err == nil {
			err = os.Setenv(name, home)
		}
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// purser runs the program with arguments, and returns what it prints and its exit code.
func purser(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said bytes.Buffer
	code = run(t.Context(), args, surroundings{stdin: strings.NewReader(""), stdout: &out, stderr: &said})
	return out.String(), said.String(), code
}

// The error for a wrong command line names the mistake and where to find the flags; the exit code is 2.
func TestRun_wrongArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--vresion": "purser: unknown flag --vresion, did you mean \"--version\"?\nRun 'purser --help' for its flags.\n",
		"versions":  "purser: unexpected argument versions, did you mean \"version\"?\nRun 'purser --help' for its flags.\n",
		"--server lab whoami": "purser: --server stands before the command, and flags follow it: purser COMMAND --server\n" +
			"Run 'purser --help' for its flags.\n",
		"-o json log": "purser: -o stands before the command, and flags follow it: purser COMMAND -o\n" +
			"Run 'purser --help' for its flags.\n",
		"log --srver lab":         "purser: unknown flag --srver, did you mean \"--server\"?\nRun 'purser log --help' for its flags.\n",
		"check --formt json":      "purser: unknown flag --formt, did you mean \"--format\"?\nRun 'purser check --help' for its flags.\n",
		"check --wr":              "purser: unknown flag --wr, did you mean \"--write-baseline\"?\nRun 'purser check --help' for its flags.\n",
		"check --re":              "purser: unknown flag --re, did you mean \"--render\"?\nRun 'purser check --help' for its flags.\n",
		"status --toke":           "purser: unknown flag --toke, did you mean one of \"--token\", \"--token-file\"?\nRun 'purser status --help' for its flags.\n",
		"diff":                    "purser: <before> is missing\nRun 'purser diff --help' for its flags.\n",
		"status --expect failure": "purser: --expect must be one of \"success\" but got \"failure\"\nRun 'purser status --help' for its flags.\n",
		"status --wait=-5s": "purser: status: --wait must be a time such as 10m, not -5s\n" +
			"Run 'purser status --help' for its flags.\n",
		"push b --wait=-5s": "purser: push: --wait must be a time such as 10m, not -5s\n" +
			"Run 'purser push --help' for its flags.\n",
		"results post v --status x": "purser: --status must be one of \"success\",\"failure\" but got \"x\"\n" +
			"Run 'purser results post --help' for its flags.\n",
		"push b . --if-unchanged latest": "purser: push: --if-unchanged must be the number of a revision, such as 17, not latest: purser log " +
			"lists them\nRun 'purser push --help' for its flags.\n",
		"prune --keep 0": "purser: prune: --keep must be at least 1, not 0: the newest revision always stays\n" +
			"Run 'purser prune --help' for its flags.\n",
		"version --no": "purser: unknown flag --no\nRun 'purser version --help' for its flags.\n",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := purser(t, strings.Fields(args)...)
			if stdout != "" || stderr != want || code != exitFailed {
				t.Errorf("printed %q and %q, exit code %d; want %q, %d", stdout, stderr, code, want, exitFailed)
			}
		})
	}
}

// An empty value of a flag that takes a text is refused, and that of an argument too: it comes from an unset variable.
func TestRun_empty(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	mayBeEmpty := []string{"message", "data", "role", "cluster"}
	for _, leaf := range parser.Model.Leaves(true) {
		command := strings.Fields(leaf.Path())
		for _, flag := range leaf.Flags {
			if kind := flag.Target.Kind(); kind != reflect.String && kind != reflect.Slice {
				continue
			}
			args := append(slices.Clone(command), "--"+flag.Name+"=")
			for _, argument := range leaf.Positional {
				args = append(args, map[bool]string{true: "acme/Host/v1/a", false: "1"}[argument.Name == "document"])
			}
			_, stderr, code := purser(t, args...)
			refused := strings.Contains(stderr, "--"+flag.Name+" must not be empty") ||
				strings.Contains(stderr, "--"+flag.Name+" must be one of")
			if refused = refused && code == exitFailed; refused == slices.Contains(mayBeEmpty, flag.Name) {
				t.Errorf("%q: exit code %d\n%s", args, code, stderr)
			}
		}
	}
	for _, args := range [][]string{{"status", ""}, {"rollback", ""}, {"push", "site", ""}, {"diff", "1", ""}, {"check", ""}} {
		if _, stderr, code := purser(t, args...); code != exitFailed || !strings.Contains(stderr, "must not be empty") {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
}

func TestRun_version(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"version", "--version"} {
		if stdout, stderr, code := purser(t, args); strings.TrimSpace(stdout) == "" || stderr != "" || code != 0 {
			t.Errorf("%s printed %q and %q, exit code %d", args, stdout, stderr, code)
		}
	}
}
