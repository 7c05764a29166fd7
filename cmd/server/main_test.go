package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// command runs the program with arguments and returns what it prints on standard error, and its exit code.
func command(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return stderr.String(), code
}

// The error for an unknown flag says where to find the valid ones.
func TestRun_wrongFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--cache-size 1":  "--cache-size was removed: what it set follows from --memory; leave it out\nRun 'purser-server serve --help' for its flags.\n",
		"--lisen x":       "unknown flag --lisen, did you mean \"--listen\"?\nRun 'purser-server serve --help' for its flags.\n",
		"serve --lisen x": "unknown flag --lisen, did you mean \"--listen\"?\nRun 'purser-server serve --help' for its flags.\n",
		"foo":             "unexpected argument foo\nRun 'purser-server --help' for the commands.\n",
		"secrets":         "expected one of \"new\", \"rotate\"\nRun 'purser-server secrets --help' for its flags.\n",
		"secrets new":     "missing flags: --secrets-keyset=FILE\nRun 'purser-server secrets new --help' for its flags.\n",
		"--compat x":      "--compat must be one of \"deckhand\" but got \"x\"\nRun 'purser-server serve --help' for its flags.\n",
		"--max-depth 0":   "serve: --max-depth must be greater than zero\nRun 'purser-server serve --help' for its flags.\n",
		"--max-waits=-1":  "serve: --max-waits must not be negative\nRun 'purser-server serve --help' for its flags.\n",
		"--memory 1MiB":   "serve: --memory must be at least 128MiB\nRun 'purser-server serve --help' for its flags.\n",
		"--max-body 1MB":  "--max-body: \"1MB\" is not a size such as 512MiB, 1.5GiB or 536870912\nRun 'purser-server serve --help' for its flags.\n",
		"--events-keep 1": "--events-keep: \"1\" is not a time such as 7d or 12h\nRun 'purser-server serve --help' for its flags.\n",
		"--log-level hi":  "--log-level: \"hi\" is none of debug, info, warn and error\nRun 'purser-server serve --help' for its flags.\n",
		"--auth oidc":     "serve: --auth=oidc needs an --oidc-issuer and an --oidc-audience\nRun 'purser-server serve --help' for its flags.\n",
		"--auth keystone": "serve: --auth=keystone needs a --keystone-url\nRun 'purser-server serve --help' for its flags.\n",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			said, code := command(t, strings.Fields(args)...)
			if diff := cmp.Diff("purser-server: "+want, said); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
		})
	}
}

// An existing keyset is kept, and the message gives advice.
func TestRun_keysetExists(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	if said, code := command(t, "secrets", "new", "--secrets-keyset", path); code != 0 {
		t.Fatal(said)
	}
	said, code := command(t, "secrets", "new", "--secrets-keyset", path)
	want := "purser-server: " + path + " already exists and may hold keys that are in use: `purser-server secrets rotate` " +
		"adds a key to it; for another keyset, choose another file\n"
	if said != want || code != 1 {
		t.Errorf("the message is %q, exit code %d; want %q", said, code, want)
	}
}

// If no database is given and the private one cannot be started, the message says how to specify one.
func TestRun_noDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "postgres", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, code := command(t, "serve", "--listen", "127.0.0.1:0", "--state-dir", dir, "--database-url=")
	if !strings.HasPrefix(said, "purser-server: "+dir) || !strings.Contains(said, "set PURSER_DATABASE_URL") {
		t.Errorf("the message is %q", said)
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// The help shows the defaults of sizes and times.
func TestRun_helpDefaults(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	run(t.Context(), []string{"serve", "--help"}, &stdout, &stderr)
	for _, want := range []string{
		"--max-body=32MiB", "--max-document-size=4MiB", "--events-keep=7d", "--ui-oidc-scopes=profile",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
}
