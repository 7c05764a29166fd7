package authn

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
)

const (
	minFetchInterval = 5 * time.Second  // the shortest time between fetches, however many tokens name an unknown key
	keyLifetime      = 10 * time.Minute // how long withdrawn keys are accepted while the issuer answers
	maxKeyTries      = 8                // the most keys that one signature is checked against
)

// issuerKeys holds the public keys of an issuer, fetched on demand. The key sets of libraries do not fit: go-oidc's
// asks the issuer about every signature that it cannot verify, and never forgets a withdrawn key; jwkset's makes every
// request with an unknown key wait for its rate limit and then fetch, and needs a goroutine to forget withdrawn keys.
type issuerKeys struct {
	issuer string
	client *http.Client
	now    func() time.Time
	log    *slog.Logger

	state    atomic.Pointer[keyState] // replaced only while fetching
	fetching singleflight.Group
}

// keyState is the result of a fetch. It is immutable.
type keyState struct {
	keys    []jose.JSONWebKey
	fetched time.Time // zero: never
	tried   time.Time // zero: never
	err     error     // of the last attempt
}

func newIssuerKeys(issuer string, client *http.Client, now func() time.Time, log *slog.Logger) *issuerKeys {
	k := &issuerKeys{issuer: issuer, client: client, now: now, log: log}
	k.state.Store(&keyState{})
	return k
}

// candidates returns the keys that a token may be signed with. An empty id matches every key. While the issuer does not
// answer, its old keys remain valid.
func (k *issuerKeys) candidates(ctx context.Context, id, algorithm string) ([]crypto.PublicKey, error) {
	known := k.state.Load()
	if keys := known.matching(id, algorithm); len(keys) > 0 {
		if k.since(known.fetched) >= keyLifetime && k.mayFetch(known) {
			k.fetchOnce(ctx)
		}
		return keys, nil
	}
	if k.mayFetch(known) {
		select {
		case <-k.fetchOnce(ctx):
		case <-ctx.Done():
			return nil, unavailable(ctx.Err(), "The issuer of the token does not respond")
		}
		known = k.state.Load()
	}
	if keys := known.matching(id, algorithm); len(keys) > 0 {
		return keys, nil
	}
	if err := known.problem(); err != nil {
		return nil, err
	}
	return nil, rejected("it is signed with a key that the issuer does not publish")
}

// problem returns why the last fetch failed, nil if it did not.
func (s *keyState) problem() error {
	if s.err == nil {
		return nil
	}
	return unavailable(s.err, "The keys of the issuer that signs tokens cannot be fetched")
}

func (k *issuerKeys) since(t time.Time) time.Duration { return k.now().Sub(t) }

func (k *issuerKeys) mayFetch(known *keyState) bool {
	return known.tried.IsZero() || k.since(known.tried) >= minFetchInterval
}

// fetchOnce starts a fetch, unless one is under way or has just ended. The fetch does not end with the request that
// started it, because other requests may wait for it too.
func (k *issuerKeys) fetchOnce(ctx context.Context) <-chan singleflight.Result {
	return k.fetching.DoChan("", func() (any, error) {
		known := k.state.Load()
		if !k.mayFetch(known) {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		keys, err := k.fetch(ctx)
		k.store(ctx, known, keys, err)
		return nil, nil
	})
}

func (k *issuerKeys) store(ctx context.Context, known *keyState, keys []jose.JSONWebKey, err error) {
	next := &keyState{keys: keys, fetched: k.now(), tried: k.now(), err: err}
	if err != nil {
		next.keys, next.fetched = known.keys, known.fetched
	}
	k.state.Store(next)
	switch {
	case err != nil && (known.err == nil || brief(known.err) != brief(err)):
		k.log.ErrorContext(ctx, "cannot fetch the issuer's keys; only tokens signed with a known key are accepted: check "+
			"--oidc-issuer, which must be exactly the name that the issuer gives itself",
			"issuer", k.issuer, "error", brief(err))
	case err == nil && (known.err != nil || known.tried.IsZero()):
		k.log.InfoContext(ctx, "the issuer answers", "issuer", k.issuer, "keys", len(keys))
	}
}

// fetch discovers the address of the issuer's keys and fetches them.
func (k *issuerKeys) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, k.client), k.issuer)
	if err != nil {
		return nil, fmt.Errorf("discover the issuer: %w", err)
	}
	var metadata struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, fmt.Errorf("discover the issuer: %w", err)
	}
	if strings.HasPrefix(k.issuer, "https:") && !strings.HasPrefix(metadata.Keys, "https:") {
		return nil, errors.New("the issuer uses https, but its jwks_uri does not")
	}
	return k.fetchKeys(ctx, metadata.Keys)
}

func (k *issuerKeys) fetchKeys(ctx context.Context, address string) ([]jose.JSONWebKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the issuer's keys: status %d", response.StatusCode)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	return parseKeys(text)
}

// parseKeys parses a JSON Web Key Set. It ignores keys of unknown types and keys that are not for signatures (RFC 7517
// §5).
func parseKeys(text []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("the issuer's keys are not a JSON Web Key Set")
	}
	for _, item := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(item, &key) == nil && (key.Use == "" || key.Use == "sig") && len(families(key.Key)) > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the issuer has no usable key")
	}
	return keys, nil
}

// matching returns the keys with the given id, or any if it is empty, that can verify an algorithm.
func (s *keyState) matching(id, algorithm string) (keys []crypto.PublicKey) {
	for _, key := range s.keys {
		if id != "" && key.KeyID != id || key.Algorithm != "" && key.Algorithm != algorithm {
			continue
		}
		if slices.Contains(families(key.Key), algorithm[:2]) && len(keys) < maxKeyTries {
			keys = append(keys, key.Key)
		}
	}
	return keys
}

// families returns the prefixes of the algorithms that a public key can verify, nil for a key of an unknown type.
func families(key crypto.PublicKey) []string {
	switch key.(type) {
	case *rsa.PublicKey:
		return []string{"RS", "PS"}
	case *ecdsa.PublicKey:
		return []string{"ES"}
	case ed25519.PublicKey:
		return []string{"Ed"}
	}
	return nil
}
