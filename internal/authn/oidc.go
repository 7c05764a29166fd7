package authn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// OIDCConfig configures the issuer whose tokens are accepted, and the claims that describe a caller. A claim is named
// by its path, with dots between the parts: realm_access.roles. The parts may contain dots themselves.
type OIDCConfig struct {
	Issuer       string // URL, exactly as in tokens
	Audience     string // the client id; must be among the audiences of a token
	UserClaim    string // claim with a string; default sub
	NameClaim    string // claim with a string, optional in a token; default preferred_username
	RolesClaim   string // claim with a string or a list of strings, optional in a token; default roles
	ProjectClaim string // claim with a string, optional in a token; not used if empty

	Client *http.Client // for requests to the issuer; the timeout is at most 10 seconds
	Now    func() time.Time
	Log    *slog.Logger
}

// OIDC authenticates JSON Web Tokens, both ID tokens and access tokens, that an OpenID Connect issuer has signed for an
// audience. It contacts the issuer for Check or the first token, so Purser can start without it. The result is cached:
// for a minute if the token is accepted, for five seconds if it is rejected.
type OIDC struct {
	claims OIDCConfig
	keys   *issuerKeys
	cache  *tokenCache // checking a signature takes a hundred times as long as a lookup
	rules  *oidc.Config
}

var _ Authenticator = (*OIDC)(nil)

// skew is the allowed difference between the clocks of an issuer and of Purser.
const skew = 30 * time.Second

// NewOIDC returns an authenticator, or an error if the configuration is invalid.
func NewOIDC(config OIDCConfig) (*OIDC, error) {
	if err := checkURL(config.Issuer); err != nil {
		return nil, fmt.Errorf("OpenID Connect issuer: %w", err)
	}
	if config.Audience == "" {
		return nil, errors.New("OpenID Connect audience: without one, tokens for other services would be accepted")
	}
	for claim, usual := range map[*string]string{
		&config.UserClaim: "sub", &config.NameClaim: "preferred_username", &config.RolesClaim: "roles",
	} {
		if *claim == "" {
			*claim = usual
		}
	}
	return &OIDC{
		claims: config,
		keys: &issuerKeys{
			fetched: fetched[keySet]{now: config.Now}, issuer: config.Issuer, client: Bounded(config.Client), log: config.Log,
		},
		cache: newTokenCache(config.Now),
		rules: &oidc.Config{
			ClientID:             config.Audience,
			SupportedSigningAlgs: algorithms(),
			Now:                  func() time.Time { return config.Now().Add(-skew) },
		},
	}, nil
}

// Check fetches the issuer's keys for the first time, so that the log says at once if that fails.
func (o *OIDC) Check(ctx context.Context) {
	select {
	case <-o.keys.fetchOnce(ctx, o.keys.renew):
	case <-ctx.Done():
	}
}

// Problem returns why the issuer's keys could not be fetched the last time, nil if they could.
func (o *OIDC) Problem() error { return o.keys.problem() }

// algorithms returns the asymmetric algorithms. With a symmetric one, the issuer's public key would be the secret.
func algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512,
		oidc.EdDSA,
	}
}

// Authenticate implements Authenticator.
func (o *OIDC) Authenticate(ctx context.Context, token string) (Caller, error) {
	if err := checkToken(token); err != nil {
		return Caller{}, err
	}
	header, err := parseHeader(token)
	if err != nil {
		return Caller{}, err
	}
	hash := hashOfToken(token)
	if caller, known, err := o.cache.lookup(hash); known {
		return caller, err
	}
	caller, expires, err := o.verify(ctx, token, header)
	o.cache.store(hash, caller, expires, err)
	return caller, err
}

// verify returns the caller and the expiry time of a token.
func (o *OIDC) verify(ctx context.Context, token string, header header) (Caller, time.Time, error) {
	keys, err := o.keys.candidates(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return Caller{}, time.Time{}, err
	}
	verifier := oidc.NewVerifier(o.claims.Issuer, &oidc.StaticKeySet{PublicKeys: keys}, o.rules)
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return Caller{}, time.Time{}, rejected(reasonOf(err))
	}
	var payload claims
	if err := verified.Claims(&payload); err != nil {
		return Caller{}, time.Time{}, rejected("its claims cannot be read")
	}
	if err := payload.checkTime(o.claims.Now()); err != nil {
		return Caller{}, time.Time{}, err
	}
	caller, err := payload.caller(&o.claims)
	return caller, verified.Expiry.Add(skew), err
}

// header is the header of a token that has not been verified yet.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

// parseHeader rejects tokens of the wrong form, algorithm or purpose at the cost of decoding a few bytes.
func parseHeader(token string) (h header, err error) {
	first, rest, _ := strings.Cut(token, ".")
	if strings.Count(rest, ".") != 1 {
		return header{}, rejected("it is not a JSON Web Token")
	}
	text, err := base64.RawURLEncoding.DecodeString(first)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	switch {
	case err != nil:
		return header{}, rejected("it is not a JSON Web Token")
	case !slices.Contains(algorithms(), h.Algorithm):
		return header{}, rejected("it is not signed with a private key")
	case !slices.Contains([]string{"", "jwt", "at+jwt", "application/at+jwt"}, strings.ToLower(h.Type)):
		return header{}, rejected("it is a token for another purpose")
	}
	return h, nil
}

// reasonOf describes a verification error. It does not use the error's text, which contains parts of the token.
func reasonOf(err error) string {
	if _, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return "it has expired"
	}
	for beginning, reason := range map[string]string{
		"oidc: malformed jwt":                           "it is malformed",
		"failed to verify signature":                    "its signature is wrong",
		"oidc: id token issued by a different provider": "it is from another issuer",
		"oidc: expected audience":                       "it is for another audience",
		"oidc: current time":                            "it is not yet valid",
		"oidc: failed to unmarshal claims":              "its claims cannot be read",
	} {
		if strings.HasPrefix(err.Error(), beginning) {
			return reason
		}
	}
	return "it is not valid"
}
