package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"
)

// Whatever is not a message ends the session with an error that says so, and a large message before it is read.
func TestServe_broken(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                 "",
		"Content-Length: 16777217\r\n\r\n": `a message has a Content-Length of " 16777217"; at most 16777216 bytes are read`,
		"Content-Length: -1\r\n\r\n":       `a message has a Content-Length of " -1"; at most 16777216 bytes are read`,
		"Content-Length: 9\r\n\r\n{}":      "read a message: unexpected EOF",
		"Content-Length: 9\r\n\r\n":        "read a message: unexpected EOF",
		"Content-Length: 2\n\n{]":          "a message is not JSON-RPC: invalid character ']' looking for beginning of object key string",
		"Content-Length: 2\r\n\r\n{}":      "a message is not JSON-RPC: jsonrpc2: unable to determine message type (request or response)",
		"Content-Type: x\r\n\r\n":          "a message has no header Content-Length",
		"\r\n":                             "a message has no header Content-Length",
		"Content-":                         "read the header of a message: unexpected EOF",
		strings.Repeat("a", 10_000):        "read the header of a message: bufio: buffer full",
		"Content-Length: 33\r\n\r\n" + `{"jsonrpc":"2.0","method":"exit"}`: "the client has sent exit without shutdown",
	} {
		err := Serve(t.Context(), strings.NewReader(in), io.Discard, Options{Log: io.Discard, After: atOnce})
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%.50q: %s", in, cmp.Diff(want, got))
		}
	}
}

// Whatever a client sends, the server does not panic.
func FuzzServe(f *testing.F) {
	recorded, err := os.ReadFile("testdata/editing.session")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(recorded)) {
		if message, ok := strings.CutPrefix(line, "> "); ok {
			f.Add(message)
		}
	}
	f.Fuzz(func(t *testing.T, message string) {
		var in strings.Builder
		for _, m := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file:///nowhere"}}`,
			`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/a.yaml","text":"a: 1"}}}`,
			message,
		} {
			fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(m), m)
		}
		_ = Serve(t.Context(), strings.NewReader(in.String()), io.Discard, Options{Log: io.Discard, After: atOnce})
	})
}

// A request that is cancelled is answered with an error, and so is one too many.
func TestStart(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	s := &server{requests: map[jsonrpc2.ID]context.CancelFunc{}, log: log.New(io.Discard, "", 0)}
	answers := make(chan *jsonrpc2.Response, maxRequests+1)
	codec := jsonrpc2.VSCodeObjectCodec{}
	conn := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(here, codec), s)
	client := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(there, codec), s,
		jsonrpc2.OnRecv(func(_ *jsonrpc2.Request, r *jsonrpc2.Response) { answers <- r }),
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	waiting := func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for i := range uint64(maxRequests + 1) {
		s.start(t.Context(), conn, jsonrpc2.ID{Num: i}, waiting)
	}
	if busy := <-answers; busy.ID.Num != maxRequests || busy.Error.Code != codeBusy {
		t.Errorf("%+v", busy)
	}
	if err := client.Notify(t.Context(), "$/cancelRequest", map[string]any{"id": 7}); err != nil {
		t.Fatal(err)
	}
	if cancelled := <-answers; cancelled.ID.Num != 7 || cancelled.Error.Code != codeCancelled {
		t.Errorf("%+v", cancelled)
	}
}

// Files are checked once nothing has changed for a moment.
func TestWatch(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	asked, quietNow := make(chan time.Duration), make(chan time.Time)
	end := make(chan error, 1)
	go func() {
		end <- Serve(t.Context(), in, out, Options{Folder: folder, Log: io.Discard, After: func(d time.Duration) <-chan time.Time {
			asked <- d
			return quietNow
		}})
	}()
	answers := make(chan string)
	client := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(duplex{fromServer, toServer}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			answers <- string(*r.Params)
			return nil, nil
		}))
	if err := client.Call(t.Context(), "initialize", map[string]any{}, nil); err != nil {
		t.Fatal(err)
	}
	edit := func(method, text string) {
		params := fmt.Sprintf(`{"textDocument":{"uri":%q},"contentChanges":[{"text":%q}]}`, uriOf(filepath.Join(folder, "a.yaml")), text)
		if err := client.Notify(t.Context(), "textDocument/"+method, json.RawMessage(params)); err != nil {
			t.Fatal(err)
		}
		if d := <-asked; d != quiet {
			t.Errorf("it waits for %v", d)
		}
	}
	edit("didOpen", "schema: [")
	edit("didChange", "schema: {") // during the wait, which begins anew
	edit("didChange", "schema: 'a")
	quietNow <- time.Time{}
	if got := <-answers; strings.Count(got, `"source":"purser"`) != 1 || !strings.Contains(got, "The quote ' that opens here") {
		t.Error(got)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := <-end; err != nil {
		t.Error(err)
	}
}

