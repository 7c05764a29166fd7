package picture

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestLayout_SVG_ends(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	gone := errors.New("gone")
	for name, l := range map[string]*Layout{"waiting": NewLayout(0), "at work": NewLayout(1)} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(gone) })
			if _, err := l.SVG(ctx, endless()); !errors.Is(err, gone) {
				t.Errorf("got %v, want the cause", err)
			}
		})
	}
}

// endless is a graph that takes Graphviz longer than a test should last.
func endless() string {
	var b strings.Builder
	b.WriteString("digraph {")
	for i := range 1000 {
		for j := range 20 {
			b.WriteString(port(i) + "->" + port((i*j*7+j)%1000) + ";")
		}
	}
	return b.String() + "}"
}

func TestLayout_SVG_brokenText(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	if _, err := NewLayout(1).SVG(t.Context(), "digraph {"); err == nil || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("got %v, want what Graphviz said", err)
	}
}

// A program that needs more memory than it may have ends, and is said to have needed too much.
func TestRun_memory(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	const few = 20_000 // KiB
	if _, err := run(t.Context(), "dot", endless(), few); !errors.Is(err, errKilled) {
		t.Errorf("got %v, want %v", err, errKilled)
	}
}

func TestLimitedBuffer(t *testing.T) {
	t.Parallel()
	b := &limitedBuffer{room: 10}
	n, err := io.Copy(b, strings.NewReader("0123456789"))
	if n != 10 || err != nil {
		t.Errorf("copied %d, %v", n, err)
	}
	if _, err := io.Copy(b, strings.NewReader("x")); !errors.Is(err, errFull) || string(b.text) != "0123456789" {
		t.Errorf("got %q, %v", b.text, err)
	}
}
