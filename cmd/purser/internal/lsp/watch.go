package lsp

import (
	"context"
	"reflect"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
)

// poke asks for a check.
func (s *server) poke() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// watch checks the files whenever they have changed and nothing more has for a moment, until the client disconnects.
func (s *server) watch(ctx context.Context, conn *jsonrpc2.Conn) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		select {
		case <-conn.DisconnectNotify():
		case <-ctx.Done():
		}
	}()
	p, shown := &project{paths: s.options.Paths}, &shown{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		for isQuiet := false; !isQuiet; {
			select {
			case <-ctx.Done():
				return
			case <-s.changed:
			case <-s.options.After(quiet):
				isQuiet = true
			}
		}
		if err := s.check(ctx, conn, p, shown); err != nil && ctx.Err() == nil {
			s.log.Print(err)
		}
	}
}

// shown is what the client shows.
type shown struct {
	diagnostics map[string]publishParams // by path, of files that have some
	failure     string                   // the error of the last check; "" if it succeeded
}

// fail shows why the files are not checked, unless it is shown already.
func (last *shown) fail(ctx context.Context, conn *jsonrpc2.Conn, text string) error {
	const isError = 1
	if text == last.failure {
		return nil
	}
	last.failure = text
	return conn.Notify(ctx, "window/showMessage", //nolint:wrapcheck // it is logged
		map[string]any{"type": isError, "message": "purser: the files are not checked: " + text})
}

// check checks the files once and publishes what has changed.
func (s *server) check(ctx context.Context, conn *jsonrpc2.Conn, p *project, last *shown) error {
	s.mu.Lock()
	p.root = s.root
	texts, uris := map[string][]byte{}, map[string]string{}
	for path, buffer := range s.open {
		texts[path], uris[path] = buffer.text, buffer.uri
	}
	s.mu.Unlock()
	if p.root == "" {
		return nil
	}
	now, err := p.check(ctx, texts)
	if err != nil {
		return last.fail(ctx, conn, err.Error())
	}
	last.failure = ""
	s.mu.Lock()
	s.state = now
	s.mu.Unlock()
	return publish(ctx, conn, last, now.diagnostics(), uris)
}

// publish sends the diagnostics of files that have changed, sorted by path, and clears those of the others.
func publish(ctx context.Context, conn *jsonrpc2.Conn, last *shown, found map[string][]diagnostic,
	uris map[string]string,
) error {
	next := map[string]publishParams{}
	for path, diagnostics := range found {
		next[path] = publishParams{uris[path], diagnostics}
		if uris[path] == "" {
			next[path] = publishParams{uriOf(path), diagnostics}
		}
	}
	var paths []string
	for path, params := range next {
		if !reflect.DeepEqual(params, last.diagnostics[path]) {
			paths = append(paths, path)
		}
	}
	for path := range last.diagnostics {
		if _, ok := next[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		params, ok := next[path]
		if !ok {
			params = publishParams{last.diagnostics[path].URI, []diagnostic{}}
		}
		if err := conn.Notify(ctx, "textDocument/publishDiagnostics", params); err != nil {
			return err //nolint:wrapcheck // it is logged
		}
	}
	last.diagnostics = next
	return nil
}
