package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// call is a request to a receiver.
type call struct {
	header http.Header
	body   string
}

// event decodes the event of a call.
func (c call) event(t *testing.T) (e received) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.body), &e); err != nil {
		t.Fatalf("%v\n%s", err, c.body)
	}
	return e
}

// receiver is a receiver of webhooks.
type receiver struct {
	*httptest.Server

	mutex sync.Mutex
	calls []call
}

// newReceiver starts a receiver whose calls are answered by handle.
func newReceiver(t *testing.T, handle http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body) // missing bytes fail the comparison
		r.mutex.Lock()
		r.calls = append(r.calls, call{request.Header, string(body)})
		r.mutex.Unlock()
		handle(w, request)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) got() []call {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.calls
}

// hook creates a webhook and returns its path and its secret.
func (s *server) hook(t *testing.T, wish string) (path, secret string) {
	t.Helper()
	made := s.post(t, "webhooks", wish).is(t, http.StatusCreated).mapping(t)
	secret, _ = made["secret"].(string)
	return fmt.Sprintf("webhooks/%v", made["id"]), secret
}

// deliveries lists the deliveries to a webhook, newest first, as "type: state status error".
func (s *server) deliveries(t *testing.T, path string) (lines []string) {
	t.Helper()
	for _, item := range s.get(t, path+"/deliveries").results(t) {
		d, _ := item.(map[string]any)
		e, _ := d["event"].(map[string]any)
		lines = append(lines, fmt.Sprintf("%v: %v %v %v", e["type"], d["state"], d["status"], d["error"]))
	}
	return lines
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "thanks") }

// startCalling runs a server whose webhooks may call this machine.
func startCalling(t *testing.T) *server {
	t.Helper()
	return startFresh(t, "--secrets-keyset", newKeyset(t), "--webhook-allow", "127.0.0.0/8")
}

// Receivers get each event of the types that they want, signed with all valid secrets.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := startCalling(t)
	r := newReceiver(t, ok)
	all, first := s.hook(t, "{url: '"+r.URL+"/all'}")
	tags, _ := s.hook(t, "{url: '"+r.URL+"/tags', types: [purser.tag.set], secret: whsec_"+strings.Repeat("QUFB", 8)+"}")
	s.hook(t, "{url: '"+r.URL+"/off', enabled: false}")
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.tag(t, 1, "t")
	eventually(t, "three deliveries", func() bool { return len(r.got()) == 3 })
	verify := func(secret string, c call) {
		t.Helper()
		v, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = v.Verify([]byte(c.body), c.header)
		}
		if err != nil {
			t.Errorf("the signature of %s: %v", c.body, err)
		}
	}
	for _, c := range r.got() {
		if c.event(t).Type == "purser.revision.created" {
			verify(first, c)
			if kind := c.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/cloudevents+json") {
				t.Errorf("Content-Type %q", kind)
			}
		}
	}
	eventually(t, "they are delivered", func() bool {
		return fmt.Sprint(s.deliveries(t, tags), s.deliveries(t, all)) ==
			"[purser.tag.set: delivered 200 <nil>] [purser.tag.set: delivered 200 <nil> purser.revision.created: delivered 200 <nil>]"
	})
	const second = "whsec_QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJC"
	replace := request{method: "PUT", path: all, body: "{url: '" + r.URL + "/new', secret: " + second + "}", header: yamlBody()}
	set := s.send(t, replace).is(t, http.StatusOK)
	if again := s.send(t, replace).is(t, http.StatusOK); again.text != set.text { // as if the answer had been lost
		t.Errorf("the same secret is replaced again:\n%s%s", set.text, again.text)
	}
	if strings.Contains(set.text+s.get(t, all).text+s.get(t, "webhooks").text, "whsec") {
		t.Error("a secret is shown again")
	}
	s.post(t, all+"/ping", "").is(t, http.StatusAccepted)
	eventually(t, "a ping", func() bool { return len(r.got()) == 4 })
	ping := r.got()[3]
	if ping.event(t).Type != "purser.webhook.ping" {
		t.Errorf("a ping: %s", ping.body)
	}
	verify(first, ping)
	verify(second, ping)
	s.send(t, request{method: "DELETE", path: all}).is(t, http.StatusNoContent)
	s.get(t, all).fails(t, http.StatusNotFound, "WebhookNotFound")
	s.get(t, all+"/deliveries").fails(t, http.StatusNotFound, "WebhookNotFound")
	s.post(t, tags+"/deliveries/999/retry", "").fails(t, http.StatusNotFound, "DeliveryNotFound")
	for _, id := range []string{"x", "0", "-1", "1.0", "9223372036854775808"} {
		s.send(t, request{path: "webhooks/" + id, bad: true}).
			fails(t, http.StatusNotFound, "WebhookNotFound", "There is no webhook "+id+";")
		s.send(t, request{method: "POST", path: tags + "/deliveries/" + id + "/retry", bad: true}).
			fails(t, http.StatusNotFound, "DeliveryNotFound", "no delivery "+id+";")
	}
}

