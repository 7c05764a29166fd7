package lsp

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"
)

var record = flag.Bool("record", false, "write what the server answers to the recorded sessions")

// atOnce is time.After for tests in which nothing is waited for.
func atOnce(time.Duration) <-chan time.Time {
	now := make(chan time.Time, 1)
	now <- time.Time{}
	return now
}

// session is a running server.
type session struct {
	in  *io.PipeWriter
	out *bufio.Reader
	end chan error
}

func begin(t *testing.T, folder string) *session {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &session{in: toServer, out: bufio.NewReader(fromServer), end: make(chan error, 1)}
	t.Cleanup(func() {
		_, _ = toServer.Close(), fromServer.Close()
	})
	go func() {
		s.end <- Serve(t.Context(), in, out, Options{Folder: folder, Version: "test", Log: io.Discard, After: atOnce})
		_ = out.Close()
	}()
	return s
}

// send sends a message. The server may have ended before it has read all of it.
func (s *session) send(message string) {
	_, _ = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(message), message)
}

// receive returns the next message, in one line.
func (s *session) receive(t *testing.T) string {
	t.Helper()
	var message json.RawMessage
	if err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(s.out, &message); err != nil {
		t.Fatal(err)
	}
	return string(message) + "\n"
}

// writeFiles writes files of a txtar-like text, each after a line "-- name --", to a folder.
func writeFiles(t *testing.T, folder, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n-- ")[1:] {
		name, content, _ := strings.Cut(part, " --\n")
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The server answers recorded sessions as it did when they were recorded. In testdata/*.session, > begins a message of
// the client, and < one of the server, which is awaited. $ROOT is the URI of the folder, which has the
// files of testdata/site.txt.
func TestSessions(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.session")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	site, err := os.ReadFile("testdata/site.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			writeFiles(t, folder, string(site))
			got := replay(t, begin(t, folder), string(recorded), uriOf(folder))
			if *record {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(recorded), got); diff != "" {
				t.Errorf("(-recorded +got)\n%s", diff)
			}
		})
	}
}

// replay sends the messages of a recorded session, and returns the session with what the server says.
func replay(t *testing.T, s *session, recorded, root string) string {
	t.Helper()
	var got strings.Builder
	for line := range strings.Lines(recorded) {
		switch {
		case strings.HasPrefix(line, "> "):
			got.WriteString(line)
			s.send(strings.ReplaceAll(strings.TrimSpace(line[2:]), "$ROOT", root))
		case strings.HasPrefix(line, "<"):
			got.WriteString("< " + strings.ReplaceAll(s.receive(t), root, "$ROOT"))
		case strings.HasPrefix(line, "#"), strings.TrimSpace(line) == "":
			got.WriteString(line)
		}
	}
	if err := <-s.end; err != nil {
		t.Errorf("the session ended with: %v", err)
	}
	return got.String()
}
