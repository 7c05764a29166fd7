package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script answers requests one after the other, without a network.
type script struct {
	replies []reply
	seen    []string // method, path and If-Match of the requests
	at      []time.Duration
	start   time.Time
}

// reply is an answer or a failure.
type reply struct {
	status int
	body   string
	header []string // pairs
	err    error
	broken bool // the body is truncated
	hangs  bool
	after  time.Duration
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.start.IsZero() {
		s.start = time.Now()
	}
	s.seen = append(s.seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("If-Match")))
	s.at = append(s.at, time.Since(s.start))
	next := s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	time.Sleep(next.after) // a fake sleep of synctest
	if next.hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if next.err != nil {
		return nil, next.err
	}
	of, body := http.Header{"Content-Type": {"application/json"}}, io.Reader(strings.NewReader(next.body))
	for i := 0; i+1 < len(next.header); i += 2 {
		of.Set(next.header[i], next.header[i+1])
	}
	if next.broken {
		body = io.MultiReader(body, errorReader{})
	}
	return &http.Response{StatusCode: next.status, Header: of, Body: io.NopCloser(body)}, nil
}

// answer returns an answer with pairs of headers.
func answer(status int, body string, header ...string) reply {
	return reply{status: status, body: body, header: header}
}

func failed(err error) reply { return reply{err: err} }

var (
	busy     = envelope("ServiceUnavailable", "the database restarts")
	unstored = envelope("HTTPServiceUnavailable", "The database has no connection left; nothing was stored, send the request again")

	refused = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	reset   = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
)