// A receiver that hangs gets a few calls at a time, and does not delay those to others.
func TestWebhooks_hangs(t *testing.T) {
	t.Parallel()
	const most, all = 4, 24 // the maximum of concurrent calls to a receiver, and more than a server makes
	s := startCalling(t)
	var now, peak atomic.Int32
	over := make(chan struct{})
	hanging := newReceiver(t, func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		for before := peak.Load(); n > before && !peak.CompareAndSwap(before, n); {
			before = peak.Load()
		}
		<-over
	})
	t.Cleanup(func() { close(over) }) // before the receiver is closed
	good := newReceiver(t, ok)
	s.hook(t, "{url: '"+hanging.URL+"', types: [purser.tag.set]}")
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	for i := range all {
		s.tag(t, 1, fmt.Sprintf("t%d", i))
	}
	eventually(t, "the receiver is called", func() bool { return peak.Load() == most })
	s.hook(t, "{url: '"+good.URL+"', types: [purser.tag.deleted]}")
	s.send(t, request{method: http.MethodDelete, path: "revisions/1/tags/t0"}).is(t, http.StatusNoContent)
	eventually(t, "another receiver is called", func() bool { return len(good.got()) == 1 })
	if peak.Load() > most {
		t.Errorf("%d calls at once to a receiver that hangs, want at most %d", peak.Load(), most)
	}
}

// Failed calls are retried, except after 410. No answer of a receiver harms the server.
func TestWebhooks_badReceivers(t *testing.T) {
	t.Parallel()
	s := startCalling(t)
	inner := newReceiver(t, ok)
	var failures atomic.Int32
	want := map[string]string{}
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"fails once": {func(w http.ResponseWriter, _ *http.Request) {
			if failures.Add(1) == 1 {
				http.Error(w, "not now", http.StatusInternalServerError)
			}
		}, "delivered 200 <nil>"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inner.URL, http.StatusTemporaryRedirect)
		}, "pending 307 the receiver answers 307 Temporary Redirect"},
		"is gone": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, "failed 410 the receiver answers 410 Gone"},
		"answers for ever": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, "delivered 200 <nil>"},
	} {
		r := newReceiver(t, c.handle)
		path, _ := s.hook(t, "{url: '"+r.URL+"', types: [purser.tag.set]}")
		want[path] = name + ": [purser.tag.set: " + c.want + "]"
	}
	hang := make(chan struct{})
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(hang) }) // before the receiver is closed
	s.hook(t, "{url: '"+hanging.URL+"', types: [purser.tag.set]}")
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.tag(t, 1, "t")
	for path, line := range want {
		name, state, _ := strings.Cut(line, ": ")
		eventually(t, line, func() bool { return fmt.Sprint(s.deliveries(t, path)) == state })
		if enabled := s.get(t, path).mapping(t)["enabled"]; enabled != (name != "is gone") {
			t.Errorf("%s: enabled %v", name, enabled)
		}
	}
	if calls := inner.got(); len(calls) > 0 {
		t.Errorf("the target of a redirect is called: %v", calls)
	}
	exposed := s.get(t, "/metrics").is(t, http.StatusOK).text
	for _, sample := range []string{ // the receiver that failed once counts as pending and as delivered
		`purser_webhook_attempts_total{state="delivered"} 2`, `purser_webhook_attempts_total{state="failed"} 1`,
		`purser_webhook_attempts_total{state="pending"} `,
	} {
		if !strings.Contains(exposed, "\n"+sample) || strings.Contains(exposed, `{state="pending"} 0`) {
			t.Errorf("the metrics lack %s", sample)
		}
	}
	s.staysSmall(t)
}

