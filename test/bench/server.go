package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"purser/internal/store/local"
)

// patience bounds the start and the stop of a process.
const patience = time.Minute

// bench has what all rows share: the machine's Postgres and the built server.
type bench struct {
	options
	*table

	dir      string
	binary   string
	cluster  *local.Cluster
	admin    *pgxpool.Pool // to create databases
	progress io.Writer
}

func newBench(ctx context.Context, opts options, t *table, progress io.Writer) (_ *bench, err error) {
	b := &bench{options: opts, table: t, progress: progress}
	defer func() {
		if err != nil {
			err = b.close(ctx, err)
		}
	}()
	if b.dir, err = os.MkdirTemp("", "purser-bench-"); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	// If started by root, Postgres runs as another user, who needs access.
	if err := os.Chmod(b.dir, 0o755); err != nil { //nolint:gosec // what is in there is made up
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	// The default configuration, except for more connections: those of the bench add to those of the server.
	b.cluster, err = local.Start(ctx, filepath.Join(b.dir, "state"), slog.New(slog.DiscardHandler), "max_connections=200")
	if err != nil {
		return nil, fmt.Errorf("start a private Postgres: %w", err)
	}
	if b.admin, err = pgxpool.New(ctx, b.cluster.URL()); err != nil {
		return nil, fmt.Errorf("connect to the private Postgres: %w", err)
	}
	return b, b.describe(ctx)
}

// build builds the server as make build does, to share the build cache.
func (b *bench) build(ctx context.Context) error {
	b.sayf("building the server")
	b.binary = filepath.Join(b.dir, "server")
	flags, err := b.overlay()
	if err != nil {
		return err
	}
	const smallStacks = "-X runtime.godebugDefault=adaptivestackstart=0"
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", smallStacks, "-o", b.binary}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "purser/cmd/server")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = b.progress, b.progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the server: %w", err)
	}
	return nil
}

// describe adds the version of the database to the description of the machine.
func (b *bench) describe(ctx context.Context) error {
	var version, fsync string
	const settings = `SELECT current_setting('server_version'), current_setting('fsync')`
	err := b.admin.QueryRow(ctx, settings).Scan(&version, &fsync)
	if err != nil {
		return fmt.Errorf("ask Postgres for its version: %w", err)
	}
	b.machine = append(b.machine, "Postgres "+version, "fsync "+fsync)
	return nil
}

// close stops Postgres and removes all files. It returns err, or else its own error.
func (b *bench) close(ctx context.Context, err error) error {
	if b.admin != nil {
		b.admin.Close()
	}
	if b.cluster != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err = errors.Join(err, b.cluster.Stop(stop))
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

func (b *bench) sayf(format string, args ...any) {
	fmt.Fprintf(b.progress, "bench: "+format+"\n", args...)
}

// server is a running server on a database of its own.
type server struct {
	*http.Client

	url      string
	database string        // its URL
	db       *pgxpool.Pool // the bench's own connections
	process  *exec.Cmd
	log      *os.File
	profile  string // path of the profile; "" for none
}

// start runs a server on a new database.
func (b *bench) start(ctx context.Context, name string, flags ...string) (*server, error) {
	database, err := b.create(ctx, name)
	if err != nil {
		return nil, err
	}
	return b.startOn(ctx, name, database, flags...)
}

// startOn runs a server on an existing database.
func (b *bench) startOn(ctx context.Context, name, database string, flags ...string) (_ *server, err error) {
	// One connection for each client; the default transport keeps two.
	transport := &http.Transport{MaxIdleConnsPerHost: b.clients, DisableCompression: true}
	s := &server{Client: &http.Client{Transport: transport}, database: database}
	if b.profiles != "" {
		s.profile = filepath.Join(b.profiles, name+".pprof")
		_ = os.Remove(s.profile) // a previous run may have left one
	}
	defer func() {
		if err != nil {
			err = s.stop(err)
		}
	}()
	config, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, fmt.Errorf("read the URL of the database: %w", err)
	}
	config.MaxConns = int32(b.clients) //nolint:gosec // a few
	if s.db, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s.url = "http://" + address
	command := exec.CommandContext(ctx, b.binary,
		append([]string{"serve", "--listen", address, "--database-url", database, schemasOnly}, flags...)...)
	command.Env = append(environment(), profileVariable+"="+s.profile)
	if err := s.launch(command, filepath.Join(b.dir, name+".log")); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

func (b *bench) create(ctx context.Context, name string) (string, error) {
	if _, err := b.admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("create database %s: %w", name, err)
	}
	u, err := url.Parse(b.cluster.URL())
	if err != nil {
		return "", fmt.Errorf("read the URL of the private Postgres: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

// freeAddress returns an address with a port that is not in use.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

func (s *server) launch(command *exec.Cmd, log string) (err error) {
	if s.log, err = os.Create(log); err != nil {
		return fmt.Errorf("make the server's log: %w", err)
	}
	s.process = command
	s.process.Stdout, s.process.Stderr = s.log, s.log
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	s.process.WaitDelay = patience
	if err := s.process.Start(); err != nil {
		s.process = nil
		return fmt.Errorf("start the server: %w", err)
	}
	return nil
}

// environment returns the environment without variables that configure the server.
func environment() (env []string) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PURSER_") {
			env = append(env, variable)
		}
	}
	return env
}

func (s *server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := s.get(ctx, "/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			text, _ := os.ReadFile(s.log.Name())
			return fmt.Errorf("the server did not come up: %w; its log:\n%s", err, text)
		}
	}
}

// stop stops the server as an operator would. It returns err, or else its own error.
func (s *server) stop(err error) error {
	if s.db != nil {
		s.db.Close()
	}
	s.CloseIdleConnections()
	if s.process != nil {
		err = errors.Join(err, s.endProfile(), s.process.Process.Signal(syscall.SIGTERM), s.process.Wait())
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return err
}

const api = "/api/v1.0"

func (s *server) get(ctx context.Context, path string) error {
	return s.send(ctx, http.MethodGet, path, nil, io.Discard)
}

func (s *server) put(ctx context.Context, bucket string, body []byte) error {
	return s.send(ctx, http.MethodPut, api+"/buckets/"+bucket+"/documents", body, io.Discard)
}

func (s *server) post(ctx context.Context, revision, name string, body []byte) error {
	return s.send(ctx, http.MethodPost, api+"/revisions/"+revision+"/validations/"+name, body, io.Discard)
}

// send sends a request and reads the whole answer, so that the measured time includes its end.
func (s *server) send(ctx context.Context, method, path string, body []byte, answer io.Writer) error {
	//nolint:gosec // to the server that we started
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/x-yaml")
	}
	response, err := s.Do(request) //nolint:gosec // to the server that we started
	if err != nil {
		return err //nolint:wrapcheck // names method and URL
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if _, err := io.Copy(answer, response.Body); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// phases returns the total time that the server has spent in each phase of its ingests.
func (s *server) phases(ctx context.Context) (map[string]time.Duration, error) {
	var text bytes.Buffer
	if err := s.send(ctx, http.MethodGet, "/metrics", nil, &text); err != nil {
		return nil, err
	}
	spent := map[string]time.Duration{}
	for line := range strings.Lines(text.String()) {
		rest, found := strings.CutPrefix(line, `purser_ingest_phase_duration_seconds_sum{phase="`)
		phase, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		if !found {
			continue
		}
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("read the time of phase %s: %w", phase, err)
		}
		spent[phase] = time.Duration(seconds * float64(time.Second))
	}
	return spent, nil
}
