package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"purser/internal/validations"
)

// schemasOnly restricts the rows about PUTs and verdicts to the schema validation. Row 18 measures the cost of the
// others.
const schemasOnly = "--default-validations=" + validations.SchemaValidation

func allValidations() string {
	return "--default-validations=" + strings.Join(validations.DefaultValidations(), ",")
}

// server is a running server on a database of its own.
type server struct {
	client

	database string        // its URL
	db       *pgxpool.Pool // the bench's own connections
	process  *exec.Cmd
	profile  string // path of the profile; "" for none
}

// start runs a server on a new database until the run ends.
func (r *run) start(name string, flags ...string) *server {
	return r.startOn(name, r.create(name, "template1"), flags...)
}

// create creates a database, and returns its URL.
func (r *run) create(name, template string) string {
	_, err := r.admin.Exec(r.ctx, "CREATE DATABASE "+name+" TEMPLATE "+template)
	must("create database "+name, err)
	u, err := url.Parse(r.cluster.URL())
	must("read the URL of the private Postgres", err)
	u.Path = "/" + name
	return u.String()
}

// startOn runs a server on an existing database.
func (r *run) startOn(name, database string, flags ...string) *server {
	s := &server{client: r.newClient(), database: database, db: r.connect(database)}
	if r.profiles != "" {
		s.profile = filepath.Join(r.profiles, name+".pprof")
		_ = os.Remove(s.profile) // a previous run may have left one
	}
	s.process = exec.CommandContext(r.ctx, r.binary,
		append([]string{
			"serve", "--listen", s.address, "--database-url", database, schemasOnly, "--site-changes=0",
		}, flags...)...)
	s.process.Env = append(environment(), profileVariable+"="+s.profile)
	r.launch(s, name)
	return s
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

// launch starts the process of a server and waits until it is ready. At the end of the run it stops it as an operator
// would.
func (r *run) launch(s *server, name string) {
	log, err := os.Create(filepath.Join(r.dir, name+".log"))
	must("make the server's log", err)
	r.cleanup(log.Close)
	s.process.Stdout, s.process.Stderr = log, log
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	s.process.WaitDelay = patience
	must("start the server", s.process.Start())
	r.cleanup(func() error {
		s.CloseIdleConnections()
		return errors.Join(s.endProfile(), s.process.Process.Signal(syscall.SIGTERM), s.process.Wait())
	})
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := attempt(func() { s.get("/readyz") })
		if err == nil {
			return
		}
		if time.Since(began) > patience || r.ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			must("wait for the server", fmt.Errorf("%w; its log:\n%s", err, text))
		}
	}
}

// freeAddress returns an address with a port that is not in use.
func freeAddress(ctx context.Context) string {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	must("find a free port", err)
	must("find a free port", listener.Close())
	return listener.Addr().String()
}

// exec executes a statement on the server's database.
func (s *server) exec(statement string, args ...any) {
	_, err := s.db.Exec(s.ctx, statement, args...)
	must("execute "+statement, err)
}

// number returns the result of a statement.
func (s *server) number(statement string) (n int64) {
	must("execute "+statement, s.db.QueryRow(s.ctx, statement).Scan(&n))
	return n
}

func (s *server) vacuum() { s.exec("VACUUM ANALYZE") }

// reset empties the site except for the given DataSchemas, and shrinks the tables to the size of new ones.
func (s *server) reset(schemas string) {
	s.send(http.MethodDelete, api+"/revisions", nil, io.Discard)
	if schemas != "" {
		s.put("schemas", []byte(schemas))
	}
	s.vacuum()
}

// checkSuccess checks that the newest revision passed its checks, rather than failing early.
func (s *server) checkSuccess() { s.get(api + "/revisions/latest/status?expect=success") }

// phases returns the total time that the server has spent in each phase of its ingests.
func (s *server) phases() map[string]time.Duration {
	spent := map[string]time.Duration{}
	for line := range strings.Lines(string(s.fetch(http.MethodGet, "/metrics", nil))) {
		rest, found := strings.CutPrefix(line, `purser_ingest_phase_duration_seconds_sum{phase="`)
		if !found {
			continue
		}
		phase, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds, err := strconv.ParseFloat(value, 64)
		must("read the time of phase "+phase, err)
		spent[phase] = time.Duration(seconds * float64(time.Second))
	}
	return spent
}

// resident returns a value of the server's /proc status, such as VmRSS, in MiB.
func (s *server) resident(key string) float64 {
	text := valueOf(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid), key)
	var kibibytes float64
	_, err := fmt.Sscanf(text, "%f kB", &kibibytes)
	must("read "+key+" of the server", err)
	return kibibytes / 1024
}

// bareVariable is the environment variable that makes the bench a bare server, which does nothing but read requests to
// any path and answer with the bytes of a file. It is a process of its own, like the server that it is compared with.
const bareVariable = "BENCH_BARE"

// bareWait is a path of the bare server where requests wait until the client gives up.
const bareWait = "/wait"

// startBare runs a bare server.
func (r *run) startBare(answer []byte) *server {
	self, err := os.Executable()
	must("find the bench itself", err)
	s := &server{client: r.newClient()}
	s.process = exec.CommandContext(r.ctx, self, s.address)
	s.process.Env = append(os.Environ(), bareVariable+"="+r.writeFile("answer", answer))
	r.launch(s, "bare")
	return s
}

// serveBare serves as a bare server until ctx ends.
func serveBare(ctx context.Context, file, address string) error {
	answer, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	router := chi.NewRouter()
	router.HandleFunc("/*", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-yaml")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	})
	var waiting atomic.Int64
	router.Get(bareWait, func(_ http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		defer waiting.Add(-1)
		<-r.Context().Done()
	})
	router.Get("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "\npurser_waiting_requests %d\n", waiting.Load())
	})
	bare := &http.Server{Addr: address, Handler: router, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = bare.Close() })
	if err := bare.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the answer: %w", err)
	}
	return nil
}
