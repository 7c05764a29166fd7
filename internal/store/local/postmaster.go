package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// poll is the interval of polling.
const poll = 20 * time.Millisecond

// postmaster is one run of Postgres as a child of ours.
type postmaster struct {
	cmd    *exec.Cmd
	began  time.Time
	offset int64         // of its first line in the log file
	exited chan struct{} // closed after cmd.Wait
}

// arguments returns the command line of postgres. Of a setting that comes twice, the last one is in force.
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

// launch starts Postgres and does not wait until it is ready.
func (c *Cluster) launch() (*postmaster, error) {
	output, offset, err := openLog(c.output)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // the child has its own
	cmd := c.command(context.Background(), "postgres", c.arguments()...)
	cmd.Stdout, cmd.Stderr = output, output
	if !c.outlive {
		dieWithParent(cmd.SysProcAttr)
	}
	p := &postmaster{cmd: cmd, began: time.Now(), offset: offset, exited: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	return p, nil
}

// run keeps one thread for as long as Postgres runs: to the kernel, the thread that started a child is its parent, and
// the end of an idle thread would be the death of the parent.
func (p *postmaster) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // cmd.ProcessState has the result
	close(p.exited)
}

// abandon stops a Postgres that did not become ready. It takes a while of its own for that, for ctx may have ended.
func (p *postmaster) abandon(ctx context.Context) {
	const grace = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	_ = p.shutdown(ctx) // the start has failed for another reason
}

// shutdown stops Postgres and waits for its end: with a checkpoint if ctx lasts that long, else as in a crash.
func (p *postmaster) shutdown(ctx context.Context) error {
	_ = p.cmd.Process.Signal(syscall.SIGINT) // fails only when it has ended
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
	}
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second): // Postgres kills its own children after 5
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	return fmt.Errorf("stop postgres without a checkpoint, it will recover at the next start: %w", ctx.Err())
}

// waitReady returns when the database is ready, or an error if it never will be.
func (c *Cluster) waitReady(ctx context.Context, p *postmaster) error {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		err := c.ensureDatabase(ctx)
		if err == nil || isPermanent(err) {
			return err
		}
		select {
		case <-tick.C: // recovery after a crash can take its time
			c.log.WarnContext(ctx, "private postgres does not answer yet", "error", err, "log", c.output)
		case <-p.exited:
			return fmt.Errorf("postgres ended while it started: %s%w", p.cmd.ProcessState, c.lastWordsOf(p))
		case <-ctx.Done():
			return fmt.Errorf("wait for postgres: %w (%w)%w", ctx.Err(), err, c.lastWordsOf(p))
		case <-time.After(poll):
		}
	}
}

// ensureDatabase creates Purser's database if it does not exist.
func (c *Cluster) ensureDatabase(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect to private postgres: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var exists bool
	const query = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"
	if err := conn.QueryRow(ctx, query, database).Scan(&exists); err != nil {
		return fmt.Errorf("look for database %s: %w", database, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+database); err != nil {
		return fmt.Errorf("create database %s: %w", database, err)
	}
	return nil
}

// isPermanent reports whether Postgres will answer the same again. It does not if it starts, stops or lacks resources
// (classes 57 and 53).
func isPermanent(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !strings.HasPrefix(answer.Code, "57") && !strings.HasPrefix(answer.Code, "53")
}

// openLog opens Postgres's log and returns its size. It renames a long one first, so that the two stay small.
func openLog(path string) (*os.File, int64, error) {
	const maxSize = 8 << 20
	if info, err := os.Lstat(path); err == nil && info.Size() > maxSize {
		_ = os.Rename(path, path+".old") // if this fails, the log grows on
	}
	//nolint:gosec // in the state directory
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open postgres's log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open postgres's log: %w", err), f.Close())
	}
	return f, info.Size(), nil
}
