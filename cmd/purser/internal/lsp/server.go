package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Options configure a session.
type Options struct {
	// Paths are checked in the folder of the client: files and folders. None means all of it.
	Paths   []string
	Folder  string // if the client names no folder
	Version string // of the program
	Log     io.Writer
	// After is time.After. It delays checks until nothing has changed for a moment.
	After func(time.Duration) <-chan time.Time
}

// Bounds of a session.
const (
	maxOpen     = 256 << 20 // bytes of all open files
	maxRequests = 32        // that run at the same time
	quiet       = 150 * time.Millisecond
)

// The error codes of the protocol that jsonrpc2 does not have.
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeBusy           = -32802
)

// server is one session.
type server struct {
	options Options
	log     *log.Logger
	changed chan struct{} // has a value if files may have changed since the last check began

	mu       sync.Mutex
	root     string // "" before initialize
	watches  bool   // the client can report changes of files
	stopping bool   // after shutdown
	open     map[string]buffer
	size     int // bytes of open files
	requests map[jsonrpc2.ID]context.CancelFunc
	state    *state // of the last check, nil before the first
	failed   error  // why the session ended
}

// buffer is an open file.
type buffer struct {
	uri  string // as the client writes it
	text []byte
}

// errNoShutdown is the error of a session that the client ends without asking for it.
var errNoShutdown = errors.New("the client has sent exit without shutdown")

// Serve serves one client until it disconnects or the context ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, options Options) error {
	if len(options.Paths) == 0 {
		options.Paths = []string{"."}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{
		options: options, log: log.New(options.Log, "purser lsp: ", 0), changed: make(chan struct{}, 1),
		open: map[string]buffer{}, requests: map[jsonrpc2.ID]context.CancelFunc{},
	}
	ended := func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failed == nil && !errors.Is(err, io.EOF) {
			s.failed = err
		}
	}
	stream := jsonrpc2.NewBufferedStream(stdio{in, out}, codec{failed: ended})
	conn := jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	s.watch(ctx, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// stdio is a connection over two streams.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements io.Closer. The streams are closed by whoever opened them.
func (stdio) Close() error { return nil }

// Handle implements jsonrpc2.Handler. It is called for one message after the other.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Notif {
		if err := s.notified(ctx, conn, r); err != nil {
			s.log.Printf("%s: %v", r.Method, err)
		}
		return
	}
	work, err := s.requested(r)
	if err == nil && work == nil {
		return
	}
	if err != nil {
		s.reply(ctx, conn, r.ID, nil, err)
		return
	}
	s.start(ctx, conn, r.ID, work)
}

// work answers a request.
type work func(context.Context) (result any, err error)

// requested reads a request. Its errors are those of the protocol, and its work runs concurrently with other requests.
func (s *server) requested(r *jsonrpc2.Request) (work, error) {
	s.mu.Lock()
	isReady, isStopping, now := s.root != "", s.stopping, s.state
	s.mu.Unlock()
	switch {
	case r.Method == "initialize":
		return s.initialize(r)
	case !isReady:
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "send initialize first"}
	case r.Method == "shutdown":
		s.mu.Lock()
		s.stopping = true
		s.mu.Unlock()
		return answer(nil), nil
	case isStopping:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "nothing is answered after shutdown"}
	}
	ask, ok := map[string]func(context.Context, *state, spot) (any, error){
		"textDocument/hover": hoverAt, "textDocument/definition": definitionOf, "textDocument/completion": complete,
	}[r.Method]
	if !ok {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "there is no method " + r.Method}
	}
	var params positionParams
	if err := decode(r, &params); err != nil {
		return nil, err
	}
	path, isFile := pathOf(params.TextDocument.URI)
	s.mu.Lock()
	buffer, isOpen := s.open[path]
	s.mu.Unlock()
	if !isFile || !isOpen || now == nil {
		return answer(nil), nil
	}
	return func(ctx context.Context) (any, error) {
		return ask(ctx, now, spot{name: nameIn(now.root, path), text: buffer.text, at: params.Position})
	}, nil
}

// answer is work that is done.
func answer(result any) work { return func(context.Context) (any, error) { return result, nil } }

// decode reads the parameters of a message.
func decode(r *jsonrpc2.Request, into any) error {
	text := []byte("null")
	if r.Params != nil {
		text = *r.Params
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "the parameters are malformed: " + err.Error()}
	}
	return nil
}

