package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"purser/internal/document"
)

// KeystoneConfig configures the validation of tokens by Keystone.
type KeystoneConfig struct {
	URL        string // with or without a trailing /v3
	Credential KeystoneCredential

	Client *http.Client // for requests to Keystone; the timeout is at most 10 seconds
	Now    func() time.Time
	Log    *slog.Logger
}

// KeystoneCredential is a user who may validate tokens, or an application credential of such a user.
type KeystoneCredential struct {
	ApplicationCredential string // its id; all other fields but SecretFile are then empty

	User, UserDomain       string // names; the domain is Default if empty
	Project, ProjectDomain string // names, as above

	SecretFile string // path of the file with the password or secret, private to its owner; read on each use
}

// Keystone authenticates tokens of a Keystone v3. It validates a valid token at most once a minute and an invalid one
// at most once in five seconds.
type Keystone struct {
	address string // of the token resource
	client  *http.Client
	cache   *tokenCache
	service *serviceToken
	asking  singleflight.Group

	// Separate limits, so that a flood of unknown tokens does not delay those that were accepted earlier.
	unknownTokens, knownTokens *limiter
}

var _ Authenticator = (*Keystone)(nil)

// NewKeystone returns an authenticator that contacts Keystone for Check or the first token. It returns an error if the
// configuration is invalid or the secret's file cannot be used.
func NewKeystone(config KeystoneConfig) (*Keystone, error) {
	if err := checkURL(config.URL); err != nil {
		return nil, fmt.Errorf("address of Keystone: %w", err)
	}
	address := strings.TrimSuffix(strings.TrimRight(config.URL, "/"), "/v3") + "/v3/auth/tokens"
	client := Bounded(config.Client)
	service := &serviceToken{
		fetched: fetched[signedIn]{now: config.Now}, address: address, client: client, credential: config.Credential,
		log: config.Log,
	}
	if _, err := config.Credential.request(); err != nil {
		return nil, fmt.Errorf("service credential for Keystone: %w", err)
	}
	return &Keystone{
		address: address, client: client, cache: newTokenCache(config.Now), service: service,
		unknownTokens: newLimiter(config.Now), knownTokens: newLimiter(config.Now),
	}, nil
}

// Authenticate implements Authenticator. While Keystone does not respond, its answers of the last minute are used.
func (k *Keystone) Authenticate(ctx context.Context, token string) (Caller, error) {
	if err := checkToken(token); err != nil {
		return Caller{}, err
	}
	hash := hashOfToken(token)
	if caller, known, err := k.cache.lookup(hash); known {
		return caller, err
	}
	answer := k.asking.DoChan(string(hash[:]), func() (any, error) {
		// Other requests may wait for the same answer, so the lookup does not end with the request that started it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		return k.ask(ctx, token, hash)
	})
	select {
	case result := <-answer:
		caller, _ := result.Val.(Caller)
		caller.Roles = slices.Clone(caller.Roles) // other requests share the answer
		return caller, result.Err
	case <-ctx.Done():
		return Caller{}, noAnswer(ctx.Err())
	}
}

// Answers of Keystone that an operator of Purser has to act on. Callers are shown them; the log has the status too.
var (
	errServiceToken = errors.New("Keystone rejects Purser's own token")
	errCredentials  = errors.New("Keystone refuses Purser's own credentials; the operator of this server has to correct " +
		"them")
	errNoRight = errors.New("Keystone does not let Purser's own user check tokens; the operator of this server has to " +
		"give it a role that may")
	errAnswer = errors.New("Keystone answers with an error")
)

// noAnswer returns the fault for a token that Keystone did not check.
func noAnswer(cause error) error {
	for _, known := range []error{errServiceToken, errCredentials, errNoRight, errAnswer} {
		if errors.Is(cause, known) {
			return unavailable(cause, known.Error())
		}
	}
	return unavailable(cause, "Keystone does not respond")
}

// Check signs in for the first time, so that the log says at once if that fails.
func (k *Keystone) Check(ctx context.Context) { _, _ = k.service.current(ctx, "") }

// Problem returns why Purser's last sign-in failed, nil if it did not.
func (k *Keystone) Problem() error {
	if err := k.service.last().err; err != nil {
		return noAnswer(err)
	}
	return nil
}

// ask validates a token within the rate limits and caches the result.
func (k *Keystone) ask(ctx context.Context, token string, hash document.Digest) (Caller, error) {
	if caller, known, err := k.cache.lookup(hash); known {
		return caller, err
	}
	limits := k.unknownTokens
	if k.cache.wasAccepted(hash) {
		limits = k.knownTokens
	}
	release, err := limits.acquire(ctx)
	if err != nil {
		return Caller{}, unavailable(err, "Too many tokens are being checked")
	}
	defer release()
	caller, ends, err := k.validate(ctx, token)
	k.cache.store(hash, caller, ends, err)
	return caller, err
}

