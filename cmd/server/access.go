package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/wire"
)

// authFlags configure authentication and authorization.
type authFlags struct {
	Auth           string `help:"How clients authenticate: none (everybody is an admin), tokens (in a file), oidc, keystone." enum:"none,tokens,oidc,keystone" default:"none"` //nolint:lll // a tag
	InsecureNoAuth bool   `help:"Allow --auth=none on an address that other machines can reach."`
	PolicyFile     string `help:"File of access rules, which say what each role may do, in the format of OpenStack's policy files; reloaded when it changes. Rules that it does not name have their defaults: admins may do everything and, with --auth=tokens, the roles reader, writer and validator what their names say." type:"path"` //nolint:lll // a tag

	TokensFile string `help:"With --auth=tokens: the accepted tokens, made with 'purser-server token new'; reloaded when it changes." type:"path"` //nolint:lll // a tag

	oidcFlags     `embed:"" prefix:"oidc-"`
	keystoneFlags `embed:"" prefix:"keystone-"`
}

type oidcFlags struct {
	Issuer       string `help:"With --auth=oidc: the OpenID Connect issuer, as named in tokens." placeholder:"URL"`
	Audience     string `help:"Audience that tokens must have."`
	UserClaim    string `help:"Claim that names the user."                                                  default:"sub"`
	RolesClaim   string `help:"Claim with the user's roles; realm_access.roles selects a nested claim." default:"roles"`
	ProjectClaim string `help:"Claim that names the user's project."`

	DeviceClient string   `help:"With --auth=oidc: the id of a public client with which 'purser login' signs in at the issuer, by the device flow." placeholder:"ID"`                        //nolint:lll // a tag
	DeviceScopes []string `help:"Scopes that 'purser login' requests besides openid; offline_access is for issuers that renew no login without it." default:"profile" placeholder:"profile"` //nolint:lll // a tag
}

type keystoneFlags struct {
	URL                   string `help:"With --auth=keystone: URL of a Keystone v3."    placeholder:"URL"`
	User                  string `help:"User who may validate tokens."`
	UserDomain            string `help:"Name of that user's domain."                        default:"Default"`
	Project               string `help:"Project of that user."`
	ProjectDomain         string `help:"Name of that project's domain."                     default:"Default"`
	ApplicationCredential string `help:"Id of an application credential, instead of a user."`
	PasswordFile          string `help:"File with the password or the credential's secret." type:"path"`
}

// validate refuses --auth=tokens without a tokens file, and the flags of another method than the one in use.
func (f *authFlags) validate() error {
	if f.Auth == "tokens" && f.TokensFile == "" {
		return errors.New("--auth=tokens needs a --tokens-file; 'purser-server token new' makes one")
	}
	switch {
	case f.Auth == "oidc" && (f.Issuer == "" || f.Audience == ""):
		return errors.New("--auth=oidc needs an --oidc-issuer and an --oidc-audience")
	case f.Auth == "keystone" && f.URL == "":
		return errors.New("--auth=keystone needs a --keystone-url")
	case f.Auth == "keystone" && f.PasswordFile == "":
		return errors.New("--auth=keystone needs a --keystone-password-file, with the password of --keystone-user or the " +
			"secret of --keystone-application-credential")
	case f.Auth == "keystone" && (f.User == "") == (f.ApplicationCredential == ""):
		return errors.New("--auth=keystone needs either a --keystone-user or a --keystone-application-credential")
	}
	for _, given := range []struct{ flag, value, auth string }{
		{"--tokens-file", f.TokensFile, "tokens"},
		{"--oidc-issuer", f.Issuer, "oidc"},
		{"--oidc-device-client", f.DeviceClient, "oidc"},
		{"--keystone-url", f.URL, "keystone"},
	} {
		if given.value != "" && given.auth != f.Auth {
			return fmt.Errorf("%s has no effect with --auth=%s: set --auth=%s, or leave it out", given.flag, f.Auth, given.auth)
		}
	}
	return nil
}

