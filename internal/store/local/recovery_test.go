package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCluster_recovery(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}

	t.Run("killed postmaster", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		c := mustStart(t, dir)
		ask(t, c, "CREATE TABLE kept AS SELECT 'yes' AS answer")
		for range 2 {
			pid := pidOf(t, dir)
			killPid(t, pid)
			eventually(t, "the answer is there again", func() bool {
				got, err := try(t.Context(), c, "SELECT answer FROM kept")
				return err == nil && got == "yes" && pidOf(t, dir) != pid
			})
		}
	})

	t.Run("killed server, Postgres goes along", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		helper := startHelper(t, dir)
		pid := pidOf(t, dir)
		kill(helper)
		eventually(t, "postgres ends", func() bool { return !runsIn(pid, filepath.Join(dir, "postgres")) })
		ask(t, mustStart(t, dir), "SELECT 'here'")
	})

	t.Run("killed server, Postgres still there", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		helper := startHelper(t, dir, helperOutlive+"=1")
		pid := pidOf(t, dir)
		kill(helper)
		if !runsIn(pid, filepath.Join(dir, "postgres")) {
			t.Fatal("nothing was left over, so this tests nothing")
		}
		ask(t, mustStart(t, dir), "SELECT 'here'")
		if now := pidOf(t, dir); now == pid {
			t.Error("the postmaster left over is still in charge")
		}
	})

	t.Run("killed both", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		helper := startHelper(t, dir, helperOutlive+"=1")
		kill(helper)
		killPid(t, pidOf(t, dir))
		ask(t, mustStart(t, dir), "SELECT 'here'") // at once: Postgres's own processes are still about
	})

	t.Run("pid file with the number of another process", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		c := mustStart(t, dir)
		mustStop(t, c)
		sleeper := startSleeper(t, c.user)
		stale := fmt.Sprintf("%d\n%s\n", sleeper, c.data)
		if err := os.WriteFile(filepath.Join(c.data, "postmaster.pid"), []byte(stale), 0o600); err != nil {
			t.Fatal(err)
		}
		ask(t, mustStart(t, dir), "SELECT 'here'")
		if !runsIn(sleeper, "/") {
			t.Error("the other process is gone")
		}
	})

	t.Run("session of its own", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		mustStart(t, dir)
		pid := pidOf(t, dir)
		if diff := cmp.Diff(pid, sessionOf(t, pid)); diff != "" {
			t.Error(diff)
		}
	})
}

// startSleeper runs a process of the account in the root directory, which Postgres cannot tell from a postmaster.
func startSleeper(t *testing.T, user account) int {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Dir = "/"
	if user.other {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: uint32(user.uid), Gid: uint32(user.gid)},
		}
	}
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
