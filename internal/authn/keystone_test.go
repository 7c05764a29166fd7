package authn

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/fault"
)

// keystone is a stand-in for Keystone's identity API v3 that behaves like Keystone: tokens are issued and validated at
// /v3/auth/tokens, errors are JSON and contain the token.
type keystone struct {
	clock   *clock
	url     string
	client  *http.Client
	answer  atomic.Pointer[http.HandlerFunc] // replaces the usual answer, if set
	signIns atomic.Int32
	asked   atomic.Int32 // number of validations
	busy    atomic.Int32
	busiest atomic.Int32

	mu       sync.Mutex
	password string
	tokens   map[string]string // answers by token, for tokens of users
	services map[string]bool   // tokens issued to Purser
	lifetime time.Duration     // of services
}

func newKeystone(t testing.TB) *keystone {
	t.Helper()
	k := &keystone{
		clock: newClock(), password: "s3cret", tokens: map[string]string{}, services: map[string]bool{}, lifetime: time.Hour,
	}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	k.url, k.client = server.URL, server.Client()
	return k
}

func (k *keystone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		k.signIns.Add(1)
	} else {
		k.asked.Add(1)
	}
	now := k.busy.Add(1)
	defer k.busy.Add(-1)
	k.mu.Lock()
	k.busiest.Store(max(k.busiest.Load(), now))
	k.mu.Unlock()
	if answer := k.answer.Load(); answer != nil {
		(*answer)(w, r)
		return
	}
	switch {
	case r.URL.Path != "/v3/auth/tokens":
		keystoneError(w, http.StatusNotFound, "The resource could not be found.")
	case r.Method == http.MethodPost:
		k.signIn(w, r)
	case r.Method == http.MethodGet:
		k.validate(w, r)
	default:
		keystoneError(w, http.StatusMethodNotAllowed, "The method is not allowed for the requested URL.")
	}
}

// hang answers when the client has disconnected, which a server notices only after it has read the request.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// impatient times requests out while hang is set; otherwise requests have no timeout, however slow the machine is.
type impatient struct {
	http.RoundTripper

	hang  atomic.Bool
	asked atomic.Int32 // requests, also those that were given up before they arrived
}

func (i *impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	i.asked.Add(1)
	if i.hang.Load() {
		ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond)
		defer cancel()
		r = r.WithContext(ctx)
	}
	return i.RoundTripper.RoundTrip(r)
}

