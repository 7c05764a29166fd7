package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// supervise runs Postgres again and again until ctx ends, and closes ready when it answers for the first time. If it
// ends before that, supervise returns. After the end of patient, Postgres is no longer given the time for a checkpoint.
func (c *Cluster) supervise(ctx, patient context.Context, ready chan<- struct{}) error {
	// The pause between two runs doubles, and is reset after a long run.
	const minPause, maxPause, longRun = 100 * time.Millisecond, 10 * time.Second, time.Minute
	answered := false
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		began := time.Now()
		err := c.run(ctx, patient, func() {
			c.log.InfoContext(ctx, "private Postgres is running", "directory", c.data, "version", c.bin.major)
			if !answered {
				close(ready)
			}
			answered = true
		})
		if !answered {
			return err
		}
		if time.Since(began) > longRun {
			pause = minPause
		}
		if ctx.Err() == nil {
			c.log.ErrorContext(ctx, "private postgres ended and is started again", "error", err, "pause", pause)
		}
		if !sleep(ctx, pause) {
			return context.Cause(patient) //nolint:wrapcheck // made by Stop
		}
	}
}

// run runs Postgres until it ends or ctx does, and calls ready when the database answers.
func (c *Cluster) run(ctx, patient context.Context, ready func()) error {
	data, err := c.claim(ctx)
	if err != nil {
		return err
	}
	defer data.Close() //nolint:errcheck // only locked
	if err := c.makeSocketDir(); err != nil {
		return err
	}
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer log.Close()                    //nolint:errcheck // only read
	offset, _ := log.Seek(0, io.SeekEnd) // a regular file
	cmd := c.command(patient, "postgres", c.arguments()...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{data}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // cmd.ProcessState has the result
		close(exited)
	}()
	err = c.waitReady(ctx, exited)
	if err == nil {
		ready()
		select {
		case <-exited:
		case <-ctx.Done():
		}
	}
	_ = cmd.Process.Signal(syscall.SIGINT) // fails only when it has ended
	<-exited
	if err == nil {
		return fmt.Errorf("postgres ended: %s", cmd.ProcessState)
	}
	text, _ := io.ReadAll(io.NewSectionReader(log, offset, 1<<20))
	return fmt.Errorf("wait for postgres: %w (%s)%s", err, cmd.ProcessState, lastLines(text))
}

// arguments returns the command line of postgres. If a setting occurs twice, the last one wins.
func (c *Cluster) arguments() []string {
	settings := append([]string{
		"listen_addresses=",
		`unix_socket_directories="` + strings.ReplaceAll(c.socket, `"`, `""`) + `"`,
		"unix_socket_permissions=0700",
		"port=" + port,
		"max_connections=50",
		"shared_buffers=64MB",
		"jit=off", // compiling costs more than any of our queries
		"timezone=UTC",
		"log_timezone=UTC",
		"log_destination=stderr",
		"logging_collector=off",
		"log_checkpoints=off",
		"log_min_error_statement=fatal", // the statements hold people's documents
	}, c.settings...)
	args := []string{"-D", c.data}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// waitReady returns when Postgres accepts connections, or an error if it never will.
func (c *Cluster) waitReady(ctx context.Context, exited <-chan struct{}) error {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		// A line of the file is the state; pg_ctl waits for it too.
		if text, _ := os.ReadFile(filepath.Join(c.data, pidFile)); strings.Contains(string(text), "\nready") {
			return nil
		}
		select {
		case <-tick.C: // recovery after a crash can take its time
			c.log.WarnContext(ctx, "private postgres is not ready yet")
		case <-exited:
			return errors.New("it ended while it started")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
}

// poll is the interval of polling.
const poll = 20 * time.Millisecond

// waitFor reports whether a condition becomes true before the time has passed or ctx has ended.
func waitFor(ctx context.Context, patience time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !holds() {
		if !sleep(ctx, poll) {
			return false
		}
	}
	return true
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

// lastLines returns the last lines of a text, indented and each after a line break.
func lastLines(text []byte) string {
	const n = 8
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = lines[max(0, len(lines)-n):]
	if lines[0] == "" {
		return ""
	}
	return ":\n\t" + strings.Join(lines, "\n\t")
}
