package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"purser/internal/store/local"
)

// patience bounds the start and the stop of a process.
const patience = time.Minute

// bench has what all rows share: the machine's Postgres and the built server.
type bench struct {
	options
	table

	dir      string
	binary   string
	cluster  *local.Cluster
	admin    *pgxpool.Pool // to create databases
	progress io.Writer
}

// run is the measurement of some rows. As in a test, the first failure ends it, and at its end everything stops that it
// has started.
type run struct {
	*bench

	ctx      context.Context //nolint:containedctx // of the run, as in a test
	cleanups []func() error
}

// failure is what must panics with, to end a run.
type failure struct{ error }

// must ends the run if there is an error.
func must(doing string, err error) {
	if err != nil {
		panic(failure{fmt.Errorf("%s: %w", doing, err)})
	}
}

// attempt returns the failure that ended work.
func attempt(work func()) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case failure:
			err = reason.error
		default:
			panic(reason)
		}
	}()
	work()
	return nil
}

// runPart measures a part, and stops what it has started in reverse order.
func (b *bench) runPart(ctx context.Context, measure func(*run)) (err error) {
	r := &run{bench: b, ctx: ctx}
	defer func() {
		for _, stop := range slices.Backward(r.cleanups) {
			err = errors.Join(err, stop())
		}
	}()
	return attempt(func() { measure(r) })
}

// part measures a part of the run whose servers stop before the next part.
func (r *run) part(measure func(*run)) {
	if err := r.runPart(r.ctx, measure); err != nil {
		panic(failure{err})
	}
}

func (r *run) cleanup(stop func() error) { r.cleanups = append(r.cleanups, stop) }

// concurrently calls work n times at once, and waits for all calls.
func concurrently(n int, work func(i int)) {
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { return attempt(func() { work(i) }) })
	}
	must("work concurrently", group.Wait())
}

func (b *bench) sayf(format string, args ...any) {
	fmt.Fprintf(b.progress, "bench: "+format+"\n", args...)
}

// prepare builds the server and starts Postgres.
func (r *run) prepare() {
	var err error
	r.dir, err = os.MkdirTemp("", "purser-bench-")
	must("make a directory", err)
	r.cleanup(func() error { return os.RemoveAll(r.dir) })
	// If started by root, Postgres runs as another user, who needs access.
	must("open the directory", os.Chmod(r.dir, 0o755)) //nolint:gosec // what is in there is made up
	r.profileSelf()
	r.sayf("building the server")
	const smallStacks = "-X runtime.godebugDefault=adaptivestackstart=0"
	r.binary = r.build("server", append([]string{"-ldflags", smallStacks}, r.overlay()...)...)

	// The default configuration, except for more connections: those of the bench add to those of the server.
	state, quiet := filepath.Join(r.dir, "state"), slog.New(slog.DiscardHandler)
	r.cluster, err = local.Start(r.ctx, state, quiet, "max_connections=200")
	must("start a private Postgres", err)
	r.cleanup(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), patience)
		defer cancel()
		return r.cluster.Stop(ctx)
	})
	r.admin = r.connect(r.cluster.URL())
	var version, fsync string
	const settings = `SELECT current_setting('server_version'), current_setting('fsync')`
	must("ask Postgres for its version", r.admin.QueryRow(r.ctx, settings).Scan(&version, &fsync))
	r.machine = append(r.machine, "Postgres "+version, "fsync "+fsync)
}

// build builds a program as make build does, to share the build cache, and returns its path.
func (r *run) build(program string, flags ...string) string {
	binary := filepath.Join(r.dir, program)
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", binary}, flags...)
	cmd := exec.CommandContext(r.ctx, "go", append(args, "purser/cmd/"+program)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = r.progress, r.progress
	must("build "+program, cmd.Run())
	return binary
}

// connect returns connections of the bench to a database, one for each client.
func (r *run) connect(database string) *pgxpool.Pool {
	config, err := pgxpool.ParseConfig(database)
	must("read the URL of the database", err)
	config.MaxConns = int32(r.clients) //nolint:gosec // a few
	pool, err := pgxpool.NewWithConfig(r.ctx, config)
	must("connect to the database", err)
	r.cleanup(func() error {
		pool.Close()
		return nil
	})
	return pool
}

// output runs a program and returns its standard output.
func (r *run) output(program string, args ...string) []byte {
	var out, messages bytes.Buffer
	cmd := exec.CommandContext(r.ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		must("run "+filepath.Base(program), fmt.Errorf("%w\n%.2000s%.2000s", err, out.Bytes(), messages.Bytes()))
	}
	return out.Bytes()
}

// writeFile writes a file in the directory of the bench, and returns its path.
func (r *run) writeFile(name string, text []byte) string {
	path := filepath.Join(r.dir, name)
	must("make a folder", os.MkdirAll(filepath.Dir(path), 0o700))
	must("write a file", os.WriteFile(path, text, 0o600))
	return path
}