func keystoneError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"code": %d, "message": %q, "title": %q}}`, status, message, http.StatusText(status))
}

func (k *keystone) signIn(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var body any
	_ = json.NewDecoder(r.Body).Decode(&body)
	passwordAuth := map[string]any{"auth": map[string]any{
		"identity": map[string]any{"methods": []any{"password"}, "password": map[string]any{"user": map[string]any{
			"name": "purser", "domain": map[string]any{"name": "Default"}, "password": k.password,
		}}},
		"scope": map[string]any{"project": map[string]any{"name": "service", "domain": map[string]any{"name": "Default"}}},
	}}
	applicationAuth := map[string]any{"auth": map[string]any{"identity": map[string]any{
		"methods":                []any{"application_credential"},
		"application_credential": map[string]any{"id": "ac-1", "secret": k.password},
	}}}
	if r.Header.Get("Content-Type") != "application/json" || !cmp.Equal(body, any(passwordAuth)) && !cmp.Equal(body, any(applicationAuth)) {
		keystoneError(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	token := "gAAAAA-service-" + rand.Text()
	k.services[token] = true
	w.Header().Set("X-Subject-Token", token)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, said("purser-id", "purser", "service-project", k.clock.now().Add(k.lifetime)))
}

func (k *keystone) validate(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.services[r.Header.Get("X-Auth-Token")] {
		keystoneError(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	token := r.Header.Get("X-Subject-Token")
	answer, ok := k.tokens[token]
	if !ok {
		keystoneError(w, http.StatusNotFound, "Could not find token: "+token+".")
		return
	}
	w.Header().Set("X-Subject-Token", token)
	w.Header().Set("Vary", "X-Auth-Token")
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// said returns the body of Keystone's answer about a token.
func said(id, name, project string, expires time.Time) string {
	return fmt.Sprintf(`{"token": {"methods": ["password"], "user": {"domain": {"id": "default", "name": "Default"},
		"id": %q, "name": %q, "password_expires_at": null}, "audit_ids": ["3T2dc1CGQxyJsHdDu1xkcw"],
		"expires_at": %q, "issued_at": "2026-01-31T11:00:00.000000Z", "project": {"domain": {"id": "default",
		"name": "Default"}, "id": %q, "name": "site"}, "is_domain": false, "roles": [{"id": "9fe2", "name": "admin"},
		{"id": "51cc", "name": "reader"}]}}`, id, name, expires.Format("2006-01-02T15:04:05.000000Z"), project)
}

func (k *keystone) answers(answer http.HandlerFunc) {
	if answer == nil {
		k.answer.Store(nil)
		return
	}
	k.answer.Store(&answer)
}

// issue issues a token with a lifetime.
func (k *keystone) issue(lifetime time.Duration) string {
	token := "gAAAAA-" + rand.Text()
	k.set(token, said("u-1", "alice", "p-1", k.clock.now().Add(lifetime)))
	return token
}

func (k *keystone) set(token, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tokens[token] = answer
}

func (k *keystone) revoke(token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.tokens, token)
	delete(k.services, token)
}

// endServices makes Keystone forget the tokens that it issued to Purser.
func (k *keystone) endServices() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.services)
}

func secretFile(t testing.TB, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (k *keystone) config(t testing.TB, j *journal) KeystoneConfig {
	t.Helper()
	return KeystoneConfig{
		URL:        k.url,
		Credential: KeystoneCredential{User: "purser", Project: "service", SecretFile: secretFile(t, "s3cret\n")},
		Client:     k.client, Now: k.clock.now, Log: j.log(),
	}
}

func newTestKeystone(t testing.TB, config KeystoneConfig) *Keystone {
	t.Helper()
	k, err := NewKeystone(config)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var alice = Caller{UserID: "u-1", UserName: "alice", UserDomainID: "default", ProjectID: "p-1", ProjectDomainID: "default", Roles: []string{"admin", "reader"}}

func TestKeystone_Authenticate(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *KeystoneConfig){
		"password":          func(*KeystoneConfig) {},
		"named domains":     func(c *KeystoneConfig) { c.Credential.UserDomain, c.Credential.ProjectDomain = "Default", "Default" },
		"versioned address": func(c *KeystoneConfig) { c.URL += "/v3/" },
		"application credential": func(c *KeystoneConfig) {
			c.Credential = KeystoneCredential{ApplicationCredential: "ac-1", SecretFile: c.Credential.SecretFile}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, j := newKeystone(t), new(journal)
			config := k.config(t, j)
			change(&config)
			authenticator := newTestKeystone(t, config)
			token := k.issue(time.Hour)
			for range 3 { // a caller may modify the roles it receives
				got, err := authenticator.Authenticate(t.Context(), token)
				if diff := cmp.Diff(alice, got); diff != "" || err != nil {
					t.Fatal(err, diff)
				}
				got.Roles[0] = "changed"
			}
			if k.signIns.Load() != 1 || k.asked.Load() != 1 {
				t.Errorf("%d sign-ins and %d questions, want one each", k.signIns.Load(), k.asked.Load())
			}
			wantNothingOf(t, token, j.String())
			wantNothingOf(t, "s3cret", j.String())
		})
	}
}

// The domain of a caller is the one that the token is scoped to, as for oslo.policy, and not that of the user.
func TestKeystone_Authenticate_scopes(t *testing.T) {
	t.Parallel()
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	for scope, want := range map[string]Caller{
		`"domain": {"id": "d-1"}`: {DomainID: "d-1"},
		`"system": {"all": true}`: {SystemScope: "all"},
		`"project": {"id": "p-1", "domain": {"id": "d-2"}}, "is_admin_project": false`: {
			ProjectID: "p-1", ProjectDomainID: "d-2", NoAdminProject: true,
		},
		`"project": {"id": "p-1", "domain": {"id": "d-2"}}, "is_admin_project": true`: {
			ProjectID: "p-1", ProjectDomainID: "d-2",
		},
		`"methods": ["password"]`: {}, // unscoped
	} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			token := k.issue(time.Hour)
			k.set(token, fmt.Sprintf(`{"token": {"user": {"id": "u-1", "name": "alice", "domain": {"id": "home"}}, %s,
				"expires_at": "2026-01-31T13:00:00Z"}}`, scope))
			want.UserID, want.UserName, want.UserDomainID = "u-1", "alice", "home"
			got, err := authenticator.Authenticate(t.Context(), token)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestKeystone_Authenticate_rejects(t *testing.T) {
	t.Parallel()
	k, j := newKeystone(t), new(journal)
	authenticator := newTestKeystone(t, k.config(t, j))
	old := k.issue(-time.Second)
	k.set("nobody-nobody", said("", "alice", "p-1", epoch.Add(time.Hour)))
	k.set("newline-newline", said("u\n", "alice", "p-1", epoch.Add(time.Hour)))
	for name, c := range map[string]struct{ token, reason string }{
		"unknown":  {"gAAAAA-unknown-unknown-unknown", "unknown to"},
		"expired":  {old, "expired"},
		"no user":  {"nobody-nobody", "not name a user"},
		"control":  {"newline-newline", "unprintable"},
		"empty":    {"", "no token"},
		"header":   {"gAAAAA-token\r\nX-Roles: admin", "characters"},
		"too long": {strings.Repeat("a", maxToken+1), "16 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := authenticator.Authenticate(t.Context(), c.token)
			wantRejected(t, err, c.reason, c.token)
			wantNothingOf(t, c.token, j.String())
		})
	}
}

func TestKeystone_Authenticate_remembers(t *testing.T) {
	t.Parallel()
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	ask := func(token string, questions int32) error {
		t.Helper()
		before := k.asked.Load()
		_, err := authenticator.Authenticate(t.Context(), token)
		if got := k.asked.Load() - before; got != questions {
			t.Errorf("Keystone was asked %d times, want %d", got, questions)
		}
		return err
	}
	long, short := k.issue(time.Hour), k.issue(10*time.Second)
	const late = "gAAAAA-not-yet-known"
	_ = ask(long, 1)
	_ = ask(short, 1)
	wantRejected(t, ask(late, 1), "unknown to", late)
	wantRejected(t, ask(late, 0), "unknown to", late)
	k.set(late, said("u-2", "late", "p-1", epoch.Add(time.Hour)))
	k.revoke(long)

	k.clock.advance(rejectedFor)
	if err := ask(late, 1); err != nil {
		t.Error("a token that Keystone did not know before:", err)
	}
	k.clock.advance(5 * time.Second)
	wantRejected(t, ask(short, 1), "expired", short)
	k.clock.advance(49 * time.Second)
	if err := ask(long, 0); err != nil {
		t.Error("a revoked token counts for less than a minute:", err)
	}
	k.clock.advance(time.Second)
	wantRejected(t, ask(long, 1), "unknown to", long)
}

func TestKeystone_Authenticate_isDown(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"forbidden": func(w http.ResponseWriter, _ *http.Request) {
			keystoneError(w, http.StatusForbidden, "You are not authorized")
		},
		"page":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"endless":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", maxAnswer+1)) },
		"no expiry": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"token":{"user":{"id":"u"}}}`) },
		"slow":      hang,
		"hangs up":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"refuses":   func(w http.ResponseWriter, _ *http.Request) { keystoneError(w, http.StatusUnauthorized, "no") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, j := newKeystone(t), new(journal)
			config := k.config(t, j)
			transport := &impatient{RoundTripper: k.client.Transport}
			config.Client = &http.Client{Transport: transport}
			authenticator := newTestKeystone(t, config)
			known, unknown := k.issue(time.Hour), k.issue(time.Hour)
			if _, err := authenticator.Authenticate(t.Context(), known); err != nil {
				t.Fatal(err)
			}
			k.answers(answer)
			transport.hang.Store(name == "slow")
			_, err := authenticator.Authenticate(t.Context(), unknown)
			wantUnavailable(t, err)
			if _, err := authenticator.Authenticate(t.Context(), known); err != nil {
				t.Error("what Keystone said a moment ago does not count:", err)
			}
			k.clock.advance(acceptedFor)
			_, err = authenticator.Authenticate(t.Context(), known)
			wantUnavailable(t, err)
			wantNothingOf(t, unknown, err.Error()+j.String())

			k.answers(nil)
			transport.hang.Store(false)
			k.clock.advance(minFetchInterval)
			for _, token := range []string{known, unknown} {
				if _, err := authenticator.Authenticate(t.Context(), token); err != nil {
					t.Error("it answers again:", err)
				}
			}
		})
	}
}