var errOpenToAll = errors.New("other machines can reach this address, and --auth=none makes everybody an admin: use " +
	"--auth=tokens, oidc or keystone, listen on 127.0.0.1, or allow it with --insecure-no-auth")

// checkListener refuses an address that other machines can reach if there is no authentication. flag is the value of
// --listen, for the message.
func (f *authFlags) checkListener(flag string, address net.Addr) error {
	if f.Auth != "none" || f.InsecureNoAuth {
		return nil
	}
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listen on %s: %w", flag, errOpenToAll)
}

// issuer is an authenticator that needs another server. Check sends it the first request, so that the log has a problem
// before a user has a token to check.
type issuer interface {
	Check(ctx context.Context)
	Problem() error
}

// issuerOf returns the functions of an authenticator that is an issuer. For others, problem is nil, and check does
// nothing.
func issuerOf(authenticator authn.Authenticator) (problem func() error, check func(context.Context)) {
	if asked, ok := authenticator.(issuer); ok {
		return asked.Problem, asked.Check
	}
	return nil, func(context.Context) {}
}

// defaultRules returns the rules that a policy file does not name. The built-in roles count if the server issues its
// tokens itself. Keystone and other issuers give roles with these names for other purposes: by default, each member of
// any project of an OpenStack cloud is a reader. Deckhand knows none of them.
func (f *authFlags) defaultRules(compat bool) authz.Defaults {
	if f.Auth == "tokens" && !compat {
		return authz.WithRoles
	}
	return authz.AdminsOnly
}

// openAccess opens the policy and the authenticator. It does not contact an issuer.
func (f *authFlags) openAccess(compat bool, log *slog.Logger, outgoing http.RoundTripper) (api.Access, error) {
	rules, err := authz.Open(f.PolicyFile, f.defaultRules(compat), log, time.Now)
	if err != nil {
		return api.Access{}, fmt.Errorf("--policy-file: %w", err)
	}
	authenticator, err := f.authenticator(log, &http.Client{Transport: outgoing})
	if err != nil {
		return api.Access{}, fmt.Errorf("--auth=%s: %w", f.Auth, err)
	}
	return api.Access{
		Authenticator: authenticator, Anonymous: f.Auth == "none", Rules: rules, Resource: f.resource(),
	}, nil
}

// resource returns what clients need to get a token from the issuer of OpenID Connect; nothing with another method.
func (f *authFlags) resource() (r wire.Resource) {
	if f.Auth != "oidc" {
		return r
	}
	r.Issuers = []string{f.Issuer}
	if r.ClientID = f.DeviceClient; r.ClientID != "" {
		r.Scopes = append([]string{"openid"}, f.DeviceScopes...)
	}
	return r
}

func (f *authFlags) authenticator(log *slog.Logger, client *http.Client) (authn.Authenticator, error) {
	switch f.Auth {
	case "tokens":
		tokens, err := authn.OpenTokens(f.TokensFile, time.Now, log)
		if err != nil {
			return nil, fmt.Errorf("--tokens-file: %w", err)
		}
		return tokens, nil
	case "oidc":
		return authn.NewOIDC(authn.OIDCConfig{
			Issuer: f.Issuer, Audience: f.Audience, UserClaim: f.UserClaim, RolesClaim: f.RolesClaim,
			ProjectClaim: f.ProjectClaim, Client: client, Now: time.Now, Log: log,
		})
	case "keystone":
		credential := authn.KeystoneCredential{
			ApplicationCredential: f.ApplicationCredential, User: f.User, UserDomain: f.UserDomain, Project: f.Project,
			ProjectDomain: f.ProjectDomain, SecretFile: f.PasswordFile,
		}
		return authn.NewKeystone(authn.KeystoneConfig{
			URL: f.URL, Credential: credential, Client: client, Now: time.Now, Log: log,
		})
	}
	return authn.NoAuth{}, nil
}
