//go:build linux

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds everything that is not measured.
const patience = time.Minute

// postgres is a Postgres on a port of the loopback interface. It runs without fsync, because only processes are killed.
type postgres struct {
	data     string
	port     int
	settings []string
	*process
}

// tools returns the directory of Postgres's programs.
var tools = sync.OnceValues(func() (string, error) {
	if dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(dirs) > 0 {
		return slices.Max(dirs), nil
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	path, err := exec.LookPath("initdb")
	return filepath.Dir(path), err
})

// credential returns the user that Postgres runs as, which must not be root; nil for the current user.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("no user to run Postgres as")
}

// program returns a command of Postgres, or of another program if the name is a path, which runs as its user.
func program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := tools()
	if err != nil {
		t.Fatalf("Postgres is missing: %v", err)
	}
	as, err := credential()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return cmd
}

// must runs a command to its end.
func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// prefix begins the names of the tests' directories.
const prefix = "purser-faults-"

// directory creates a directory that belongs to Postgres's user. It is removed after the test.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", prefix) //nolint:usetesting // Postgres's user gets into it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own(t, dir)
	return dir
}

func own(t *testing.T, dir string) {
	t.Helper()
	if as, err := credential(); err != nil {
		t.Fatal(err)
	} else if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// newPostgres starts a Postgres with a new data directory.
func newPostgres(t *testing.T, settings ...string) *postgres {
	t.Helper()
	p := &postgres{data: filepath.Join(directory(t), "data"), port: freePort(t), settings: settings}
	p.initialise(t)
	return p
}

// initialise creates the data directory and starts Postgres.
func (p *postgres) initialise(t *testing.T) {
	t.Helper()
	must(t, program(t, "initdb", "-D", p.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
		"--wal-segsize=1"))
	if err := os.WriteFile(filepath.Join(p.data, "pg_hba.conf"),
		[]byte("host all,replication all 127.0.0.1/32 trust\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	p.ready(t)
	p.do(t, "CREATE ROLE purser LOGIN") // no superuser, so it cannot use reserved connections
	p.do(t, "ALTER SCHEMA public OWNER TO purser")
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func (p *postgres) address() string { return "127.0.0.1:" + strconv.Itoa(p.port) }

// url returns the URL of the database at one or more addresses.
func url(user, application string, addresses ...string) string {
	return "postgres://" + user + "@" + strings.Join(addresses, ",") + "/postgres?sslmode=disable&application_name=" +
		application
}

// start runs Postgres, without waiting until it answers.
func (p *postgres) start(t *testing.T) {
	t.Helper()
	args := []string{"-D", p.data, "-p", strconv.Itoa(p.port)}
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "shared_buffers=16MB", "max_connections=100",
		"max_wal_senders=4", "wal_keep_size=64MB", "autovacuum_naptime=5s", "restart_after_crash=on", "jit=off",
	}, p.settings...) {
		args = append(args, "-c", setting)
	}
	p.process = run(t, program(t, "postgres", args...), syscall.SIGQUIT)
}

// try executes one statement on a connection of its own.
func (p *postgres) try(sql string, into ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url("postgres", "test", p.address()))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if len(into) == 0 {
		_, err = conn.Exec(ctx, sql)
		return err
	}
	return conn.QueryRow(ctx, sql).Scan(into...)
}

func (p *postgres) do(t *testing.T, sql string, into ...any) {
	t.Helper()
	if err := p.try(sql, into...); err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, p.said)
	}
}

// ready waits until Postgres answers. It starts Postgres again if remains of earlier processes made it exit.
func (p *postgres) ready(t *testing.T) {
	t.Helper()
	eventually(t, "Postgres answers", func() bool {
		if !p.running() {
			time.Sleep(100 * time.Millisecond)
			p.start(t)
		}
		return p.try("SELECT 1") == nil
	})
}

// stop ends Postgres in a mode: SIGINT is fast, SIGQUIT immediate.
func (p *postgres) stop(t *testing.T, mode syscall.Signal) {
	t.Helper()
	p.signal(mode)
	eventually(t, "Postgres ends", func() bool { return !p.running() })
}

// copyTo makes a base backup, from which a standby can be started.
func (p *postgres) copyTo(t *testing.T, from, data string, args ...string) {
	t.Helper()
	host, port, _ := net.SplitHostPort(from)
	must(t, program(t, "pg_basebackup", append([]string{
		"-D", data, "-h", host, "-p", port, "-U", "postgres", "-c", "fast", "-X", "stream", "--no-sync",
	}, args...)...))
}

// newStandby starts a standby that follows a primary through a proxy.
func newStandby(t *testing.T, primary *postgres, through *proxy) *postgres {
	t.Helper()
	p := &postgres{data: filepath.Join(directory(t), "data"), port: freePort(t)}
	primary.copyTo(t, through.address(), p.data, "-R")
	p.start(t)
	p.ready(t)
	return p
}

// promote makes a standby the primary.
func (p *postgres) promote(t *testing.T) {
	t.Helper()
	p.do(t, "SELECT pg_promote(false)")
	eventually(t, "the standby is promoted", func() bool {
		var standby bool
		return p.try("SELECT pg_is_in_recovery()", &standby) == nil && !standby
	})
}

// eventually waits until so returns true, and returns how long that took.
func eventually(t *testing.T, what string, so func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !so() {
		if time.Since(began) > patience {
			t.Fatalf("still not so after %v: %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// clearAbandoned unmounts and removes the directories of killed test binaries.
func clearAbandoned() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 3*time.Hour {
			_ = syscall.Unmount(filepath.Join(dir, "disk"), syscall.MNT_DETACH)
			_ = os.RemoveAll(dir)
		}
	}
}

// query reads rows of two numbers and two strings.
func (p *postgres) query(t *testing.T, sql string, each func(a, b int64, c, d string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url("postgres", "test", p.address()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		t.Fatal(err)
	}
	var a, b int64
	var c, d string
	if _, err := pgx.ForEachRow(rows, []any{&a, &b, &c, &d}, func() error {
		each(a, b, c, d)
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func hex(stamp int64) string { return fmt.Sprintf("%016x", uint64(stamp)) }