func envelope(kind, message string, more ...string) string {
	list := []any{}
	for _, m := range append([]string{message}, more...) {
		list = append(list, map[string]any{"error": true, "message": m})
	}
	text, err := json.Marshal(map[string]any{
		"kind": "Status", "message": message, "details": map[string]any{"errorType": kind, "messageList": list},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func scripted(t *testing.T, config Config, replies ...reply) (*Client, *script) {
	t.Helper()
	s := &script{replies: replies}
	config.Server, config.Transport = "http://purser.example", s
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// Only safe requests are sent again.
func TestDo_again(t *testing.T) {
	t.Parallel()
	ok := answer(200, `{}`)
	for name, test := range map[string]struct {
		request Request
		first   reply
		tries   int
	}{
		"GET, away":                 {Request{}, failed(refused), 2},
		"GET, reset":                {Request{}, failed(reset), 2},
		"GET, broken off":           {Request{}, reply{status: 200, body: `{"a`, broken: true}, 2},
		"GET, 503":                  {Request{}, answer(503, busy), 2},
		"GET, 429":                  {Request{}, answer(429, envelope("Throttled", "x")), 2},
		"GET, 502 of a proxy":       {Request{}, answer(502, "<html>", "Content-Type", "text/html"), 2},
		"GET, 500":                  {Request{}, answer(500, envelope("InternalError", "x")), 1},
		"GET, 404":                  {Request{}, answer(404, envelope("RevisionNotFound", "x")), 1},
		"GET, no such host":         {Request{}, failed(&net.DNSError{Err: "no such host", IsNotFound: true}), 1},
		"GET, a wrong certificate":  {Request{}, failed(&tls.CertificateVerificationError{Err: errors.New("x")}), 1},
		"PUT, away":                 {Request{Method: "PUT"}, failed(refused), 2},
		"PUT, reset":                {Request{Method: "PUT"}, failed(reset), 1},
		"PUT, broken off":           {Request{Method: "PUT"}, reply{status: 201, body: `{"a`, broken: true}, 1},
		"PUT, slow":                 {Request{Method: "PUT"}, reply{hangs: true}, 1},
		"PUT, 503":                  {Request{Method: "PUT"}, answer(503, busy), 1},
		"PUT, 503 of a proxy":       {Request{Method: "PUT"}, answer(503, "nothing was stored", "Content-Type", "text/html"), 1},
		"PUT, 503, not stored":      {Request{Method: "PUT"}, answer(503, unstored, "Purser-Stored", "no"), 2},
		"PUT, 500":                  {Request{Method: "PUT"}, answer(500, envelope("InternalError", "x")), 1},
		"PUT, dry run, 503":         {Request{Method: "PUT", Query: url.Values{"dry-run": {"true"}}}, answer(503, busy), 2},
		"PUT with If-Match, away":   {Request{Method: "PUT", IfMatch: `"5"`}, failed(refused), 2},
		"PUT with If-Match, 429":    {Request{Method: "PUT", IfMatch: `"5"`}, answer(429, busy), 2},
		"PUT, 409":                  {Request{Method: "PUT"}, answer(409, envelope("Conflict", "x")), 1},
		"POST, away":                {Request{Method: "POST"}, failed(refused), 2},
		"POST, 503":                 {Request{Method: "POST"}, answer(503, busy), 1},
		"POST, 503, not stored":     {Request{Method: "POST"}, answer(503, unstored, "Purser-Stored", "no"), 2},
		"DELETE, 503":               {Request{Method: "DELETE"}, answer(503, busy), 1},
		"GET, an answer of no type": {Request{}, answer(200, "<html>", "Content-Type", "text/html"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := scripted(t, Config{}, test.first, ok)
				_, err := c.Do(t.Context(), test.request)
				if len(s.seen) != test.tries || (err == nil) != (test.tries == 2) {
					t.Errorf("%d tries, want %d; error %v", len(s.seen), test.tries, err)
				}
				unknown := err != nil && !test.request.reads() && !strings.HasSuffix(name, "409")
				if err != nil && strings.Contains(err.Error(), "is not known") != unknown {
					t.Errorf("error %v; that it is not known whether the change was made: want %v", err, unknown)
				}
			})
		})
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Retry-After is in seconds, or a date by the server's clock.
func TestDo_retryAfter(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][]string{
		"seconds": {"Retry-After", "17"},
		"date":    {"Date", "Sun, 22 Nov 2020 10:00:00 GMT", "Retry-After", "Sun, 22 Nov 2020 10:00:17 GMT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := scripted(t, Config{}, answer(503, busy, header...), answer(200, `{}`))
				var said []string
				c.Notice = func(text string) { said = append(said, text) }
				if _, err := c.Do(t.Context(), Request{}); err != nil {
					t.Fatal(err)
				}
				if s.at[1] != 17*time.Second {
					t.Errorf("it is sent again after %v, want 17s", s.at[1])
				}
				if diff := cmp.Diff([]string{"the database restarts; trying again in 17s"}, said); diff != "" {
					t.Errorf("notices (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The number of tries and their total time are bounded.
func TestDo_givesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, Config{}, answer(503, busy, "Retry-After", "1"))
		_, err := c.Do(t.Context(), Request{})
		if got, ok := errors.AsType[*Error](err); !ok || got.Status != 503 || len(s.seen) != maxTries {
			t.Errorf("%d tries, error %v", len(s.seen), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := scripted(t, Config{Timeout: time.Millisecond}, answer(503, busy))
		_, err := c.Do(t.Context(), Request{})
		if err == nil || !regexp.MustCompile(`after \d00ms, which is beyond`).MatchString(err.Error()) {
			t.Errorf("error %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, Config{Timeout: time.Minute}, answer(503, busy, "Retry-After", "3600"))
		_, err := c.Do(t.Context(), Request{})
		if err == nil || !strings.Contains(err.Error(), "after 1h0m0s, which is beyond --timeout") || len(s.seen) != 1 {
			t.Errorf("%d tries, error %v", len(s.seen), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, Config{Timeout: time.Minute}, reply{hangs: true})
		_, err := c.Do(t.Context(), Request{})
		if err == nil || !strings.Contains(err.Error(), "has not answered within 1m0s; --timeout allows more") || len(s.seen) != 1 {
			t.Errorf("%d tries, error %v", len(s.seen), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := scripted(t, Config{}, answer(503, busy, "Retry-After", "60"))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err := c.Do(ctx, Request{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of being interrupted", err)
		}
	})
}

// TLS errors suggest an https URL or a name of the server's certificate.
func TestErrors_TLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	host := server.Listener.Addr().String()
	for url, want := range map[string]string{
		"http://" + host + "/below":                              "http://" + host + "/below uses TLS: name the server as https://" + host + "/below",
		strings.Replace(server.URL, "127.0.0.1", "localhost", 1): "\nName the server by a name of its certificate: example.com, *.example.com, 127.0.0.1",
	} {
		c, err := New(Config{Server: url, TLS: TLS{CA: ca}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Do(t.Context(), Request{Method: http.MethodPost})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "--ca") {
			t.Errorf("%s: error %v, want %q in it", url, err, want)
		}
	}
}

// Errors have the server's messages and a hint, and no characters that could control a terminal.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first reply
		want  string
	}{
		"Purser's": {
			answer(400, envelope("InvalidDocument", "the site is wrong", "line 3: no name", "line 9: no schema")),
			"the site is wrong\n  line 3: no name\n  line 9: no schema",
		},
		"in YAML": {
			answer(404, "kind: Status\nmessage: no such revision\ndetails:\n  errorType: RevisionNotFound\n  messageList:\n"+
				"  - message: \"line\\x1b 3\"\n    error: true\n", "Content-Type", "application/x-yaml"),
			"no such revision\n  line⟨U+001B⟩ 3\n`purser log` lists the revisions.",
		},
		"of a document": {
			answer(400, "kind: Status\nmessage: not valid\ndetails:\n  errorType: InvalidDocumentFormat\n  messageList:\n"+
				"  - message: no storagePolicy\n    documents: [{schema: acme/Host/v1, layer: site, name: h}]\n"+
				"    diagnostic: At .metadata (line 2). Add it.\n", "Content-Type", "application/x-yaml"),
			"not valid\n  [acme/Host/v1, site] h: no storagePolicy\n    At .metadata (line 2). Add it.",
		},
		"of a rendered document": {
			answer(400, "kind: Status\nmessage: not valid\ndetails:\n  errorType: InvalidDocumentFormat\n  messageList:\n"+
				"  - message: x is not of type 'integer'\n    documents: [{schema: acme/Host/v1, layer: site, name: h}]\n"+
				"    diagnostic: {schema_path: .properties.n.type, error_section: {n: x}}\n", "Content-Type", "application/x-yaml"),
			"not valid\n  [acme/Host/v1, site] h: x is not of type 'integer'\n" +
				"    The rule is .properties.n.type of the document's schema.",
		},
		"the same twice": {
			answer(400, "kind: Status\nmessage: no source\ndetails:\n  errorType: X\n  messageList:\n"+
				"  - message: no source\n    documents: [{schema: acme/Host/v1, layer: site, name: h}]\n"+
				"  - message: no source\n    documents: [{schema: acme/Host/v1, layer: site, name: i}]\n"+
				"  - message: no source\n", "Content-Type", "application/x-yaml"),
			"[acme/Host/v1, site] h: no source\n  [acme/Host/v1, site] i: no source",
		},
		"YAML of others": {
			answer(404, "? [a]\n: b\n", "Content-Type", "application/x-yaml"),
			`http://purser.example answers 404 Not Found, not in Purser's form but as "application/x-yaml"; is a proxy in front of ` +
				`it, or is it another server?`,
		},
		"no token": {
			answer(401, envelope("HTTPUnauthorized", "Send a token.")),
			"Send a token.\nLog in.",
		},
		"no token was sent": {
			answer(401, `{"kind":"Status","message":null,"details":{"errorType":"HTTPUnauthorized","messageList":[`+
				`{"message":"Authorization: Bearer TOKEN","kind":"RequestHint"}]}}`),
			"http://purser.example requires a token, and none was sent\n" +
				"Log in.",
		},
		"no such revision": {
			answer(404, `{"kind":"Status","message":"no revision 9","details":{"errorType":`+
				`"RevisionNotFound","messageList":[{"message":"no revision 9"},{"message":"The newest is 4."},{"message":"GET /x","kind":"RequestHint"}]}}`),
			"no revision 9\n  The newest is 4.\n`purser log` lists the revisions.",
		},
		"no such tag": {
			answer(404, `{"kind":"Status","message":"no tag","details":{"errorType":"RevisionTagNotFound","messageList":[`+
				`{"message":"no tag"},{"message":"GET /x","kind":"RequestHint"}]}}`), "no tag\n`purser tag` lists the tags.",
		},
		"no right": {
			answer(403, envelope("HTTPForbidden", "not allowed")),
			"not allowed\n`purser whoami` lists your roles and rights.",
		},
		"a reserved name": {
			answer(403, `{"kind":"Status","message":"reserved","reason":"ReservedName","details":{"errorType":"HTTPForbidden"}}`),
			"reserved",
		},
		"a document without a layer": {
			answer(409, envelope("X", "Document [acme/Host/v1, None] h exists")), "Document [acme/Host/v1] h exists",
		},
		"escapes": {answer(400, envelope("X", "red \x1b[31m\x07 text")), "red ⟨U+001B⟩[31m⟨U+0007⟩ text"},
		"a proxy": {
			answer(403, "<html>", "Content-Type", "text/html"),
			`http://purser.example answers 403 Forbidden, not in Purser's form but as "text/html"; is a proxy in front of it, ` +
				`or is it another server?`,
		},
		"plain text": {
			answer(404, "nginx: \x1b[2Jno\n", "Content-Type", "text/plain; charset=utf-8"),
			`http://purser.example answers 404 Not Found, not in Purser's form but as "text/plain; charset=utf-8"; is a ` +
				`proxy in front of it, or is it another server? It says: nginx: ⟨U+001B⟩[2Jno`,
		},
		"moved": {
			answer(301, "", "Location", "https://purser.example/"),
			"http://purser.example answers 301 Moved Permanently, to https://purser.example/: name the server by the URL where it is",
		},
		"a login page": {
			answer(200, "<html>", "Content-Type", "text/html; charset=utf-8"),
			`http://purser.example answers with "text/html; charset=utf-8" where application/json was asked for: it is not ` +
				`Purser, or there is a proxy before it that wants something first`,
		},
		"away": {failed(refused), "http://purser.example cannot be reached: dial tcp: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := scripted(t, Config{Login: "Log in."}, test.first)
				_, err := c.Do(t.Context(), Request{Method: http.MethodPost})
				if err == nil {
					t.Fatal("no error")
				}
				if diff := cmp.Diff(test.want, err.Error()); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// An answer is bounded, whatever length the server declares, and a truncated one is an error.
func TestDo_hugeAndTruncated(t *testing.T) {
	t.Parallel()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", JSON)
		if strings.HasSuffix(r.URL.Path, "truncated") {
			w.Header().Set("Content-Length", "100")
		}
		if strings.HasSuffix(r.URL.Path, "huge") {
			for range 100 {
				w.Write(bytes.Repeat([]byte(" "), 1<<16))
			}
		}
		w.Write([]byte("[]"))
	}))
	t.Cleanup(served.Close)
	c, err := New(Config{Server: served.URL + "/api/v1.0/", MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"huge":      "has more than 1048576 bytes",
		"truncated": "broke off after 2 bytes",
	} {
		_, err := c.Do(t.Context(), Request{Method: http.MethodPost, Path: []string{path}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that %s", path, err, want)
		}
	}
}

func TestNew_refuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"no scheme":     {Config{Server: "purser.example:9000"}, "must be a URL such as"},
		"no host":       {Config{Server: "https://"}, "must be a URL such as"},
		"a password":    {Config{Server: "https://anna:pw@purser.example"}, "holds a user or password"},
		"a query":       {Config{Server: "https://purser.example?x=1"}, "has a query"},
		"a wide token":  {Config{Server: "http://p", Token: "a b"}, "white space"},
		"a lonely key":  {Config{Server: "http://p", TLS: TLS{Key: "k"}}, "needs its key"},
		"no such CA":    {Config{Server: "http://p", TLS: TLS{CA: t.TempDir() + "/none"}}, "no such file"},
		"a CA of words": {Config{Server: "http://p", TLS: TLS{CA: "client_test.go"}}, "no PEM certificate found"},
	} {
		if _, err := New(test.config); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, test.want)
		}
	}
}

func TestClient_addresses(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"http://h":                     "http://h/api/v1.0/buckets/a%2Fb%20c/documents?x=1",
		"http://h/":                    "http://h/api/v1.0/buckets/a%2Fb%20c/documents?x=1",
		"https://h:9000/api/v1.0/":     "https://h:9000/api/v1.0/buckets/a%2Fb%20c/documents?x=1",
		"https://h/purser":             "https://h/purser/api/v1.0/buckets/a%2Fb%20c/documents?x=1",
		"https://h/purser/api/v1.0///": "https://h/purser/api/v1.0/buckets/a%2Fb%20c/documents?x=1",
	} {
		c, err := New(Config{Server: server})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.URL([]string{"buckets", "a/b c", "documents"}, url.Values{"x": {"1"}}); got != want {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
	for _, at := range []struct{ server, site, want, about string }{
		{"http://h", "", "http://h/api/v1.0/x", ""},
		{"http://h", "default", "http://h/api/v1.0/x", "default"}, // as older servers have it
		{"http://h/p/api/v1.0", "atl1", "http://h/p/sites/atl1/api/v1.0/x", "atl1"},
		{"http://h/sites/atl1", "", "http://h/sites/atl1/api/v1.0/x", "atl1"},
		{"http://h/sites/atl1/", "bos1", "http://h/sites/bos1/api/v1.0/x", "bos1"},
		{"http://h/p/sites/atl1/api/v1.0/", "", "http://h/p/sites/atl1/api/v1.0/x", "atl1"},
		{"http://h/p/sites/atl1/api/v1.0", "default", "http://h/p/api/v1.0/x", "default"},
		{"http://h/sites/default", "", "http://h/sites/default/api/v1.0/x", "default"},
		{"http://h/sites", "atl1", "http://h/sites/sites/atl1/api/v1.0/x", "atl1"},
		{"http://h/sites/a/b", "", "http://h/sites/a/b/api/v1.0/x", ""},
		{"http://h", AllSites, "http://h/sites/-/api/v1.0/x", "-"},
		{"http://h", "a/b", "http://h/sites/a%2Fb/api/v1.0/x", "a/b"},
	} {
		c, err := New(Config{Server: at.server, Site: at.site})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.URL([]string{"x"}, nil); got != at.want || c.Site != at.about {
			t.Errorf("%s, site %q: %s of site %q, want %s of %q", at.server, at.site, got, c.Site, at.want, at.about)
		}
		root := strings.TrimSuffix(strings.TrimSuffix(Root(at.server), "/api/v1.0"), "/")
		for got, want := range map[string]string{
			c.Sites().URL([]string{"b"}, url.Values{"confirm": {"b"}}): root + "/sites/b?confirm=b", c.Sites().URL(nil, nil): root + "/sites",
			c.At("z").URL([]string{"x"}, nil): root + "/sites/z/api/v1.0/x", c.At("default").URL(nil, nil): root + "/api/v1.0",
		} {
			if got != want {
				t.Errorf("%s: %s, want %s", at.server, got, want)
			}
		}
	}
	for server, want := range map[string]bool{
		"http://purser.example": true, "http://10.0.0.1:9000": true, "https://purser.example": false,
		"http://localhost:9000": false, "http://127.0.0.1:9000": false, "http://[::1]:9000": false,
	} {
		c, err := New(Config{Server: server, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if c.TokenInClear() != want {
			t.Errorf("%s: a token in clear is %v, want %v", server, !want, want)
		}
	}
}
