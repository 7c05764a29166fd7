package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

// OIDC configures signing in by an OpenID Connect issuer, with the authorization code flow and PKCE (RFC 7636).
type OIDC struct {
	Issuer   string // URL
	ClientID string
	Secret   string       // "" for a public client
	Scopes   []string     // beside openid
	Client   *http.Client // for asking the issuer
}

// Issuer is the OpenID Connect issuer that signs users in.
type Issuer struct {
	OIDC

	back      string // the URL to which it sends browsers back
	now       func() time.Time
	provider  atomic.Pointer[oidc.Provider] // nil until the issuer has answered
	discovery singleflight.Group
	asking    *semaphore.Weighted
}

// issuerPatience bounds the time of a request to the issuer, and maxAsking the number of users it is asked about
// concurrently.
const issuerPatience, maxAsking = 10 * time.Second, 16

// NewIssuer returns an issuer that sends browsers back to the URL back.
func NewIssuer(config OIDC, back string, now func() time.Time) *Issuer {
	return &Issuer{OIDC: config, back: back, now: now, asking: semaphore.NewWeighted(maxAsking)}
}

// Attempt is what the server has to know when the issuer sends the user back.
type Attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Next     string    `json:"next"` // where to go then
	Until    time.Time `json:"until"`
}

// maxAttempt is how long a user may take at the issuer.
const maxAttempt = 10 * time.Minute

// Begin begins an attempt, which leads to the page next. It returns the URL of the issuer where the user signs in.
func (i *Issuer) Begin(ctx context.Context, next string) (begun Attempt, at string, err error) {
	provider, err := i.discovered(ctx)
	if err != nil {
		return Attempt{}, "", err
	}
	begun = Attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next,
		Until: i.now().Add(maxAttempt),
	}
	at = i.flow(provider).AuthCodeURL(begun.State, oidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier))
	return begun, at, nil
}

// discovered returns the issuer's endpoints. It requests them until the issuer has answered once; concurrent callers
// wait for the same answer, for at most issuerPatience.
func (i *Issuer) discovered(ctx context.Context) (*oidc.Provider, error) {
	if provider := i.provider.Load(); provider != nil {
		return provider, nil
	}
	answer := i.discovery.DoChan("", func() (any, error) {
		// Not the context of a user: others wait for the answer too. The provider keeps only its client.
		ctx, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), i.Client), issuerPatience)
		defer cancel()
		provider, err := oidc.NewProvider(ctx, i.Issuer)
		if err != nil {
			return nil, fmt.Errorf("discover the issuer: %w", err)
		}
		i.provider.Store(provider)
		return provider, nil
	})
	select {
	case got := <-answer:
		return i.provider.Load(), got.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("discover the issuer: %w", ctx.Err())
	}
}

// flow returns the configuration for requesting and exchanging codes.
func (i *Issuer) flow(provider *oidc.Provider) *oauth2.Config {
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = i.authStyle(provider)
	return &oauth2.Config{
		ClientID: i.ClientID, ClientSecret: i.Secret, Endpoint: endpoint,
		RedirectURL: i.back, Scopes: append([]string{oidc.ScopeOpenID}, i.Scopes...),
	}
}

// authStyle returns how the client authenticates when it exchanges a code: a public one only names itself, in the body,
// and one with a secret uses what the issuer supports. It is never tried out: an issuer may invalidate the code of a
// failed request.
func (i *Issuer) authStyle(provider *oidc.Provider) oauth2.AuthStyle {
	var supports struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"` // absent: client_secret_basic
	}
	err := provider.Claims(&supports)
	inHeader := err != nil || supports.Methods == nil || slices.Contains(supports.Methods, "client_secret_basic")
	if i.Secret != "" && inHeader {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// Refused is the error of a sign-in that the issuer did not complete, although it answered.
type Refused struct{ reason string }

func (r *Refused) Error() string { return r.reason }

// Tokens exchanges the code that the issuer returned for tokens: the verified ID token and the access token.
func (i *Issuer) Tokens(ctx context.Context, begun Attempt, code string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, issuerPatience)
	defer cancel()
	if err := i.asking.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for other users: %w", err)
	}
	defer i.asking.Release(1)
	provider, err := i.discovered(ctx)
	if err != nil {
		return nil, err
	}
	given, err := i.flow(provider).Exchange(oidc.ClientContext(ctx, i.Client), code,
		oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		return nil, withoutAnswer(err)
	}
	raw, _ := given.Extra("id_token").(string)
	rules := &oidc.Config{ClientID: i.ClientID, Now: i.now}
	verified, err := provider.Verifier(rules).Verify(ctx, raw)
	if err != nil {
		return nil, &Refused{"the issuer's ID token is not valid for this server"}
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(begun.Nonce)) != 1 {
		return nil, &Refused{"the issuer's ID token is for another sign-in"}
	}
	return []string{raw, given.AccessToken}, nil
}

// withoutAnswer returns the error of an exchange without the issuer's answer, which may contain tokens.
func withoutAnswer(err error) error {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status, code := answer.Response.Status, url.QueryEscape(answer.ErrorCode)
		return &Refused{"exchange the code: the issuer answers " + status + " " + code}
	}
	return errors.New("exchange the code: the issuer does not answer")
}
