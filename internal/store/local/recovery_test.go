package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestCluster_recovery(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}

	t.Run("killed postmaster", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		c := mustStart(t, dir)
		ask(t, c, "CREATE TABLE kept AS SELECT 'yes' AS answer")
		for range 2 {
			pid := pidOf(t, dir)
			killPid(t, pid)
			eventually(t, "the answer is there again", func() bool {
				got, err := try(t.Context(), c, "SELECT answer FROM kept")
				return err == nil && got == "yes" && postmaster(c.data) != pid
			})
		}
	})

	t.Run("killed postmaster, a process of it still there", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		c := mustStart(t, dir)
		conn, err := pgx.Connect(t.Context(), c.URL())
		if err != nil {
			t.Fatal(err)
		}
		backend := int(conn.PgConn().PID())
		if err := syscall.Kill(backend, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		killed := pidOf(t, dir)
		killPid(t, killed)
		data, err := os.Open(c.data)
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		for range 20 {
			if err := flock(data); !errors.Is(err, syscall.EWOULDBLOCK) {
				t.Errorf("the cluster is not locked: %v", err)
			}
			if pid := postmaster(c.data); pid != 0 && pid != killed {
				t.Errorf("postmaster %d was started beside it", pid)
			}
			time.Sleep(poll)
		}
		killPid(t, backend)
		eventually(t, "the answer is there again", func() bool {
			_, err := try(t.Context(), c, "SELECT 'here'")
			return err == nil
		})
		if text, err := os.ReadFile(filepath.Join(dir, "postgres.log")); err != nil ||
			strings.Contains(string(text), "pre-existing shared memory block") {
			t.Errorf("Postgres was started too early: %v\n%s", err, text)
		}
	})

	t.Run("killed server, Postgres goes along", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		helper := startHelper(t, dir)
		pid := pidOf(t, dir)
		kill(helper)
		eventually(t, "postgres ends", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
		ask(t, mustStart(t, dir), "SELECT 'here'")
	})

	t.Run("killed server, Postgres still there", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		c := mustStart(t, dir)
		mustStop(t, c)
		pid := startLeftover(t, c)
		ask(t, mustStart(t, dir), "SELECT 'here'")
		if now := pidOf(t, dir); now == pid {
			t.Error("the postmaster left over is still in charge")
		}
	})

	t.Run("killed both", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		helper := startHelper(t, dir)
		pid := pidOf(t, dir)
		kill(helper)
		_ = syscall.Kill(pid, syscall.SIGKILL)     // it may have ended with the server
		ask(t, mustStart(t, dir), "SELECT 'here'") // at once: Postgres's own processes are still about
	})

	t.Run("pid file with the number of another process", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		c := mustStart(t, dir)
		mustStop(t, c)
		sleeper := startSleeper(t, c.user)
		stale := fmt.Sprintf("%d\n%s\n", sleeper, c.data)
		if err := os.WriteFile(filepath.Join(c.data, "postmaster.pid"), []byte(stale), 0o600); err != nil {
			t.Fatal(err)
		}
		ask(t, mustStart(t, dir), "SELECT 'here'")
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", sleeper)); cwd != "/" {
			t.Errorf("the other process is gone: %v", err)
		}
	})

	t.Run("session of its own", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		mustStart(t, dir)
		pid := pidOf(t, dir)
		if diff := cmp.Diff(pid, sessionOf(t, pid)); diff != "" {
			t.Error(diff)
		}
	})
}

// startLeftover runs Postgres on a stopped cluster as one that outlived its server, and returns its process.
func startLeftover(t *testing.T, c *Cluster) int {
	t.Helper()
	if err := c.makeSocketDir(); err != nil {
		t.Fatal(err)
	}
	cmd := c.command(t.Context(), "postgres", c.arguments()...)
	cmd.SysProcAttr.Pdeathsig = 0 // as where the kernel was too late
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
	if err := c.waitReady(t.Context(), exited); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// startSleeper runs a process of the account in the root directory, which Postgres cannot tell from a postmaster.
func startSleeper(t *testing.T, user account) int {
	t.Helper()
	cmd := (&Cluster{dir: "/", bin: installation{dir: "/bin"}, user: user}).command(t.Context(), "sleep", "1000")
	cmd.SysProcAttr.Pdeathsig = 0 // this goroutine does not keep its thread
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd.Process.Pid
}

// sessionOf reads the sixth field of /proc/PID/stat; the second, in parentheses, may hold spaces.
func sessionOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	session, err := strconv.Atoi(strings.Fields(rest)[3])
	if err != nil {
		t.Fatal(err)
	}
	return session
}
