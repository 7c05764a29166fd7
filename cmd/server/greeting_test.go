package main

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The greeting has the address under which clients reach the server, and no pages that are not served.
func TestGreeting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listening, public string
		ui                bool
		pages, api        string
	}{
		{"http://127.0.0.1:9000", "", true, "http://127.0.0.1:9000/ui/", "http://127.0.0.1:9000"},
		{"https://127.0.0.1:41234", "", true, "https://127.0.0.1:41234/ui/", "https://127.0.0.1:41234"},
		{"http://127.0.0.1:9000", "", false, "none (--no-ui)", "http://127.0.0.1:9000"},
		{"http://127.0.0.1:9000", "https://purser.example/site/", true, "https://purser.example/site/ui/", "https://purser.example/site"},
		{"http://127.0.0.1:9000", "https://purser.example", false, "none (--no-ui)", "https://purser.example"},
		{"http://[::]:9000", "", true, "http://localhost:9000/ui/", "http://localhost:9000"},
		{"https://0.0.0.0:9000", "", true, "https://localhost:9000/ui/", "https://localhost:9000"},
		{"http://[::1]:9000", "", true, "http://[::1]:9000/ui/", "http://[::1]:9000"},
	} {
		serve := serveCommand{PublicURL: c.public, pagesFlags: pagesFlags{UI: c.ui}}
		want := "pages  " + c.pages + "\nAPI    " + c.api + "/docs\n" +
			"next   export PURSER_SERVER=" + c.api + ", then \"A first tour\" in README.md\n"
		if diff := cmp.Diff(want, serve.greeting(c.listening)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
}

// Only a terminal gets the greeting, and only beside a log for people.
func TestGreets(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for _, c := range []struct {
		stdout io.Writer
		format string
		want   bool
	}{
		{terminal, "text", true},
		{terminal, "json", false},
		{file, "text", false},
		{new(bytes.Buffer), "text", false},
	} {
		if got := (logFlags{LogFormat: c.format}).greets(c.stdout); got != c.want {
			t.Errorf("%T with --log-format=%s: %v", c.stdout, c.format, got)
		}
	}
}
