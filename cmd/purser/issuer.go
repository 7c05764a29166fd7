package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"purser/internal/authn"
	"purser/internal/client"
	"purser/internal/words"
)

// issuer is an OpenID Connect issuer, for one of its clients. Its endpoints are those that it names itself, with TLS or
// on this machine.
type issuer struct {
	oauth2.Config

	name string
	http *http.Client
}

// issuerNamed asks an issuer for its endpoints. Besides the system's certificate authorities it trusts those in a file,
// unless that is "": they are trusted for the server, which has named the issuer.
func issuerNamed(ctx context.Context, name, clientID, authorities string) (*issuer, error) {
	if err := checkSafe(name); err != nil {
		return nil, err
	}
	transport, err := client.TLS{CA: authorities}.BesideSystem()
	if err != nil {
		return nil, err
	}
	i := &issuer{name: name, http: authn.Bounded(&http.Client{Transport: available{transport}})}
	return i, i.discover(ctx, clientID)
}

// available is a transport of which a GET fails if the issuer is unavailable: go-oidc's errors lack the status.
type available struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a available) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.RoundTripper.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || answer.StatusCode < http.StatusInternalServerError {
		return answer, err
	}
	return nil, errors.Join(errors.New(answer.Status), answer.Body.Close())
}

// discover asks the issuer for its endpoints.
func (i *issuer) discover(ctx context.Context, clientID string) error {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.http), i.name)
	if err != nil {
		return i.failed("ask for its endpoints", err)
	}
	i.ClientID, i.Endpoint = clientID, provider.Endpoint()
	i.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client has no secret
	for _, at := range []string{i.Endpoint.TokenURL, i.Endpoint.DeviceAuthURL} {
		if err := i.check(at); at != "" && err != nil {
			return i.failed("ask for its endpoints", err)
		}
	}
	return nil
}

// check refuses a URL that is less safe than that of the issuer.
func (i *issuer) check(at string) error {
	if strings.HasPrefix(i.name, "https:") && !strings.HasPrefix(at, "https:") {
		return fmt.Errorf("%q is no https URL", words.Excerpt(at))
	}
	return checkSafe(at)
}

// checkSafe refuses a URL where others could read or forge what is sent.
func checkSafe(text string) error {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || !client.IsSafe(at) {
		return fmt.Errorf("%q is no https URL", words.Excerpt(text))
	}
	return nil
}

// failed returns the error of a request to the issuer, with at most a line of the answer.
func (i *issuer) failed(doing string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	said := err.Error()
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		said = cmp.Or(answer.ErrorDescription, answer.ErrorCode, answer.Response.Status)
	}
	const most = 300
	failed := fmt.Errorf("the issuer %s: %s: %s", words.Line(i.name), doing, words.FirstBytes(words.Line(said), most))
	if isPassing(err) {
		return passing{failed}
	}
	return failed
}

// signIn lets the user sign in with a browser, by the device flow (RFC 8628). It shows the page and the code.
func (i *issuer) signIn(ctx context.Context, scopes []string, show func(page, code string, wait time.Duration)) (
	*oauth2.Token, error,
) {
	const doing = "sign in"
	i.Scopes = scopes
	ctx = oidc.ClientContext(ctx, i.http)
	device, err := i.DeviceAuth(ctx)
	if err != nil {
		return nil, i.failed(doing, err)
	}
	page := cmp.Or(device.VerificationURIComplete, device.VerificationURI)
	if err := i.check(page); err != nil || device.UserCode == "" || device.DeviceCode == "" {
		return nil, i.failed(doing, errors.New("it names no page and code"))
	}
	const slowest, longest = 60, 30 * time.Minute
	device.Interval = min(max(device.Interval, 0), slowest)
	if last := time.Now().Add(longest); device.Expiry.IsZero() || device.Expiry.After(last) {
		device.Expiry = last
	}
	show(page, device.UserCode, time.Until(device.Expiry))
	given, err := i.DeviceAccessToken(ctx, device)
	for isPassing(err) && ctx.Err() == nil && time.Now().Before(device.Expiry) {
		given, err = i.DeviceAccessToken(ctx, device)
	}
	switch {
	case err == nil:
		return given, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, no("nobody has signed in: the code has expired")
	}
	return nil, i.failed(doing, err)
}

