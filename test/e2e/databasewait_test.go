package e2e_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/store/storetest"
)

// lateDatabase is a database at a port that refuses connections until open is called. The port stays reserved
// meanwhile.
type lateDatabase struct {
	port             *os.File // the socket that reserves the port
	network, address string   // of Postgres
	url              string   // with the port
	listener         net.Listener
	clients          sync.WaitGroup
}

const latePassword = "hunter2hunter2"

func newLateDatabase(t *testing.T, database string) *lateDatabase {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	late := &lateDatabase{port: os.NewFile(uintptr(socket), "late database")}
	t.Cleanup(func() { // after the server has stopped
		_ = late.port.Close()
		if late.listener != nil {
			_ = late.listener.Close()
		}
		late.clients.Wait()
	})
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	bound, _ := name.(*syscall.SockaddrInet4)
	late.network, late.address = pgconn.NetworkAddress(config.Host, config.Port)
	at := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, latePassword), Path: "/" + config.Database,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(bound.Port)), RawQuery: "sslmode=disable",
	}
	late.url = at.String()
	return late
}

// open forwards connections from the port to Postgres.
func (d *lateDatabase) open(t *testing.T) {
	t.Helper()
	const backlog = 64
	if err := syscall.Listen(int(d.port.Fd()), backlog); err != nil {
		t.Fatal(err)
	}
	listener, err := net.FileListener(d.port)
	if err != nil {
		t.Fatal(err)
	}
	d.listener = listener
	d.clients.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			d.clients.Go(func() { d.pass(client) })
		}
	})
}

func (d *lateDatabase) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(d.network, d.address)
	if err != nil {
		return
	}
	defer server.Close()
	var group sync.WaitGroup
	group.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	group.Wait()
}

// startWaiting starts a server whose database does not accept connections yet.
func startWaiting(t *testing.T, database string, flags ...string) *server {
	t.Helper()
	s := launch(t, program, patientClient(), database, flags...)
	eventually(t, "the server listens", func() bool {
		_, after, listens := strings.Cut(s.log.text(), `"msg":"listening","url":"`)
		s.url, _, _ = strings.Cut(after, `"`)
		return listens
	})
	return s
}

// A server waits for its database. Meanwhile it reports that it is alive, and why it is not ready.
func TestDatabaseWait(t *testing.T) {
	t.Parallel()
	database := newLateDatabase(t, storetest.Empty(t))
	s := startWaiting(t, database.url, "--database-wait", patience.String())
	t.Cleanup(func() { s.stop(t) })
	eventually(t, "it has tried", func() bool {
		return strings.Contains(s.get(t, "/readyz").text, "connection refused")
	})
	s.get(t, "health").is(t, http.StatusNoContent)
	for _, path := range []string{"/readyz", "/versions", "revisions", "revisions/1/documents"} {
		got := s.get(t, path)
		got.fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable", "waits for its database: connection refused")
		if after := got.got.Get("Retry-After"); after != "1" {
			t.Errorf("%s: Retry-After: %q", path, after)
		}
		if strings.Contains(got.text, latePassword) || strings.Contains(got.text, "127.0.0.1") {
			t.Errorf("%s shows what is inside: %s", path, got.text)
		}
	}
	s.put(t, "mop", widget("w1", "{}")).fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable", "waits")
	if strings.Contains(s.log.text(), latePassword) {
		t.Errorf("the password is logged:\n%s", s.log.text())
	}
	database.open(t)
	s.ready(t)
	s.put(t, "mop", widget("w1", "{}")).isNames(t, "w1@1")
}

// SIGTERM ends the wait.
func TestDatabaseWait_stopped(t *testing.T) {
	t.Parallel()
	s := startWaiting(t, newLateDatabase(t, storetest.Empty(t)).url, "--database-wait", "24h")
	s.get(t, "health").is(t, http.StatusNoContent)
	s.stop(t)
}

// A server gives up after the time limit, or immediately if waiting cannot help, and says what to check.
func TestDatabaseWait_givesUp(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(storetest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	otherUser, otherDatabase := *at, *at
	query := at.Query()
	query.Set("user", "nobody")
	query.Set("password", latePassword)
	otherUser.RawQuery, otherDatabase.Path = query.Encode(), "/nowhere"
	closed := newLateDatabase(t, at.String())
	_, address, _ := strings.Cut(closed.url, "@")
	address, _, _ = strings.Cut(address, "/")
	for name, c := range map[string]struct {
		command, url, wait string
		want               []string
	}{
		"closed port": {
			"serve", closed.url, "1s",
			[]string{"the database at " + address + " did not answer within 1s", "connection refused", "check that Postgres runs"},
		},
		"closed port, migrate": {
			"migrate", closed.url, "0s",
			[]string{"the database at " + address + " did not answer within 0s", "connection refused", "check that Postgres runs"},
		},
		"no such user":     {"serve", otherUser.String(), "24h", []string{"refuses the connection", "28", "check the user"}},
		"no such database": {"serve", otherDatabase.String(), "24h", []string{"3D000", "create the database"}},
		"no URL":           {"serve", "postgres://u:" + latePassword + "@h:port/d", "24h", []string{"read the database's URL"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{c.command, "--database-url", c.url, "--database-wait", c.wait}
			if c.command == "serve" {
				args = append(args, "--listen", "127.0.0.1:0")
			}
			out, code := runProgram(t, args...)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
			if strings.Contains(out, latePassword) {
				t.Errorf("it says the password:\n%s", out)
			}
		})
	}
}
