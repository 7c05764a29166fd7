package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a bare connection, with a timeout.
func (s *server) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.root, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		t.Fatalf("a connection of type %T", conn)
	}
	return tcp
}

func say(t *testing.T, conn io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// hear reads the answer to a PUT.
func (s *server) hear(t *testing.T, conn io.Reader) answer {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodPut})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	a := answer{
		request: request{method: http.MethodPut, path: "buckets/b/documents", bad: true},
		status:  response.StatusCode, got: response.Header, text: string(text),
	}
	if err := checkContract(s.url, a); err != nil {
		t.Errorf("the answer breaks openapi.yaml: %v", err)
	}
	return a
}

func head(length int) string {
	return fmt.Sprintf("PUT /api/v1.0/buckets/b/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		typeXYAML, length)
}

func TestHostile_truncatedBody(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	text := widget("w", "{}")
	t.Run("the client waits for an answer", func(t *testing.T) {
		t.Parallel()
		conn := s.dial(t)
		say(t, conn, head(len(text)+100)+text)
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		s.hear(t, conn).fails(t, http.StatusBadRequest, "HTTPBadRequest", "ended early")
		s.isRevision(t, 1)
	})
	t.Run("a chunk is cut off", func(t *testing.T) {
		t.Parallel()
		conn := s.dial(t)
		say(t, conn, strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1)+
			fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		s.hear(t, conn).fails(t, http.StatusBadRequest, "HTTPBadRequest", "ended early")
		s.isRevision(t, 1)
	})
	t.Run("the client is gone", func(t *testing.T) {
		t.Parallel()
		conn := s.dial(t)
		say(t, conn, strings.Replace(head(len(text)+100), "/b/", "/gone/", 1)+text)
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server gives up the request", func() bool {
			return strings.Contains(s.log.text(), `"path":"/api/v1.0/buckets/gone/documents"`)
		})
		s.isRevision(t, 1)
	})
}

func TestHostile_slowClients(t *testing.T) {
	t.Parallel()
	s := startHostile(t, "--header-timeout", "300ms", "--read-timeout", "700ms")
	t.Run("slow header", func(t *testing.T) {
		t.Parallel()
		conn := s.dial(t)
		say(t, conn, "PUT /api/v1.0/buckets/b/documents HTTP/1.1\r\n")
		// There is no request to answer yet, so the connection ends.
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("the connection did not end: %v", err)
		}
	})
	t.Run("slow body", func(t *testing.T) {
		t.Parallel()
		conn := s.dial(t)
		say(t, conn, head(1000)+"schema: ")
		s.hear(t, conn).fails(t, http.StatusRequestTimeout, "HTTPRequestTimeout", "too long to arrive", "nothing was stored")
		s.isRevision(t, 1)
	})
	t.Run("a body that drips", func(t *testing.T) {
		t.Parallel()
		conn := s.dial(t)
		say(t, conn, head(1000))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				if _, err := io.WriteString(conn, "#"); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		}()
		s.hear(t, conn).fails(t, http.StatusRequestTimeout, "HTTPRequestTimeout")
		_ = conn.Close()
		<-done
	})
}

func TestHostile_requests(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"no HTTP":             {"hello\r\n\r\n", http.StatusBadRequest},
		"huge header":         {"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
		"negative length":     {head(-5), http.StatusBadRequest},
		"two lengths":         {strings.Replace(head(5), "Host: localhost", "Host: localhost\r\nContent-Length: 6", 1) + "abcde", http.StatusBadRequest},
		"length past integer": {strings.Replace(head(5), " 5\r", " 99999999999999999999\r", 1), http.StatusBadRequest},
		"huge length":         {strings.Replace(head(5), " 5\r", " 9000000000000000000\r", 1), http.StatusRequestEntityTooLarge},
		"bad escape":          {"GET /api/v1.0/revisions/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", http.StatusBadRequest},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			conn := s.dial(t)
			_, _ = io.WriteString(conn, c.text) // the server may have closed the connection
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			_ = response.Body.Close()
			if response.StatusCode != c.status {
				t.Errorf("status %d, want %d", response.StatusCode, c.status)
			}
			s.isRevision(t, 1)
		})
	}
}