// validate looks up a token, and retries with a new service token if Keystone refuses the current one.
func (k *Keystone) validate(ctx context.Context, token string) (Caller, time.Time, error) {
	service, err := k.service.current(ctx, "")
	if err != nil {
		return Caller{}, time.Time{}, noAnswer(err)
	}
	caller, ends, err := k.lookUp(ctx, service, token)
	if !errors.Is(err, errServiceToken) {
		return caller, ends, err
	}
	if service, err = k.service.current(ctx, service); err != nil {
		return Caller{}, time.Time{}, noAnswer(err)
	}
	return k.lookUp(ctx, service, token)
}

// lookUp sends GET /v3/auth/tokens of Keystone's identity API. It does not read the bodies of errors, which contain the
// token.
func (k *Keystone) lookUp(ctx context.Context, service, token string) (Caller, time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.address+"?nocatalog", http.NoBody)
	if err != nil {
		return Caller{}, time.Time{}, noAnswer(err)
	}
	request.Header.Set("X-Auth-Token", service)
	request.Header.Set("X-Subject-Token", token)
	response, err := k.client.Do(request)
	if err != nil {
		return Caller{}, time.Time{}, noAnswer(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
		var answer keystoneAnswer
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			return Caller{}, time.Time{}, noAnswer(fmt.Errorf("%w: it is not JSON", errAnswer))
		}
		return answer.caller(k.cache.now())
	case http.StatusNotFound:
		return Caller{}, time.Time{}, rejected("it is unknown to Keystone")
	case http.StatusUnauthorized:
		return Caller{}, time.Time{}, noAnswer(errServiceToken)
	case http.StatusForbidden:
		return Caller{}, time.Time{}, noAnswer(fmt.Errorf("validate a token: status 403: %w: service on the project "+
			"service, or admin (identity:validate_token)", errNoRight))
	}
	return Caller{}, time.Time{}, noAnswer(fmt.Errorf("validate a token: status %d: %w", response.StatusCode, errAnswer))
}

// keystoneAnswer is the part of Keystone's answer about a token that Purser uses.
type keystoneAnswer struct {
	Token struct {
		User struct {
			ID     string         `json:"id"`
			Name   string         `json:"name"`
			Domain keystoneDomain `json:"domain"`
		} `json:"user"`
		Project struct {
			ID     string         `json:"id"`
			Domain keystoneDomain `json:"domain"`
		} `json:"project"`
		Domain keystoneDomain `json:"domain"`
		System struct {
			All bool `json:"all"`
		} `json:"system"`
		IsAdminProject *bool `json:"is_admin_project"` // nil, and so true, if Keystone has no admin project
		Roles          []struct {
			Name string `json:"name"`
		} `json:"roles"`
		Expires string `json:"expires_at"`
	} `json:"token"`
}

type keystoneDomain struct {
	ID string `json:"id"`
}

func (a *keystoneAnswer) caller(now time.Time) (Caller, time.Time, error) {
	ends, err := time.Parse(time.RFC3339, a.Token.Expires)
	if err != nil {
		return Caller{}, time.Time{}, noAnswer(fmt.Errorf("%w: expires_at is not a time", errAnswer))
	}
	if !now.Before(ends) {
		return Caller{}, time.Time{}, rejected("it has expired by Purser's clock")
	}
	token := a.Token
	caller := Caller{
		UserID: token.User.ID, UserName: token.User.Name, UserDomainID: token.User.Domain.ID,
		ProjectID: token.Project.ID, ProjectDomainID: token.Project.Domain.ID, DomainID: token.Domain.ID,
		NoAdminProject: token.IsAdminProject != nil && !*token.IsAdminProject,
	}
	if token.System.All {
		caller.SystemScope = "all"
	}
	for _, role := range token.Roles {
		caller.Roles = append(caller.Roles, role.Name)
	}
	caller, err = checkCaller(caller)
	return caller, ends, err
}

const (
	ratePerSecond = 100
	maxBurst      = 200 // after a quiet time
	maxConcurrent = 16
)

// limiter bounds the rate and the concurrency of requests to an issuer.
type limiter struct {
	now   func() time.Time
	rate  *rate.Limiter
	slots *semaphore.Weighted
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, rate: rate.NewLimiter(ratePerSecond, maxBurst), slots: semaphore.NewWeighted(maxConcurrent)}
}

// acquire waits for a slot until ctx ends. If the rate is exceeded, it fails immediately: a queue would only grow.
func (l *limiter) acquire(ctx context.Context) (release func(), err error) {
	if !l.rate.AllowN(l.now(), 1) {
		return nil, errors.New("the rate limit for checking tokens is exceeded")
	}
	if err := l.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait to check a token: %w", err)
	}
	return func() { l.slots.Release(1) }, nil
}
