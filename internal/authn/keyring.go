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
	fetchEvery = 5 * time.Second  // at most, however many tokens name a key that is not known
	keysFor    = 10 * time.Minute // after which withdrawn keys no longer count, if the issuer answers
	mostTries  = 8                // keys that a signature is checked with
)

// keyring has the public keys of an issuer. The library's own key set asks the issuer anew for every signature that it
// cannot verify, and never forgets a key that the issuer has withdrawn.
type keyring struct {
	issuer string
	client *http.Client
	now    func() time.Time
	log    *slog.Logger

	state    atomic.Pointer[keyState] // replaced only by the one who fetches
	fetching singleflight.Group
}

// keyState is what is known of an issuer at one time; it does not change.
type keyState struct {
	keys    []jose.JSONWebKey
	fetched time.Time // zero: never
	tried   time.Time // zero: never
	err     error     // of the last try
}

func newKeyring(issuer string, client *http.Client, now func() time.Time, log *slog.Logger) *keyring {
	k := &keyring{issuer: issuer, client: client, now: now, log: log}
	k.state.Store(&keyState{})
	return k
}

// candidates returns the keys that a token may be signed with. An empty id fits every key. Keys that are not fresh go
// on to count until the issuer answers: while it does not, it makes no new tokens either.
func (k *keyring) candidates(ctx context.Context, id, algorithm string) ([]crypto.PublicKey, error) {
	known := k.state.Load()
	if fit := known.fitting(id, algorithm); len(fit) > 0 {
		if k.since(known.fetched) >= keysFor && k.mayFetch(known) {
			k.fetchOnce(ctx)
		}
		return fit, nil
	}
	if k.mayFetch(known) {
		select {
		case <-k.fetchOnce(ctx):
		case <-ctx.Done():
			return nil, unavailable(ctx.Err(), "The issuer of the token does not answer")
		}
		known = k.state.Load()
	}
	if fit := known.fitting(id, algorithm); len(fit) > 0 {
		return fit, nil
	}
	if known.err != nil {
		return nil, unavailable(known.err, "The issuer of the token does not answer")
	}
	return nil, rejected("it is signed with a key that the issuer does not have")
}

func (k *keyring) since(t time.Time) time.Duration { return k.now().Sub(t) }

func (k *keyring) mayFetch(known *keyState) bool {
	return known.tried.IsZero() || k.since(known.tried) >= fetchEvery
}

// fetchOnce fetches the keys if nobody else is about it or has just done so; the channel tells when that is done. What
// others wait for does not end with the request that began it.
func (k *keyring) fetchOnce(ctx context.Context) <-chan singleflight.Result {
	return k.fetching.DoChan("", func() (any, error) {
		known := k.state.Load()
		if !k.mayFetch(known) {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		keys, err := k.fetch(ctx)
		k.store(ctx, known, keys, err)
		return nil, nil
	})
}

func (k *keyring) store(ctx context.Context, known *keyState, keys []jose.JSONWebKey, err error) {
	next := &keyState{keys: keys, fetched: k.now(), tried: k.now(), err: err}
	if err != nil {
		next.keys, next.fetched = known.keys, known.fetched
	}
	k.state.Store(next)
	switch {
	case err != nil && (known.err == nil || brief(known.err) != brief(err)):
		k.log.ErrorContext(ctx, "the keys of the issuer cannot be fetched; its tokens count only if their key is known",
			"issuer", k.issuer, "error", brief(err))
	case err == nil && (known.err != nil || known.tried.IsZero()):
		k.log.InfoContext(ctx, "the issuer answers", "issuer", k.issuer, "keys", len(keys))
	}
}

// fetch asks the issuer where its keys are, and for them.
func (k *keyring) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, k.client), k.issuer)
	if err != nil {
		return nil, fmt.Errorf("discover the issuer: %w", err)
	}
	var said struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&said); err != nil {
		return nil, fmt.Errorf("discover the issuer: %w", err)
	}
	if strings.HasPrefix(k.issuer, "https:") && !strings.HasPrefix(said.Keys, "https:") {
		return nil, errors.New("the issuer's jwks_uri is not https, as the issuer is")
	}
	return k.fetchKeys(ctx, said.Keys)
}

func (k *keyring) fetchKeys(ctx context.Context, address string) ([]jose.JSONWebKey, error) {
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

// parseKeys reads a JSON Web Key Set. Keys of a kind that is not known, or that are none for signatures, are left out
// (RFC 7517 §5).
func parseKeys(text []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("the issuer's keys are no JSON Web Key Set")
	}
	for _, item := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(item, &key) == nil && (key.Use == "" || key.Use == "sig") && len(families(key.Key)) > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the issuer has no key that can be used here")
	}
	return keys, nil
}

// fitting returns the keys with an id that an algorithm can use.
func (s *keyState) fitting(id, algorithm string) (fit []crypto.PublicKey) {
	for _, key := range s.keys {
		if id != "" && key.KeyID != id || key.Algorithm != "" && key.Algorithm != algorithm {
			continue
		}
		if slices.Contains(families(key.Key), algorithm[:2]) && len(fit) < mostTries {
			fit = append(fit, key.Key)
		}
	}
	return fit
}

// families are the beginnings of the algorithms that a public key serves; none for a key of another kind.
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
