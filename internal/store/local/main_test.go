package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"purser/internal/store/storetest/inmemory"
)

// helperDir makes the test binary play a Purser server on the named state directory.
const helperDir = "PURSER_LOCAL_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		serve(dir)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, dir := range originals {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// serve starts the cluster, says so and waits to be killed.
func serve(dir string) {
	if _, err := Start(context.Background(), dir, quiet()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

// startHelper runs another process with a cluster on dir and returns when that answers.
func startHelper(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("helper: %q, %v", line, err)
	}
	return cmd
}

// kill is kill -9.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// stateDir returns a directory to be made that Postgres's user can reach.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// openDir returns the path of a directory to be made, in a new one that everybody can pass.
func openDir() (string, error) {
	// Of a t.TempDir the name is too long for a socket and the parent closed.
	dir, err := os.MkdirTemp(inmemory.Dir(), "purser-local-")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "state"), os.Chmod(dir, 0o711)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// usedDir returns a state directory with a stopped cluster, a copy of one that is made once: that takes ten times as long
// as to start it.
func usedDir(t *testing.T) string {
	t.Helper()
	original, err := stopped()
	if err != nil {
		t.Fatal(err)
	}
	dir := stateDir(t)
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", original, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// stopped makes the state directory that usedDir copies. TestMain removes it.
var stopped = sync.OnceValues(func() (dir string, err error) {
	dir, err = openDir()
	if err != nil {
		return "", err
	}
	originals = append(originals, filepath.Dir(dir))
	c, err := Start(context.Background(), dir, quiet())
	if err != nil {
		return "", err
	}
	return dir, errors.Join(c.Stop(context.Background()), os.Remove(filepath.Join(dir, "postgres.log")))
})

// originals are directories that outlive a test.
var originals []string

// mustStart starts a cluster that is stopped with the test, at the latest.
func mustStart(t *testing.T, dir string) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustStop(t, c) })
	return c
}

func mustStop(t *testing.T, c *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// ask runs one statement and returns the text of its one column, a line for each row.
func ask(t *testing.T, c *Cluster, sql string) string {
	t.Helper()
	got, err := try(t.Context(), c, sql)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func try(ctx context.Context, c *Cluster, sql string) (_ string, err error) {
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// pidOf returns the postmaster of the cluster in a state directory.
func pidOf(t *testing.T, dir string) int {
	t.Helper()
	pid := postmaster(filepath.Join(dir, "postgres"))
	if pid == 0 {
		t.Fatal("no postmaster runs")
	}
	return pid
}

// eventually waits for something that may take some seconds on a busy machine.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(poll) {
		if holds() {
			return
		}
	}
	t.Fatalf("not in 30 seconds: %s", what)
}

func killPid(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