// A receiver that violates HTTP uses up an attempt, which has a time limit.
func TestWebhooks_hostileReceivers(t *testing.T) {
	t.Parallel()
	s := startCalling(t)
	const head = "HTTP/1.1 200 OK\r\n"
	hooks := map[string]string{}
	for name, c := range map[string]struct {
		begin, again string
		pause        time.Duration
		want         string
	}{
		"endless headers":        {head, "X-A: " + strings.Repeat("a", 1000) + "\r\n", 0, "pending <nil> call the receiver"},
		"one endless header":     {head + "X-A: ", strings.Repeat("a", 1000), 0, "pending <nil> call the receiver"},
		"endless interim answer": {"", "HTTP/1.1 103 Early Hints\r\nX-A: " + strings.Repeat("a", 1000) + "\r\n\r\n", 0, "pending <nil> call the receiver"},
		"a chunk without an end": {head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n", strings.Repeat("a", 1000), 0, "delivered 200 <nil>"},
		"what looks compressed":  {head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b", strings.Repeat("\x00", 1000), 0, "delivered 200 <nil>"},
		"a body that drips":      {head + "Content-Length: 100000\r\n\r\n", "a", 100 * time.Millisecond, "delivered 200 <nil>"},
		"headers that drip":      {head + "X-A: ", "a", 100 * time.Millisecond, "pending <nil> call the receiver"},
		"a reason with bytes that no database stores": {
			"HTTP/1.1 500 a\x00b\xffc\r\nContent-Length: 1\r\n\r\n", "a", 100 * time.Millisecond,
			"pending 500 the receiver answers 500 a\uFFFDb\uFFFDc",
		},
		"a header that no database stores": {
			"HTTP/1.1 500 x\r\nA\x00\xff: b\r\n", "a", 100 * time.Millisecond, "pending <nil> call the receiver",
		},
	} {
		path, _ := s.hook(t, "{url: 'http://"+talker(t, c.begin, c.again, c.pause)+"', types: [purser.tag.set]}")
		hooks[path] = name + ": [purser.tag.set: " + c.want
	}
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.tag(t, 1, "t")
	for path, line := range hooks {
		_, want, _ := strings.Cut(line, ": ")
		eventually(t, line, func() bool { return strings.HasPrefix(fmt.Sprint(s.deliveries(t, path)), want) })
	}
	s.staysSmall(t)
}

// talker answers connections with begin, and then with again forever. It returns its address.
func talker(t *testing.T, begin, again string, pause time.Duration) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					_, err = io.WriteString(conn, begin)
				}
				for err == nil {
					_, err = io.WriteString(conn, again)
					time.Sleep(pause)
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// A receiver cannot fill the log with unsolicited responses, which net/http quotes there.
func TestWebhooks_log(t *testing.T) {
	t.Parallel()
	s := startCalling(t)
	const said, most = "Unsolicited response", 400
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	path, _ := s.hook(t, "{url: 'http://"+talker(t, answer, strings.Repeat("a", 4000), 0)+"', types: [purser.tag.set]}")
	s.post(t, path+"/ping", "").is(t, http.StatusAccepted)
	eventually(t, "net/http says what it was sent", func() bool { return strings.Contains(s.log.text(), said) })
	for line := range strings.Lines(s.log.text()) {
		if strings.Contains(line, said) && (!strings.Contains(line, `"level":"WARN"`) || len(line) > most) {
			t.Errorf("logged: %s", line)
		}
	}
}

// No connection is made to an address that is not allowed, whatever name resolves to it.
func TestWebhooks_whereTo(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, ok)
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	s := startFresh(t, "--secrets-keyset", newKeyset(t), "--webhook-allow", "localhost,*.example,10.0.0.0/8")
	path, _ := s.hook(t, "{url: 'http://localhost"+port+"'}") // a listed name that resolves to this machine
	s.post(t, path+"/ping", "").is(t, http.StatusAccepted)
	eventually(t, "a failed attempt", func() bool {
		return strings.Contains(fmt.Sprint(s.deliveries(t, path)), "which --webhook-allow of the server does not list")
	})
	for _, url := range []string{r.URL, "http://[::1]" + port, "http://169.254.169.254/", "ftp://x.example", "http://u:p@x.example", "x", "http://", "http://x.example:99999"} {
		s.post(t, "webhooks", "{url: '"+url+"'}").fails(t, http.StatusBadRequest, "HTTPBadRequest")
	}
	if calls := r.got(); len(calls) > 0 {
		t.Errorf("called: %v", calls)
	}
	for _, body := range []string{"[]", "{}", "{url: 1}", "{url: 'http://x.example', typs: []}", "{url: 'http://x.example', types: [purser.tag.sat]}", "{url: 'http://x.example', secret: whsec_QQ==}"} {
		s.send(t, request{method: "POST", path: "webhooks", body: body, header: yamlBody(), bad: true}).fails(t, http.StatusBadRequest, "HTTPBadRequest")
	}
	none := start(t)
	none.post(t, "webhooks", "{url: 'http://x.example'}").fails(t, http.StatusForbidden, "WebhooksNotAllowed", "--webhook-allow")
	unsealed := startFresh(t, "--webhook-allow", "*.example")
	unsealed.post(t, "webhooks", "{url: 'http://x.example'}").fails(t, http.StatusConflict, "NoKeyset", "--secrets-keyset")
	if said := refusesToStart(t, "--webhook-allow", "http://x"); !strings.Contains(said, "--webhook-allow") {
		t.Error(said)
	}
}

// If a server is killed while it delivers, another one delivers, with the same ids.
func TestWebhooks_kill(t *testing.T) {
	t.Parallel()
	keyset := newKeyset(t)
	flags := []string{"--secrets-keyset", keyset, "--webhook-allow", "127.0.0.0/8"}
	s := startFresh(t, flags...)
	doomed := launch(t, program, patientClient(), s.database, flags...)
	doomed.ready(t)
	var held sync.Map // deliveries whose first call was not answered
	release := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if _, again := held.LoadOrStore(r.Header.Get(standardwebhooks.HeaderWebhookID), true); !again {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			panic(http.ErrAbortHandler)
		}
		ok(w, r)
	})
	path, _ := s.hook(t, "{url: '"+r.URL+"'}")
	const changes = 10
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	for i := range changes {
		doomed.tag(t, 1, fmt.Sprintf("t%d", i))
	}
	eventually(t, "calls", func() bool { return len(r.got()) >= changes/2 })
	_ = doomed.process.Process.Kill()
	<-doomed.ended
	close(release)
	// Each delivery is called again after its first call failed. Only then is it worthwhile to ask for all of them.
	eventually(t, "second calls", func() bool { return len(r.got()) >= 2*(changes+1) })
	eventually(t, "all are delivered", func() bool {
		return strings.Count(fmt.Sprint(s.deliveries(t, path)), ": delivered 200") == changes+1
	})
}