// duplex is a connection over two pipes.
type duplex struct {
	io.Reader
	io.WriteCloser
}

// Files that cannot be checked are said once, and again after they could be.
func TestWatch_failure(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := begin(t, folder)
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, ".purser.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.send(`{"jsonrpc":"2.0","method":"workspace/didChangeWatchedFiles","params":{}}`)
	}
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"` + uriOf(folder) + `"}}`)
	s.receive(t)
	for _, c := range []struct{ config, want string }{
		{"exclud: [a]\n", `unknown option \"exclud\": did you mean exclude?`},
		{"select: [schem]\n", `there is no rule \"schem\": did you mean schema?`},
		{"baseline: none.yaml\n", "read the baseline"},
	} {
		write(c.config)
		if got := s.receive(t); !strings.Contains(got, "window/showMessage") || !strings.Contains(got, c.want) {
			t.Error(got)
		}
	}
	write("exclude: [a]\n")
	s.send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"` + uriOf(folder) + `/b.yaml","text":"schema: ["}}}`)
	if got := s.receive(t); !strings.Contains(got, "/b.yaml") || !strings.Contains(got, `"code":"syntax"`) {
		t.Error(got)
	}
	_ = s.in.Close()
	if err := <-s.end; err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// An open file that is not saved yet is checked if it would be read from disk.
func TestProject_wants(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeFiles(t, folder, "-- .purser.yaml --\nexclude: [charts, 'x/y']\n-- site/a.yaml --\nschema: [\n-- here.yaml --\na: b")
	p := &project{root: folder, paths: []string{"site", "here.yaml"}}
	if _, err := p.check(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"site/new.yaml": true, "site/a/b.json": true, "site/a.txt": false, "site/.git/a.yaml": false, "site/.a.yaml": false,
		"site/charts/a.yaml": false, "site/x/y/a.yaml": false, "other/a.yaml": false, "../site/a.yaml": false,
		"site/a.yaml": false, // it is read from disk
	} {
		if got := p.wants(filepath.Join(folder, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	open := map[string][]byte{filepath.Join(folder, "site", "a.yaml"): []byte("schema: 'x"), filepath.Join(folder, "site", "n.yaml"): []byte("{")}
	s, err := p.check(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, text := range s.texts {
		got[name] = string(text)
	}
	want := map[string]string{"site/a.yaml": "schema: 'x", "site/n.yaml": "{", "here.yaml": "a: b\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// No more findings are shown than purser check prints; the last one says how many there are beside them. Options that
// purser check refuses are refused.
func TestProject_bounds(t *testing.T) {
	t.Parallel()
	const printed, more = 10_000, 7
	folder := t.TempDir()
	p := &project{root: folder, paths: []string{"."}}
	text := strings.Repeat("--- {schema: a/B/v1, x: 1}\n", printed+more)
	s, err := p.check(t.Context(), map[string][]byte{filepath.Join(folder, "a.yaml"): []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	last := s.findings[len(s.findings)-1]
	if len(s.findings) != printed+1 || !strings.HasSuffix(last.Message, "more findings, which are not shown") || last.File != "a.yaml" {
		t.Errorf("%d findings, the last is %+v", len(s.findings), last)
	}
	writeFiles(t, folder, "-- .purser.yaml --\nbucket-by: colour")
	if _, err := p.check(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `bucket-by is "colour"`) {
		t.Errorf("bucket-by colour: %v", err)
	}
}
