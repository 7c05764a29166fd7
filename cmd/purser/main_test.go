package main

import (
	"bytes"
	"strings"
	"testing"
)

// purser runs the program with arguments, and returns what it prints and its exit code.
func purser(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said bytes.Buffer
	code = run(t.Context(), args, surroundings{stdin: strings.NewReader(""), stdout: &out, stderr: &said})
	return out.String(), said.String(), code
}

// Whoever types something wrong is told what, and where the right flags are, with exit code 2.
func TestRun_wrongArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--vresion":    "purser: unknown flag --vresion, did you mean \"--version\"?\nRun 'purser --help' for its flags.\n",
		"versions":     "purser: unexpected argument versions, did you mean \"version\"?\nRun 'purser --help' for its flags.\n",
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

func TestRun_version(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"version", "--version"} {
		if stdout, stderr, code := purser(t, args); strings.TrimSpace(stdout) == "" || stderr != "" || code != 0 {
			t.Errorf("%s printed %q and %q, exit code %d", args, stdout, stderr, code)
		}
	}
}