// A caller is told what Keystone objects to, without details, and when to try again; the log has what to do.
func TestKeystone_Authenticate_ownCredentials(t *testing.T) {
	t.Parallel()
	status := func(signIn, validate int) func(k *keystone, w http.ResponseWriter, r *http.Request) {
		return func(k *keystone, w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost && signIn != 0:
				keystoneError(w, signIn, "no")
			case r.Method == http.MethodPost:
				k.signIn(w, r)
			default:
				keystoneError(w, validate, "no")
			}
		}
	}
	for name, c := range map[string]struct {
		answer      func(k *keystone, w http.ResponseWriter, r *http.Request)
		said, cause string
		isProblem   bool // known after the sign-in at start
	}{
		"a wrong password": {status(http.StatusUnauthorized, 0), "Keystone refuses Purser's own credentials", "check --keystone-user", true},
		"no right":         {status(0, http.StatusForbidden), "Keystone does not let Purser's own user check tokens", "identity:validate_token", false},
		"a wrong address":  {status(http.StatusNotFound, 0), "Keystone answers with an error", "check --keystone-url", true},
		"a broken one":     {status(0, http.StatusInternalServerError), "Keystone answers with an error", "status 500", false},
		"its token refused": {
			status(0, http.StatusUnauthorized), "Keystone rejects Purser's own token", "rejects", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, j := newKeystone(t), new(journal)
			k.answers(func(w http.ResponseWriter, r *http.Request) { c.answer(k, w, r) })
			authenticator := newTestKeystone(t, k.config(t, j))
			authenticator.Check(t.Context())
			problem := authenticator.Problem()
			if c.isProblem != (problem != nil) || c.isProblem && (j.complaints() != 1 || !strings.Contains(j.String(), c.cause)) {
				t.Errorf("problem %v, log %s", problem, j)
			}
			_, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour))
			wantUnavailable(t, err)
			f, _ := errors.AsType[*fault.Fault](err)
			if !strings.HasPrefix(f.Message, c.said) || !strings.Contains(f.Unwrap().Error(), c.cause) || f.RetryAfter != 5*time.Second {
				t.Errorf("said %q because of %v, Retry-After %v", f.Message, f.Unwrap(), f.RetryAfter)
			}
			if c.isProblem && problem.Error() != f.Message {
				t.Errorf("the problem is %v", problem)
			}
		})
	}
}

