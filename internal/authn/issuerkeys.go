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
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	keyLifetime = 10 * time.Minute // how long withdrawn keys are accepted while the issuer answers
	maxKeyTries = 8                // the most keys that one signature is checked against
)

// issuerKeys holds the public keys of an issuer, fetched on demand. The key sets of libraries do not fit: go-oidc's
// asks the issuer about every signature that it cannot verify, and never forgets a withdrawn key; jwkset's makes every
// request with an unknown key wait for its rate limit and then fetch, and needs a goroutine to forget withdrawn keys.
type issuerKeys struct {
	fetched[keySet]

	issuer string
	client *http.Client
	log    *slog.Logger
}

// keySet is the keys that an issuer has published last.
type keySet struct {
	keys []jose.JSONWebKey
	at   time.Time // zero: never
}

// candidates returns the keys that a token may be signed with. An empty id matches every key. While the issuer does not
// answer, its old keys remain valid.
func (k *issuerKeys) candidates(ctx context.Context, id, algorithm string) ([]crypto.PublicKey, error) {
	known := k.last()
	if keys := known.value.matching(id, algorithm); len(keys) > 0 {
		if k.now().Sub(known.value.at) >= keyLifetime && k.mayFetch() {
			k.fetchOnce(ctx, k.renew)
		}
		return keys, nil
	}
	if k.mayFetch() {
		select {
		case <-k.fetchOnce(ctx, k.renew):
		case <-ctx.Done():
			return nil, unavailable(ctx.Err(), "The issuer of the token does not respond")
		}
	}
	if keys := k.last().value.matching(id, algorithm); len(keys) > 0 {
		return keys, nil
	}
	if err := k.problem(); err != nil {
		return nil, err
	}
	return nil, rejected("it is signed with a key that the issuer does not publish")
}

// problem returns why the last fetch failed, nil if it did not.
func (k *issuerKeys) problem() error {
	err := k.last().err
	if err == nil {
		return nil
	}
	return unavailable(err, "The keys of the issuer that signs tokens cannot be fetched")
}

// renew fetches the keys and logs changes of the outcome. If the issuer does not answer, it returns the old keys.
func (k *issuerKeys) renew(ctx context.Context, before attempt[keySet]) (keySet, error) {
	keys, err := k.fetch(ctx)
	switch {
	case err != nil && (before.err == nil || brief(before.err) != brief(err)):
		k.log.ErrorContext(ctx, "cannot fetch the issuer's keys; only tokens signed with a known key are accepted: check "+
			"--oidc-issuer, which must be exactly the name that the issuer gives itself",
			"issuer", k.issuer, "error", brief(err))
	case err == nil && (before.err != nil || before.tried.IsZero()):
		k.log.InfoContext(ctx, "the issuer answers", "issuer", k.issuer, "keys", len(keys))
	}
	if err != nil {
		return before.value, err
	}
	return keySet{keys, k.now()}, nil
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
func (s keySet) matching(id, algorithm string) (keys []crypto.PublicKey) {
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
