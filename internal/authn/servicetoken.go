package authn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"purser/internal/files"
)

const (
	renewBefore   = 10 * time.Second // how long before its expiry a service token is replaced
	maxSecretFile = 64 << 10         // bytes
)

// serviceToken signs in to Keystone for Purser and keeps the token.
type serviceToken struct {
	fetched[signedIn]

	address    string
	client     *http.Client
	credential KeystoneCredential
	log        *slog.Logger
}

// signedIn is the result of a sign-in.
type signedIn struct {
	token string // empty if it failed
	ends  time.Time
}

// current returns a service token other than refused. It signs in if it has none.
func (s *serviceToken) current(ctx context.Context, refused string) (string, error) {
	if known := s.last().value; s.isUsable(known, refused) {
		return known.token, nil
	}
	select {
	case <-s.fetchOnce(ctx, s.renew):
	case <-ctx.Done():
		return "", fmt.Errorf("wait for a service token: %w", ctx.Err())
	}
	known := s.last()
	switch {
	case s.isUsable(known.value, refused):
		return known.value.token, nil
	case known.err != nil:
		return "", known.err
	}
	return "", errServiceToken
}

func (s *serviceToken) isUsable(known signedIn, refused string) bool {
	return known.token != "" && known.token != refused && s.now().Add(renewBefore).Before(known.ends)
}

// renew signs in, and logs changes of the outcome.
func (s *serviceToken) renew(ctx context.Context, before attempt[signedIn]) (signedIn, error) {
	token, ends, err := s.signIn(ctx)
	switch {
	case err != nil && (before.err == nil || before.err.Error() != err.Error()):
		s.log.ErrorContext(ctx, "cannot sign in to Keystone; only tokens checked a moment ago are accepted",
			"url", s.address, "error", err.Error())
	case err == nil && (before.err != nil || before.tried.IsZero()):
		s.log.InfoContext(ctx, "signed in to Keystone", "url", s.address)
	}
	return signedIn{token, ends}, err
}

// signIn sends POST /v3/auth/tokens of Keystone's identity API.
func (s *serviceToken) signIn(ctx context.Context) (token string, ends time.Time, err error) {
	body, err := s.credential.request()
	if err != nil {
		return "", time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"?nocatalog", bytes.NewReader(body))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign in: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign in: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	token = response.Header.Get("X-Subject-Token")
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		return "", time.Time{}, fmt.Errorf("sign in: status 401: %w: check %s", errCredentials, s.credential.flags())
	case response.StatusCode == http.StatusNotFound:
		return "", time.Time{}, fmt.Errorf("sign in: status 404: %w: check --keystone-url", errAnswer)
	case response.StatusCode != http.StatusCreated || token == "":
		return "", time.Time{}, fmt.Errorf("sign in: status %d: %w", response.StatusCode, errAnswer)
	}
	var answer keystoneAnswer
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", time.Time{}, fmt.Errorf("sign in: %w: it is not JSON", errAnswer)
	}
	if ends, err = time.Parse(time.RFC3339, answer.Token.Expires); err != nil {
		return "", time.Time{}, fmt.Errorf("sign in: %w: expires_at is not a time", errAnswer)
	}
	if !s.now().Add(renewBefore).Before(ends) {
		return "", time.Time{}, errors.New("sign in: the token expires at once; are the clocks synchronized?")
	}
	return token, ends, nil
}

// flags returns the flags that name the credential.
func (c *KeystoneCredential) flags() string {
	if c.ApplicationCredential != "" {
		return "--keystone-application-credential and --keystone-password-file"
	}
	return "--keystone-user, --keystone-user-domain, --keystone-project, --keystone-project-domain and " +
		"--keystone-password-file"
}

// request returns the body of the sign-in request.
func (c *KeystoneCredential) request() ([]byte, error) {
	if (c.User == "") == (c.ApplicationCredential == "") {
		return nil, errors.New("either a user or an application credential is needed")
	}
	text, err := files.ReadPrivate(c.SecretFile, maxSecretFile)
	if err != nil {
		return nil, fmt.Errorf("--keystone-password-file: %w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return nil, fmt.Errorf("--keystone-password-file: %s is empty", c.SecretFile)
	}
	auth := c.byPassword(secret)
	if c.ApplicationCredential != "" {
		auth = object{"identity": object{
			"methods":                []string{"application_credential"},
			"application_credential": object{"id": c.ApplicationCredential, "secret": secret},
		}}
	}
	body, err := json.Marshal(object{"auth": auth})
	if err != nil {
		return nil, fmt.Errorf("write the credential: %w", err)
	}
	return body, nil
}

type object map[string]any

func (c *KeystoneCredential) byPassword(password string) object {
	auth := object{"identity": object{
		"methods": []string{"password"},
		"password": object{"user": object{
			"name": c.User, "domain": domain(c.UserDomain), "password": password,
		}},
	}}
	if c.Project != "" {
		auth["scope"] = object{"project": object{"name": c.Project, "domain": domain(c.ProjectDomain)}}
	}
	return auth
}

func domain(name string) object {
	if name == "" {
		name = "Default"
	}
	return object{"name": name}
}