// misspell makes the password that a configuration names a wrong one.
func misspell(t *testing.T, config KeystoneConfig) {
	t.Helper()
	if err := os.WriteFile(config.Credential.SecretFile, []byte("wrong-password"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The first sign-in is tried at start. A problem ends with the next sign-in that succeeds.
func TestKeystone_Check(t *testing.T) {
	t.Parallel()
	k, j := newKeystone(t), new(journal)
	config := k.config(t, j)
	misspell(t, config)
	authenticator := newTestKeystone(t, config)
	if authenticator.Check(t.Context()); k.signIns.Load() != 1 || authenticator.Problem() == nil {
		t.Errorf("%d sign-ins, problem %v", k.signIns.Load(), authenticator.Problem())
	}
	if err := os.WriteFile(config.Credential.SecretFile, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(minFetchInterval)
	if _, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour)); err != nil || authenticator.Problem() != nil {
		t.Errorf("%v, problem %v", err, authenticator.Problem())
	}
}

// Keystone cannot redirect Purser so that it sends its own token and the caller's to another server.
func TestKeystone_Authenticate_followsNobody(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another server was asked")
	}))
	t.Cleanup(other.Close)
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	k.answers(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		k.signIn(w, r)
	})
	_, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour))
	wantUnavailable(t, err)
}

func TestKeystone_Authenticate_serviceToken(t *testing.T) {
	t.Parallel()
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	check := func(signIns int32) {
		t.Helper()
		if _, err := authenticator.Authenticate(t.Context(), k.issue(24*time.Hour)); err != nil {
			t.Error(err)
		}
		if got := k.signIns.Load(); got != signIns {
			t.Errorf("%d sign-ins, want %d", got, signIns)
		}
	}
	check(1)
	k.clock.advance(time.Hour - renewBefore)
	check(2) // it is about to expire
	k.clock.advance(minFetchInterval)
	check(2)
	k.endServices()
	check(3) // it was revoked
}

func TestKeystone_Authenticate_cannotSignIn(t *testing.T) {
	t.Parallel()
	k, j := newKeystone(t), new(journal)
	config := k.config(t, j)
	misspell(t, config)
	authenticator := newTestKeystone(t, config)
	for range 20 {
		_, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour))
		wantUnavailable(t, err)
	}
	if k.signIns.Load() != 1 || j.complaints() != 1 {
		t.Errorf("%d sign-ins and %d complaints, want one each", k.signIns.Load(), j.complaints())
	}
	if strings.Contains(j.String(), "wrong-password") {
		t.Error("the password is logged:", j)
	}
	// A corrected file is used without a restart.
	if err := os.WriteFile(config.Credential.SecretFile, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(minFetchInterval)
	if _, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour)); err != nil {
		t.Error(err)
	}
}

