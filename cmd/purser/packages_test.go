package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// purser check --murano reports the same about packages as mpl-check, with the exit codes of purser check.
func TestCheck_murano(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const good = "Type: Library\nFullName: a.B\nDescription: x\n"
	for name, text := range map[string]string{
		"good/manifest.yaml": good, "good/LICENSE": "", "warned/manifest.yaml": good,
		"bad/manifest.yaml": strings.Replace(good, "Type: Library", "Type: 1", 1), "bad/LICENSE": "", "empty/x.yaml": "x: 1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string // parts
	}{
		{"good", 0, "", ""},
		{"warned", 0, "W121", ""},
		{"warned --fail-on warning", 1, "W121", ""},
		{"warned --ignore W121 --fail-on warning", 0, "", ""},
		{"bad", 1, "E071", ""},
		{"bad --format sarif", 1, `"ruleId"`, ""},
		{"bad --select PKG:W121", 0, "", ""},
		{". --format json", 1, "E071", ""},
		{"empty", 2, "", "there is no package"},
		{"none", 2, "", "none"},
		{"good --format github", 2, "", "--format"},
		{"good --ignore nothing", 2, "", `no code "nothing"`},
	} {
		args := strings.Fields(c.args)
		args[0] = filepath.Join(dir, args[0])
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"check", "--murano"}, args...), surroundings{stdout: &stdout, stderr: &stderr})
		if code != c.code || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.args, code, c.code, &stdout, &stderr)
		}
	}
}
