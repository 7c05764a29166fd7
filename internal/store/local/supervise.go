package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The pause before a start after Postgres ended doubles from the shortest to the longest; a run of calm length ends
// that.
const (
	shortest = 100 * time.Millisecond
	longest  = 10 * time.Second
	calm     = time.Minute
)

// errOrphans is a start refused because processes of a killed postmaster are still about; they soon notice and end.
var errOrphans = errors.New("pre-existing shared memory block")

// up starts Postgres and returns when it can be used. When it fails, nothing runs.
func (c *Cluster) up(ctx context.Context) (*postmaster, error) {
	if err := c.clear(ctx); err != nil {
		return nil, err
	}
	p, err := c.launch() //nolint:contextcheck // Postgres is ended by a signal, never by a context
	if err != nil {
		return nil, err
	}
	if err := c.waitReady(ctx, p); err != nil {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_ = p.shutdown(ctx) // the first error says what is wrong
		return nil, err
	}
	return p, nil
}

// firstUp is up for Start, where all but orphans is for a person to solve.
func (c *Cluster) firstUp(ctx context.Context) (*postmaster, error) {
	for pause := shortest; ; pause *= 2 {
		p, err := c.up(ctx)
		if !errors.Is(err, errOrphans) || pause > longest || !sleep(ctx, pause) {
			return p, err
		}
	}
}

// supervise keeps Postgres running until ctx ends. Stopping it then is left to the caller.
func (c *Cluster) supervise(ctx context.Context) {
	defer close(c.supervised)
	pause := shortest
	for c.current != nil {
		select {
		case <-ctx.Done():
			return
		case <-c.current.exited:
		}
		c.log.ErrorContext(ctx, "private postgres ended by itself and is started again",
			"end", c.current.cmd.ProcessState.String())
		if time.Since(c.current.began) > calm {
			pause = shortest
		}
		c.current, pause = c.revive(ctx, pause)
	}
}

// revive tries until Postgres runs again and returns the pause for the next time; nil when ctx ends first.
func (c *Cluster) revive(ctx context.Context, pause time.Duration) (*postmaster, time.Duration) {
	for sleep(ctx, pause) {
		pause = min(2*pause, longest)
		p, err := c.up(ctx)
		if err == nil {
			c.log.InfoContext(ctx, "private postgres runs again")
			return p, pause
		}
		if ctx.Err() == nil {
			c.log.ErrorContext(ctx, "start private postgres again", "error", err, "next_try_in", pause)
		}
	}
	return nil, pause
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

// clear makes way for a postmaster of ours on a cluster that a killed server may have left in any state.
func (c *Cluster) clear(ctx context.Context) error {
	if _, err := os.Stat("/proc/self"); err != nil {
		return nil //nolint:nilerr // nothing can be told about processes here, so Postgres decides
	}
	file := filepath.Join(c.data, "postmaster.pid")
	if pid := pidIn(file); pid != 0 && runsIn(pid, c.data) {
		c.log.WarnContext(ctx, "stopping a private postgres that was left over", "pid", pid)
		if err := c.stopLeftover(ctx, pid); err != nil {
			return err
		}
	}
	return errors.Join(removeStale(file), removeStale(filepath.Join(c.socket, ".s.PGSQL."+port+".lock")))
}

// stopLeftover stops a postmaster that is not our child, so that its end can only be looked for.
func (c *Cluster) stopLeftover(ctx context.Context, pid int) error {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		_ = syscall.Kill(pid, signal) // fails only when it has ended
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			if !runsIn(pid, c.data) {
				return nil
			}
			if !sleep(ctx, poll) {
				return fmt.Errorf("stop the postgres left over: %w", ctx.Err())
			}
		}
	}
	return fmt.Errorf("the postgres left over in %s (pid %d) does not stop; kill it", c.data, pid)
}

// pidIn returns the postmaster that a lock file names, 0 if there is none.
func pidIn(file string) int {
	text, err := os.ReadFile(file) //nolint:gosec // in the cluster
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return 0
	}
	return pid
}

// runsIn reports whether the process works in dir, which a postmaster does from its first to its last moment. Not so
// one that only got the same number after a reboot, nor a zombie that nobody waits for.
func runsIn(pid int, dir string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	got, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && os.SameFile(want, got)
}

// removeStale removes a lock file of Postgres's, of whose postmaster is known that it does not run, if its number is
// now a zombie's or another process's: Postgres would refuse to start because of it. Other stale ones are left to
// Postgres.
func removeStale(file string) error {
	pid := pidIn(file)
	if pid == 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove a stale lock file: %w", err)
	}
	return nil
}

// words is the end of a log, as an error to put at the end of another; errors.Is finds out what it is about.
type words string

func (w words) Error() string { return string(w) }

// Is knows the message by which Postgres names orphans; no exit code tells them.
func (w words) Is(target error) bool {
	return target == errOrphans && strings.Contains(string(w), errOrphans.Error())
}

// lastWords returns the end of what Postgres wrote since it was launched.
func (c *Cluster) lastWords(p *postmaster) words {
	f, err := os.Open(c.output)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	const enough = 8 << 10
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(p.offset, info.Size()-enough)
	text, _ := io.ReadAll(io.NewSectionReader(f, from, enough))
	return words(lastLines(string(text)))
}

// lastLines returns the last lines of text, indented and each after a line break.
func lastLines(text string) string {
	const n = 8
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-n):]
	if lines[0] == "" {
		return ""
	}
	return ":\n\t" + strings.Join(lines, "\n\t")
}