// Webhooks reveal no secrets to callers who may manage them, and nothing about webhooks to others.
func TestWebhooks_secrets(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, ok)
	k := newKeys(t, "admin", "caller", "other")
	s := k.startWith(t, "'purser:manage_webhooks': role:caller or role:admin\n", "--secrets-keyset", newKeyset(t), "--webhook-allow", "127.0.0.0/8")
	send := func(user, method, path, body string) answer {
		t.Helper()
		r := request{method: method, path: path, body: body, header: map[string]string{}}
		maps.Copy(r.header, k.as(user))
		return s.send(t, r)
	}
	made := send("caller", "POST", "webhooks", "{url: '"+r.URL+"'}").is(t, http.StatusCreated)
	id := fmt.Sprintf("webhooks/%v", made.mapping(t)["id"])
	for _, path := range []string{"webhooks", id, id + "/deliveries"} {
		send("other", "GET", path, "").is(t, http.StatusForbidden)
	}
	send("admin", "PUT", "buckets/b/documents", layers("site")+passphrase("hidden-name", "sesame")).is(t, http.StatusOK)
	eventually(t, "a delivery", func() bool { return len(r.got()) == 1 })
	for _, text := range []string{r.got()[0].body, send("caller", "GET", id+"/deliveries", "").text} {
		if strings.Contains(text, "hidden-name") || strings.Contains(text, "sesame") {
			t.Errorf("it tells secrets:\n%s", text)
		}
	}
	copies := newReceiver(t, ok)
	send("admin", "PUT", "/sites/copy", "{}").is(t, http.StatusCreated)
	send("admin", "POST", "/sites/copy/api/v1.0/webhooks", "{url: '"+copies.URL+"'}").is(t, http.StatusCreated)
	send("admin", "PUT", "/sites/copy/api/v1.0/buckets/b/documents?from=default@1", "").is(t, http.StatusOK)
	eventually(t, "a delivery about the copy", func() bool { return len(copies.got()) == 1 })
	if text := copies.got()[0].body; strings.Contains(text, "hidden-name") || strings.Contains(text, "sesame") || !strings.Contains(text, `"sources"`) {
		t.Errorf("of the copy it tells\n%s", text)
	}
	if added := r.got()[0].event(t).Data["added"]; added != 1. {
		t.Errorf("added %v, which counts the encrypted document", added)
	}
	secret, _ := made.mapping(t)["secret"].(string)
	if dump := fmt.Sprint(dump(t, s.database)); secret == "" || strings.Contains(dump, secret) || strings.Contains(dump, strings.TrimPrefix(secret, "whsec_")) {
		t.Error("the database has the secret of a webhook")
	}
}
