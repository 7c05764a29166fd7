package local

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"
)

// The pause before Postgres is started again doubles from minPause to maxPause; after a run of resetAfter it begins
// anew.
const (
	minPause   = 100 * time.Millisecond
	maxPause   = 10 * time.Second
	resetAfter = time.Minute
)

// supervise keeps Postgres running until ctx ends. Stopping it then is left to the caller.
func (c *Cluster) supervise(ctx context.Context) {
	defer close(c.supervised)
	pause := minPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.current.exited:
		}
		c.log.ErrorContext(ctx, "private postgres ended by itself and is started again",
			"end", c.current.cmd.ProcessState.String())
		if time.Since(c.current.began) > resetAfter {
			pause = minPause
		}
		for c.current = nil; c.current == nil; pause = min(2*pause, maxPause) {
			if !sleep(ctx, pause) {
				return
			}
			c.current = c.restart(ctx, pause)
		}
	}
}

// restart starts Postgres after it ended, and returns nil if it fails.
func (c *Cluster) restart(ctx context.Context, pause time.Duration) *postmaster {
	p, err := c.up(ctx)
	switch {
	case err == nil:
		c.log.InfoContext(ctx, "private postgres runs again")
	case ctx.Err() == nil:
		c.log.ErrorContext(ctx, "start private postgres again", "error", err, "next_try_in", min(2*pause, maxPause))
	}
	return p
}

// up starts Postgres and returns when it is ready. When it fails, nothing runs.
func (c *Cluster) up(ctx context.Context) (*postmaster, error) {
	if err := c.clear(ctx); err != nil {
		return nil, err
	}
	p, err := c.launch() //nolint:contextcheck // Postgres is ended by a signal, never by a context
	if err != nil {
		return nil, err
	}
	if err := c.waitReady(ctx, p); err != nil {
		p.abandon(ctx)
		return nil, err
	}
	return p, nil
}

// sleep reports whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// lastWords is the end of Postgres's log, as an error to put at the end of another.
type lastWords string

func (w lastWords) Error() string { return string(w) }

// errOrphans is a start refused because processes of a killed postmaster are still running; they soon notice and end.
var errOrphans = errors.New("pre-existing shared memory block")

// Is recognises errOrphans by Postgres's message; its exit code does not tell.
func (w lastWords) Is(target error) bool {
	return target == errOrphans && strings.Contains(string(w), errOrphans.Error())
}

// lastWordsOf returns the end of what Postgres wrote since it was launched.
func (c *Cluster) lastWordsOf(p *postmaster) lastWords {
	text, err := os.ReadFile(c.output)
	if err != nil || int64(len(text)) < p.offset {
		return ""
	}
	return lastWords(lastLines(string(text[p.offset:])))
}

// lastLines returns the last lines of a text, indented and each after a line break.
func lastLines(text string) string {
	const n = 8
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-n):]
	if lines[0] == "" {
		return ""
	}
	return ":\n\t" + strings.Join(lines, "\n\t")
}