func TestKeystone_Authenticate_onceForMany(t *testing.T) {
	t.Parallel()
	const callers = 50
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	token := k.issue(time.Hour)
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			got, err := authenticator.Authenticate(context.Background(), token)
			if diff := cmp.Diff(alice, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			got.Roles[0] = "changed"
		})
	}
	running.Wait()
	if k.signIns.Load() != 1 || k.asked.Load() != 1 {
		t.Errorf("%d sign-ins and %d questions for %d callers, want one each", k.signIns.Load(), k.asked.Load(), callers)
	}
}

// A flood of invalid tokens reaches Keystone at a bounded rate and concurrency and does not keep out known callers,
// even after their cached minute.
func TestKeystone_Authenticate_flood(t *testing.T) {
	t.Parallel()
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	good := k.issue(time.Hour)
	if _, err := authenticator.Authenticate(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(acceptedFor)
	var running sync.WaitGroup
	for worker := range 50 {
		running.Go(func() {
			for n := range 400 {
				if _, err := authenticator.Authenticate(context.Background(), fmt.Sprintf("wrong-%d-%d", worker, n)); err == nil {
					t.Error("a wrong token is accepted")
				}
			}
		})
	}
	running.Wait()
	if asked := k.asked.Load(); asked > maxBurst+1 {
		t.Errorf("Keystone was asked %d times in one moment, want at most %d", asked, maxBurst)
	}
	if busiest := k.busiest.Load(); busiest > maxConcurrent {
		t.Errorf("Keystone was asked %d times at once, want at most %d", busiest, maxConcurrent)
	}
	if _, err := authenticator.Authenticate(t.Context(), good); err != nil {
		t.Error("a token that was accepted before is held up:", err)
	}
	_, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour))
	wantUnavailable(t, err)
	k.clock.advance(time.Second)
	if _, err := authenticator.Authenticate(t.Context(), k.issue(time.Hour)); err != nil {
		t.Error("the flood is over:", err)
	}
}

func TestKeystone_Authenticate_clientGoesAway(t *testing.T) {
	t.Parallel()
	k := newKeystone(t)
	authenticator := newTestKeystone(t, k.config(t, new(journal)))
	ctx, goAway := context.WithCancel(t.Context())
	gone := make(chan struct{})
	k.answers(func(http.ResponseWriter, *http.Request) {
		goAway()
		<-gone
	})
	_, err := authenticator.Authenticate(ctx, k.issue(time.Hour))
	close(gone)
	wantUnavailable(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

func TestNewKeystone_refuses(t *testing.T) {
	t.Parallel()
	good := KeystoneConfig{URL: "https://keystone.example", Credential: KeystoneCredential{User: "u", SecretFile: secretFile(t, "s3cret")}}
	empty, readable := secretFile(t, "\n"), secretFile(t, "s3cret")
	if err := os.Chmod(readable, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(c *KeystoneConfig)
		want   string
	}{
		"nothing":         {func(*KeystoneConfig) {}, ""},
		"no address":      {func(c *KeystoneConfig) { c.URL = "" }, "address"},
		"no user":         {func(c *KeystoneConfig) { c.Credential.User = "" }, "either"},
		"both":            {func(c *KeystoneConfig) { c.Credential.ApplicationCredential = "a" }, "either"},
		"no secret":       {func(c *KeystoneConfig) { c.Credential.SecretFile = "/no/such" }, "--keystone-password-file: /no/such: no such file"},
		"empty secret":    {func(c *KeystoneConfig) { c.Credential.SecretFile = empty }, "--keystone-password-file: " + empty + " is empty"},
		"readable secret": {func(c *KeystoneConfig) { c.Credential.SecretFile = readable }, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := good
			config.Client, config.Now = http.DefaultClient, time.Now
			c.change(&config)
			_, err := NewKeystone(config)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func BenchmarkKeystone_Authenticate(b *testing.B) {
	k := newKeystone(b)
	authenticator := newTestKeystone(b, k.config(b, new(journal)))
	good := k.issue(time.Hour)
	for name, token := range map[string]func(int) string{
		"good":         func(int) string { return good },
		"wrong":        func(int) string { return "gAAAAA-wrong" },
		"always other": func(n int) string { return fmt.Sprint("gAAAAA-wrong-", n) },
	} {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				_, _ = authenticator.Authenticate(b.Context(), token(n))
			}
		})
	}
}
