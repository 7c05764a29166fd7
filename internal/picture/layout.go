package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
)

const (
	// maxTime is how long one picture may take to lay out, and maxCPU how many seconds of a core.
	maxTime = 10 * time.Second
	maxCPU  = 10
	// maxMemory is how many KiB of address space Graphviz may use. It needs about 50 MiB for the largest pictures, and
	// 100 MiB for its libraries.
	maxMemory = 512 << 10
	// maxSVG is how many bytes one picture may have, and its source text.
	maxSVG = 32 << 20
	// Graphviz lays out this much in about four seconds and 50 MB, except for pathological graphs. An edge costs as much
	// as it passes layers.
	maxDocuments = 5000
	maxPassed    = 10000
	maxLayers    = 60
)

// Fits reports whether a graph is small enough for a picture. Fault: TooLarge.
func Fits(g *rendering.Graph) error {
	inhabited := map[int]bool{}
	for _, v := range g.Vertices {
		inhabited[v.Rank] = true
	}
	passed := 0
	for _, e := range g.Edges {
		from, to := g.Vertices[e.From].Rank, g.Vertices[e.To].Rank
		passed += 1 + max(from-to, to-from)
	}
	for _, limit := range []struct {
		what      string
		has, most int
	}{
		{"documents", len(g.Vertices), maxDocuments},
		{"layers", len(inhabited), maxLayers},
		{"dependencies, counted again for each layer that they pass,", passed, maxPassed},
	} {
		if limit.has > limit.most {
			return tooLarge("It has %d %s and at most %d are drawn", limit.has, limit.what, limit.most)
		}
	}
	return nil
}

// Layout lays pictures out with Graphviz's program dot, at most so many at once as it was made for. It is safe for
// concurrent use.
type Layout struct{ running chan struct{} }

// NewLayout returns a layout that runs so many programs at once.
func NewLayout(runs int) *Layout { return &Layout{make(chan struct{}, runs)} }

// SVG lays out Graphviz text. Faults: Unimplemented (GraphvizMissing) on a machine without the program, TooLarge for a
// picture that takes too long or gets too large. When the context ends, its cause is the error.
func (l *Layout) SVG(ctx context.Context, text string) ([]byte, error) {
	program, err := exec.LookPath("dot")
	if err != nil {
		return nil, fault.New(fault.Unimplemented, "GraphvizMissing",
			"SVG is laid out by Graphviz, which this server does not find. Install it where the server runs (apt-get install "+
				"graphviz), or ask for text/vnd.graphviz and lay that out yourself.").Because(err)
	}
	select {
	case l.running <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another picture: %w", context.Cause(ctx))
	}
	defer func() { <-l.running }()
	m := budget.NewMeter(ctx) // of the buffer for the program's output
	if err := m.Hold(maxSVG); err != nil {
		return nil, budget.About(err, "lay out a picture")
	}
	defer m.Release(maxSVG)
	ending, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	svg, err := run(ending, program, text, maxMemory)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("lay out: %w", context.Cause(ctx))
	case ending.Err() != nil:
		return nil, tooLarge("Laying it out takes more than %v", maxTime)
	case errors.Is(err, errFull):
		return nil, tooLarge("It would have more than %d bytes", maxSVG)
	case errors.Is(err, errKilled):
		return nil, tooLarge("Laying it out takes more than %d s of a processor or %d MiB of memory", maxCPU, maxMemory>>10)
	}
	return svg, err
}

// limited is a shell's command that runs a program within limits of memory and time, where the system knows them.
const limited = `ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; exec "$0" -Tsvg`

// run lays out a text with so many KiB of memory.
func run(ctx context.Context, program, text string, memory int) ([]byte, error) {
	//nolint:gosec // the program is the one that the server's PATH leads to
	command := exec.CommandContext(ctx, "/bin/sh", "-c", limited, program, strconv.Itoa(memory), strconv.Itoa(maxCPU))
	svg, messages := &limitedBuffer{room: maxSVG}, &limitedBuffer{room: 1 << 10}
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), svg, messages
	// With SERVER_NAME Graphviz opens no file that a text may name.
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C.UTF-8", "SERVER_NAME=purser"}
	command.WaitDelay = time.Second
	if err := command.Run(); err != nil {
		if svg.full {
			return nil, errFull
		}
		if bytes.Contains(messages.text, []byte("memory allocation failure")) || stopped(command.ProcessState) {
			return nil, errKilled
		}
		return nil, fmt.Errorf("run %s: %w: %s", program, err, messages.text)
	}
	return svg.text, nil
}

var (
	errFull   = errors.New("there is no more room")
	errKilled = errors.New("the program exceeded a limit")
)

// stopped reports whether a program was ended by a signal, which is how the limits end it.
func stopped(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// limitedBuffer keeps a limited number of the bytes written to it.
type limitedBuffer struct {
	text []byte
	room int
	full bool
}

// Write implements io.Writer.
func (b *limitedBuffer) Write(text []byte) (int, error) {
	if b.full = b.full || len(text) > b.room-len(b.text); b.full {
		return 0, errFull
	}
	b.text = append(b.text, text...)
	return len(text), nil
}

// tooLarge is the fault of a graph that is too large to draw.
func tooLarge(format string, args ...any) error {
	return document.TooLarge("This graph is too large for a picture. "+format+
		"; ask for a part of it with focus=SCHEMA/NAME and depth=1, or for JSON.", args...)
}