func (s *server) initialize(r *jsonrpc2.Request) (work, error) {
	var params initializeParams
	if err := decode(r, &params); err != nil {
		return nil, err
	}
	root := s.options.Folder
	if path, ok := pathOf(params.RootURI); ok {
		root = path
	}
	if len(params.WorkspaceFolders) > 0 {
		if path, ok := pathOf(params.WorkspaceFolders[0].URI); ok {
			root = path
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("the folder %s: %w", root, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != "" {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "initialize was sent before"}
	}
	s.root, s.watches = root, params.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	return answer(map[string]any{
		"capabilities": json.RawMessage(serverCapabilities),
		"serverInfo":   map[string]string{"name": "purser", "version": s.options.Version},
	}), nil
}

// start runs the work of a request and sends the answer.
func (s *server) start(ctx context.Context, conn *jsonrpc2.Conn, id jsonrpc2.ID, do work) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	isBusy := len(s.requests) >= maxRequests
	if !isBusy {
		s.requests[id] = cancel
	}
	s.mu.Unlock()
	if isBusy {
		cancel()
		s.reply(ctx, conn, id, nil, &jsonrpc2.Error{Code: codeBusy, Message: "too many requests at once"})
		return
	}
	go func() {
		result, err := do(ctx)
		if ctx.Err() != nil {
			err = &jsonrpc2.Error{Code: codeCancelled, Message: "cancelled"}
		}
		s.mu.Lock()
		delete(s.requests, id)
		s.mu.Unlock()
		cancel()
		s.reply(ctx, conn, id, result, err)
	}()
}

// reply answers a request. A client that is gone gets no answer.
func (s *server) reply(ctx context.Context, conn *jsonrpc2.Conn, id jsonrpc2.ID, result any, err error) {
	if err == nil {
		err = conn.Reply(ctx, id, result)
	} else {
		refusal, ok := errors.AsType[*jsonrpc2.Error](err)
		if !ok {
			refusal = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		}
		err = conn.ReplyWithError(ctx, id, refusal)
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		s.log.Print(err)
	}
}

// notified reads a notification. Unknown ones are ignored, as the protocol demands.
func (s *server) notified(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) error {
	switch r.Method {
	case "initialized":
		s.mu.Lock()
		watches := s.watches
		s.mu.Unlock()
		if watches {
			go func() { // the answer is read after this message
				err := conn.Call(ctx, "client/registerCapability", json.RawMessage(watchFiles), nil)
				if err != nil && ctx.Err() == nil {
					s.log.Printf("changes of files on disk are seen only when an open file changes: %v", err)
				}
			}()
		}
		s.poke()
	case "workspace/didChangeWatchedFiles", "textDocument/didSave":
		s.poke()
	case "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose":
		if err := s.edit(r); err != nil {
			return err
		}
		s.poke()
	case "$/cancelRequest":
		var params struct {
			ID jsonrpc2.ID `json:"id"`
		}
		if err := decode(r, &params); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if cancel, ok := s.requests[params.ID]; ok {
			cancel()
		}
	case "exit":
		s.mu.Lock()
		if !s.stopping {
			s.failed = errNoShutdown
		}
		s.mu.Unlock()
		return conn.Close() //nolint:wrapcheck // it is logged
	}
	return nil
}

var (
	errNoFile  = errors.New("only files are checked")
	errPartial = errors.New("the server has asked for whole texts, and not for parts")
	errTooMuch = fmt.Errorf("the open files have more than %d MiB together", maxOpen>>20)
)

// edit opens, changes or closes a file.
func (s *server) edit(r *jsonrpc2.Request) error {
	var params openParams
	if err := decode(r, &params); err != nil {
		return err
	}
	path, ok := pathOf(params.TextDocument.URI)
	if !ok {
		return errNoFile
	}
	text := params.TextDocument.Text
	for _, change := range params.ContentChanges {
		if change.Range != nil {
			return errPartial
		}
		text = change.Text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	size := s.size - len(s.open[path].text)
	if r.Method == "textDocument/didClose" {
		s.size = size
		delete(s.open, path)
		return nil
	}
	if size += len(text); size > maxOpen {
		return errTooMuch
	}
	s.size, s.open[path] = size, buffer{params.TextDocument.URI, []byte(text)}
	return nil
}
