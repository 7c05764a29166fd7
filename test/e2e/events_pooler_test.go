package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/store/storetest"
)

// pooled starts pgbouncer in transaction mode in front of a database, and returns the URL of the database through it.
func pooled(t *testing.T, database string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed: apt-get install pgbouncer")
	}
	to, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	dir, err := os.MkdirTemp("", "purser-pooler-") //nolint:usetesting // run by root, pgbouncer is another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s port=%d user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
`, to.Host, to.Port, to.User, port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", config}
	if os.Geteuid() == 0 {
		args = append([]string{"-u", "postgres"}, args...)
	}
	bouncer := exec.Command(path, args...)
	bouncer.SysProcAttr = withParent()
	if err := bouncer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = bouncer.Process.Signal(syscall.SIGKILL)
		_ = bouncer.Wait() // killed
	})
	return fmt.Sprintf("postgres://%s@127.0.0.1:%s/%s?sslmode=disable&default_query_exec_mode=cache_describe", to.User, port, to.Database)
}

// Behind a pooler, each transaction may use another session, so LISTEN does not work. Waiting requests, streams and
// webhooks work as usual, even for changes made through another server.
func TestEvents_pooler(t *testing.T) {
	t.Parallel()
	database := storetest.URL(t)
	flags := []string{"--secrets-keyset", newKeyset(t), "--webhook-allow", "127.0.0.0/8"}
	url := pooled(t, database)
	s, other := startOn(t, url, flags...), startOn(t, url, flags...)
	r := newReceiver(t, ok)
	path, _ := s.hook(t, "{url: '"+r.URL+"'}")
	s.put(t, "b", policy("p", "a-validation")).is(t, http.StatusOK)
	stream := s.stream(t.Context(), t, "since=now")
	answers := s.later(t, "revisions/1/status?expect=success&wait=10m", "Accept", "text/plain")
	other.report(t, 1, "a-validation", "success")
	if a := (<-answers).is(t, http.StatusOK); a.text != "success\n" {
		t.Error(a.text)
	}
	for _, want := range []string{"purser.validation.posted", "purser.verdict.changed"} {
		if e := <-stream; e.Type != want {
			t.Errorf("streamed %v, want %s", e, want)
		}
	}
	eventually(t, "deliveries", func() bool { return strings.Count(fmt.Sprint(s.deliveries(t, path)), "delivered 200") == 3 })
}
