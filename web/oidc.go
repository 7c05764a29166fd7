package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

// OIDC configures signing in by an OpenID Connect issuer, with the authorization code flow and PKCE (RFC 7636). It
// needs a PublicURL: the issuer sends browsers back to PublicURL/ui/sign-in/oidc/back.
type OIDC struct {
	Issuer   string // URL
	ClientID string
	Secret   string       // "" for a public client
	Scopes   []string     // beside openid
	Client   *http.Client // for asking the issuer
}

// issuer is the OpenID Connect issuer that signs users in.
type issuer struct {
	OIDC

	provider  atomic.Pointer[oidc.Provider] // nil until the issuer has answered
	discovery singleflight.Group
	asking    *semaphore.Weighted
}

// issuerPatience bounds the time of a request to the issuer, and maxAsking the number of users it is asked about
// concurrently.
const issuerPatience, maxAsking = 10 * time.Second, 16

const (
	statePurpose = "purser-sign-in" // and the name of the cookie
	maxSignIn    = 10 * time.Minute // how long a user may take at the issuer
)

// attempt is the content of the cookie while the user is at the issuer.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Next     string    `json:"next"`
	Until    time.Time `json:"until"`
}

// discovered returns the issuer's endpoints. It requests them until the issuer has answered once; concurrent callers
// wait for the same answer, for at most issuerPatience.
func (i *issuer) discovered(ctx context.Context) (*oidc.Provider, error) {
	if provider := i.provider.Load(); provider != nil {
		return provider, nil
	}
	answer := i.discovery.DoChan("", func() (any, error) {
		// Not the context of a user: others wait for the answer too. The provider keeps only its client.
		ctx, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), i.Client), issuerPatience)
		defer cancel()
		provider, err := oidc.NewProvider(ctx, i.Issuer)
		if err == nil {
			i.provider.Store(provider)
		}
		return provider, err //nolint:wrapcheck // it is below
	})
	select {
	case got := <-answer:
		if got.Err != nil {
			return nil, fmt.Errorf("discover the issuer: %w", got.Err)
		}
		return i.provider.Load(), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("discover the issuer: %w", ctx.Err())
	}
}

// flow returns the configuration for requesting and exchanging codes.
func (s *server) flow(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.issuer.ClientID, ClientSecret: s.issuer.Secret, Endpoint: provider.Endpoint(),
		RedirectURL: s.PublicURL + "/ui/sign-in/oidc/back", Scopes: append([]string{oidc.ScopeOpenID}, s.issuer.Scopes...),
	}
}

// toIssuer sends the browser to the issuer.
func (s *server) toIssuer(w http.ResponseWriter, r *http.Request) {
	v := &visit{server: s, Request: r, paper: newPaper(), w: w}
	provider, err := s.issuer.discovered(r.Context())
	if err != nil {
		s.complain(r, err)
		v.fail(errIssuer)
		return
	}
	begun := attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: s.next(v.param("next")),
		Until: s.Now().Add(maxSignIn),
	}
	sealed, err := s.seal.seal(statePurpose, begun)
	if err != nil || len(sealed) > maxCookie {
		begun.Next = s.base
		if sealed, err = s.seal.seal(statePurpose, begun); err != nil {
			v.fail(err)
			return
		}
	}
	// Lax: the issuer's redirect comes from another site.
	http.SetCookie(w, s.cookie(r, statePurpose, sealed, begun.Until, http.SameSiteLaxMode))
	at := s.flow(provider).AuthCodeURL(begun.State, oidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier))
	http.Redirect(w, r, at, http.StatusSeeOther)
}

var (
	errIssuer = &refusal{
		status: http.StatusServiceUnavailable, message: "The issuer that signs users in does not answer. Try again later.",
	}
	errAttempt = &refusal{
		status:  http.StatusBadRequest,
		message: "This sign-in was not begun in this browser, or took too long. Sign in again.",
	}
)

// fromIssuer begins a session when the issuer sends the browser back with a code.
func (s *server) fromIssuer(w http.ResponseWriter, r *http.Request) {
	v := &visit{server: s, Request: r, paper: newPaper(), w: w}
	begun, ok := s.attemptOf(r)
	http.SetCookie(w, s.cookie(r, statePurpose, "", time.Time{}, http.SameSiteLaxMode)) // it is valid only once
	query := r.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(begun.State), []byte(query.Get("state"))) != 1 {
		v.fail(errAttempt)
		return
	}
	if refused := query.Get("error"); refused != "" {
		v.fail(&refusal{status: http.StatusForbidden, message: "The issuer did not sign you in: " + refused + " " +
			query.Get("error_description")})
		return
	}
	tokens, err := s.exchange(r.Context(), begun, query.Get("code"))
	if err != nil {
		s.complain(r, err)
		v.fail(errIssuer)
		return
	}
	for _, token := range tokens { // the API decides which it accepts
		if err = s.enter(w, r, token); err == nil || !refusedWith(err, http.StatusUnauthorized) {
			break
		}
	}
	switch {
	case refusedWith(err, http.StatusUnauthorized):
		v.fail(&refusal{
			status: http.StatusForbidden, message: "The issuer signed you in, but its token is not for this server.",
		})
	case err != nil:
		v.fail(err)
	default: // by a page: the cookie of the session does not come with a redirect from another site
		v.show(view{template: "bounce", title: "Signed in", data: bounce{Next: begun.Next, Refresh: "0; url=" + begun.Next}})
	}
}

func (s *server) attemptOf(r *http.Request) (begun attempt, ok bool) {
	cookie, err := r.Cookie(statePurpose)
	if err != nil || s.seal.open(statePurpose, cookie.Value, &begun) != nil || !s.Now().Before(begun.Until) {
		return attempt{}, false
	}
	return begun, true
}

// exchange returns the tokens that the issuer returns for a code: the verified ID token and the access token.
func (s *server) exchange(ctx context.Context, begun attempt, code string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, issuerPatience)
	defer cancel()
	if err := s.issuer.asking.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for other users: %w", err)
	}
	defer s.issuer.asking.Release(1)
	provider, err := s.issuer.discovered(ctx)
	if err != nil {
		return nil, err
	}
	given, err := s.flow(provider).Exchange(oidc.ClientContext(ctx, s.issuer.Client), code,
		oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		return nil, errors.New("exchange the code: " + redacted(err))
	}
	raw, _ := given.Extra("id_token").(string)
	rules := &oidc.Config{ClientID: s.issuer.ClientID, Now: s.Now}
	verified, err := provider.Verifier(rules).Verify(ctx, raw)
	if err != nil {
		return nil, errors.New("the issuer's ID token does not hold")
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(begun.Nonce)) != 1 {
		return nil, errors.New("the issuer's ID token is for another sign-in")
	}
	return []string{raw, given.AccessToken}, nil
}

// redacted returns the text of an exchange error without the issuer's answer, which may contain tokens.
func redacted(err error) string {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return answer.Response.Status + " " + url.QueryEscape(answer.ErrorCode)
	}
	return "the issuer does not answer"
}