// passing is the error of a request to an issuer that may succeed later.
type passing struct{ error }

// isPassing reports whether a request that failed may succeed later.
func isPassing(err error) bool {
	answer, answered := errors.AsType[*oauth2.RetrieveError](err)
	_, broken := errors.AsType[*url.Error](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return broken && !untrusted || answered && answer.Response.StatusCode >= http.StatusInternalServerError
}

// The kinds of tokens of an issuer that a server may accept.
const idToken, accessToken = "id_token", "access_token"

// credentials returns the tokens that an issuer has given, in the order in which a server should be asked about them.
func (i *issuer) credentials(given *oauth2.Token) (found []credential) {
	id, _ := given.Extra(idToken).(string)
	for _, of := range []credential{{Kind: idToken, Token: id}, {Kind: accessToken, Token: given.AccessToken}} {
		if of.Token == "" {
			continue
		}
		of.Issuer, of.ClientID, of.Refresh = i.name, i.ClientID, given.RefreshToken
		if of.Expires = expiryOf(of.Token); of.Expires.IsZero() { // it cannot be known when to renew it
			of.Refresh = ""
		}
		found = append(found, of)
	}
	return found
}

// expiryOf returns when a JSON Web Token expires, the zero time if that is not known. Whether the token is valid is the
// server's decision.
func expiryOf(token string) time.Time {
	const last = 1 << 37 // seconds; the year has four digits
	var expiry float64
	if json.Unmarshal(claimsOf(token)["exp"], &expiry) != nil || expiry <= 0 || expiry > last {
		return time.Time{}
	}
	return time.Unix(int64(expiry), 0).UTC()
}

// isFor reports whether an access token may be sent to a server: it is no JSON Web Token, has no audience, or has that
// of the client or the server. A server could otherwise get tokens for others by the scopes that it names.
func isFor(token, clientID, server string) bool {
	text, ok := claimsOf(token)["aud"]
	if !ok {
		return true
	}
	var audiences []string
	if json.Unmarshal(text, &audiences) != nil {
		audiences = make([]string, 1)
		_ = json.Unmarshal(text, &audiences[0]) // "" is not for the server
	}
	return slices.ContainsFunc(audiences, func(audience string) bool {
		return audience == clientID || slices.Contains(
			[]string{strings.TrimSuffix(server, "/"), client.Root(server)}, strings.TrimSuffix(audience, "/"))
	})
}

// claimsOf returns the claims of a JSON Web Token, nil if it is none.
func claimsOf(token string) (claims map[string]json.RawMessage) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return nil
	}
	return claims
}

// renewedByIssuer returns a credential with a new token of the same kind.
func renewedByIssuer(ctx context.Context, old credential, authorities string) (credential, error) {
	const doing, again = "renew the token", "%w\nLog in again: purser login"
	i, err := issuerNamed(ctx, old.Issuer, old.ClientID, authorities)
	if err != nil {
		return old, err
	}
	ctx = oidc.ClientContext(ctx, i.http)
	given, err := i.TokenSource(ctx, &oauth2.Token{RefreshToken: old.Refresh}).Token()
	switch {
	case isPassing(err):
		return old, i.failed(doing, err)
	case err != nil:
		return old, fmt.Errorf(again, i.failed(doing, err))
	}
	for _, renewed := range i.credentials(given) {
		if renewed.Kind == old.Kind {
			renewed.file = old.file
			return renewed, nil
		}
	}
	return old, fmt.Errorf(again, i.failed(doing, errors.New("it gives no "+old.Kind)))
}
