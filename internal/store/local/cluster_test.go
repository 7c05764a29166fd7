package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCluster_Start(t *testing.T) {
	t.Parallel()

	t.Run("a stopped cluster is used again", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		first := mustStart(t, dir)
		ask(t, first, "CREATE TABLE kept AS SELECT 'yes' AS answer")
		mustStop(t, first)
		second := mustStart(t, dir)
		if diff := cmp.Diff("yes", ask(t, second, "SELECT answer FROM kept")); diff != "" {
			t.Error(diff)
		}
		pidOf(t, dir)
	})

	t.Run("settings, no TCP, and closed directories", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		c := mustStart(t, dir)
		got := ask(t, c, `SELECT name || '=' || setting FROM pg_settings WHERE name IN
			('data_checksums', 'fsync', 'lc_collate', 'listen_addresses', 'server_encoding') ORDER BY name`)
		want := "data_checksums=on\nfsync=on\nlc_collate=C\nlisten_addresses=\nserver_encoding=UTF8"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string(nil), inetSockets(t, pidOf(t, dir))); diff != "" {
			t.Error(diff)
		}
		modes := map[string]fs.FileMode{}
		for _, name := range []string{"", "postgres", "socket", "lock", "postgres.log"} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			modes[name] = info.Mode().Perm()
		}
		private := map[string]fs.FileMode{
			"": 0o700, "postgres": 0o700, "socket": 0o700, "lock": 0o600, "postgres.log": 0o600,
		}
		if diff := cmp.Diff(private, modes); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a second server is refused", func(t *testing.T) {
		t.Parallel()
		dir := usedDir(t)
		c := mustStart(t, dir)
		_, err := Start(t.Context(), dir, quiet())
		want := fmt.Sprintf("another Purser server (pid %d) uses state directory %s; stop it or pass another --state-dir",
			os.Getpid(), dir)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Error(diff)
		}
		ask(t, c, "SELECT 'the first one does not mind'")
	})

	t.Run("a long path gets a short socket", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(stateDir(t), strings.Repeat("long", 25))
		// Parents that Start makes can be passed by Postgres's user.
		c := mustStart(t, dir)
		if diff := cmp.Diff("here", ask(t, c, "SELECT 'here'")); diff != "" {
			t.Error(diff)
		}
		info, err := os.Stat(c.socket)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("socket directory %v, %v", info, err)
		}
		mustStop(t, c)
		if _, err := os.Stat(c.socket); err == nil {
			t.Errorf("%s is left behind", c.socket)
		}
	})

	t.Run("a link in the place of the socket directory", func(t *testing.T) {
		t.Parallel()
		dir, elsewhere := stateDir(t), t.TempDir()
		kept := filepath.Join(elsewhere, "kept")
		err := errors.Join(os.WriteFile(kept, nil, 0o600), os.Mkdir(dir, 0o711),
			os.Symlink(elsewhere, filepath.Join(dir, "socket")))
		if err != nil {
			t.Fatal(err)
		}
		ask(t, mustStart(t, dir), "SELECT 'here'")
		if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 1 {
			t.Errorf("the directory that the link led to has %v, %v", entries, err)
		}
	})

	t.Run("an odd path", func(t *testing.T) {
		t.Parallel()
		// The comma is for the host list of a connection string, the quotes for Postgres's list of directories.
		ask(t, mustStart(t, stateDir(t)+`, [a] "b" 'c' é%20?`), "SELECT 'here'")
	})

	t.Run("a failure shows what Postgres said", func(t *testing.T) {
		t.Parallel()
		_, err := Start(t.Context(), stateDir(t), quiet(), "work_mem=plenty")
		if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "work_mem": "plenty"`) {
			t.Errorf("got error %v", err)
		}
	})

	t.Run("a start given up leaves nothing half made", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := start(ctx, dir, quiet(), search(t.Context())); !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			t.Error("there is a cluster")
		}
		if err := os.Mkdir(filepath.Join(dir, "postgres.new1"), 0o700); err != nil { // as of a kill
			t.Fatal(err)
		}
		mustStart(t, dir)
		if left, _ := filepath.Glob(filepath.Join(dir, "postgres.new*")); left != nil {
			t.Errorf("left: %v", left)
		}
	})
}

func TestCluster_Start_unreachable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs Postgres as somebody else")
	}
	dir := filepath.Join(t.TempDir(), "state") // root's own, 0700
	_, err := Start(t.Context(), dir, quiet())
	if err == nil || !strings.Contains(err.Error(), "cannot enter "+dir) || !strings.Contains(err.Error(), "--state-dir") {
		t.Errorf("got error %v", err)
	}
}

func TestCluster_Stop(t *testing.T) {
	t.Parallel()
	dir := usedDir(t)
	c, err := Start(t.Context(), dir, quiet()) // not mustStart, which insists on a clean end
	if err != nil {
		t.Fatal(err)
	}
	pid := pidOf(t, dir)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first := c.Stop(ended)
	if first == nil || !strings.Contains(first.Error(), "without a checkpoint") {
		t.Errorf("got error %v", first)
	}
	if diff := cmp.Diff(message(first), message(c.Stop(t.Context()))); diff != "" {
		t.Error(diff)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("Postgres still runs: %v", err)
	}
	ask(t, mustStart(t, dir), "SELECT 'recovered'")
}

// An aborted start still gives Postgres time to write its data.
func TestCluster_Start_givenUp(t *testing.T) {
	t.Parallel()
	dir := usedDir(t)
	ctx, giveUp := context.WithCancel(t.Context())
	// Postgres is ready, but Start does not return before its message is handled.
	log := slog.New(handler(func(running context.Context) {
		giveUp()
		<-running.Done()
	}))
	if _, err := Start(ctx, dir, log); message(err) != "context canceled" {
		t.Fatalf("got error %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	if log := string(text); strings.Count(log, "database system is shut down") != 1 || strings.Contains(log, "immediate") {
		t.Errorf("stopped as in a crash:\n%s", log)
	}
}

// handler is called for each message with its context.
type handler func(context.Context)

func (h handler) Enabled(context.Context, slog.Level) bool { return true }

func (h handler) Handle(ctx context.Context, _ slog.Record) error {
	h(ctx)
	return nil
}

func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h handler) WithGroup(string) slog.Handler { return h }

// inetSockets returns the TCP and UDP sockets that a process has open, as their links in /proc.
func inetSockets(t *testing.T, pid int) []string {
	t.Helper()
	var tables strings.Builder
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, _ := os.ReadFile("/proc/net/" + table) // tcp6 is missing where IPv6 is
		tables.Write(text)
	}
	var found []string
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(links) == 0 {
		t.Skip("no /proc to look into")
	}
	for _, link := range links {
		to, _ := os.Readlink(link)
		inode := strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")
		if inode != to && strings.Contains(tables.String(), " "+inode+" ") && !connected(inode) {
			found = append(found, to)
		}
	}
	return found
}

// connected reports whether a socket only talks to itself: Postgres's statistics collector has such a one until
// version 14.
func connected(inode string) bool {
	for _, table := range []string{"udp", "udp6"} {
		text, _ := os.ReadFile("/proc/net/" + table)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > 9 && f[9] == inode {
				return f[1] == f[2]
			}
		}
	}
	return false
}
