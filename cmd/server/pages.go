package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/files"
	"purser/web"
	"purser/web/signin"
)

// pagesFlags configure the pages at /ui/.
type pagesFlags struct {
	UI               bool     `name:"ui" help:"Serve web pages at /ui/." default:"true" negatable:""`
	UIOIDCClient     string   `name:"ui-oidc-client" help:"With --auth=oidc: the client id with which users of /ui/ sign in at the issuer; its redirect URI is --public-url and /ui/sign-in/oidc/back." placeholder:"ID"`                                                                                                                              //nolint:lll // a tag
	UIOIDCSecretFile string   `name:"ui-oidc-secret-file" help:"File with that client's secret; without it, the client is public." type:"path" placeholder:"FILE"`                                                                                                                                                                                     //nolint:lll // a tag
	UIOIDCScopes     []string `name:"ui-oidc-scopes" help:"Scopes to request besides openid." default:"profile" placeholder:"profile"`                                                                                                                                                                                                                 //nolint:lll // a tag
	UIKeyFile        string   `name:"ui-key-file" help:"File with at least 32 random bytes, the encryption key for sessions of /ui/; readable by its owner only. Servers behind one address need the same key. With a private Postgres it is created in the state directory; otherwise sessions end with the process." type:"path" placeholder:"FILE"` //nolint:lll // a tag
}

// validatePages checks the flags of the pages.
func (c *serveCommand) validatePages() error {
	switch {
	case c.UIOIDCClient != "" && (c.Auth != "oidc" || c.PublicURL == "" || !c.UI):
		return errors.New("--ui-oidc-client requires --auth=oidc, --public-url and --ui")
	case c.UIOIDCSecretFile != "" && c.UIOIDCClient == "":
		return errors.New("--ui-oidc-secret-file requires --ui-oidc-client")
	}
	return nil
}

// minKey is the minimum length of a session key, and maxPrivate the maximum size of the pages' files, in bytes.
const minKey, maxPrivate = 32, 4096

// openPages reads the files that the flags name. It returns the pages' configuration, without the API; the key is nil
// if no flag names one.
func (c *serveCommand) openPages(log *slog.Logger, outgoing http.RoundTripper) (config web.Config, err error) {
	config = web.Config{
		PublicURL: strings.TrimRight(c.PublicURL, "/"), Now: time.Now, Log: log,
		Compat: c.Compat == "deckhand", Certificates: c.TLSClientCA != "" && c.Auth != "none",
	}
	if !c.UI {
		return config, nil
	}
	if config.Key, err = c.pagesKey(); err != nil {
		return config, err
	}
	config.OIDC, err = c.oidc(outgoing)
	return config, err
}

// oidc returns how users of the pages sign in at the issuer; nil if they do not.
func (c *serveCommand) oidc(outgoing http.RoundTripper) (*signin.OIDC, error) {
	if c.UIOIDCClient == "" {
		return nil, nil
	}
	of := &signin.OIDC{
		Issuer: c.Issuer, ClientID: c.UIOIDCClient, Scopes: c.UIOIDCScopes,
		Client: authn.Bounded(&http.Client{Transport: outgoing}),
	}
	if c.UIOIDCSecretFile != "" {
		secret, err := files.ReadPrivate(c.UIOIDCSecretFile, maxPrivate)
		if err != nil {
			return nil, fmt.Errorf("--ui-oidc-secret-file: %w", err)
		}
		if of.Secret = strings.TrimSpace(string(secret)); of.Secret == "" {
			return nil, fmt.Errorf("--ui-oidc-secret-file: %s is empty: write the client's secret into it, or leave the "+
				"flag out if the client is a public one", c.UIOIDCSecretFile)
		}
	}
	return of, nil
}

// withPages returns a handler that serves the pages in addition to the API.
func (c *serveCommand) withPages(answers http.Handler, config web.Config) (http.Handler, error) {
	if !c.UI {
		return answers, nil
	}
	if config.Key == nil {
		key, err := c.makeKey()
		if err != nil {
			return nil, err
		}
		config.Key = key
	}
	config.API = api.PartOf(answers)
	pages, err := web.New(config)
	if err != nil {
		return nil, fmt.Errorf("serve pages: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if config.Has(r.URL) {
			pages.ServeHTTP(w, r)
			return
		}
		answers.ServeHTTP(w, r)
	}), nil
}

// pagesKey returns the session key from the file that the flag names or, with a private Postgres, from the state
// directory. It returns nil if there is none.
func (c *serveCommand) pagesKey() ([]byte, error) {
	path := c.UIKeyFile
	if path == "" && c.DatabaseURL == "" {
		if _, err := os.Lstat(c.pagesKeyPath()); !errors.Is(err, fs.ErrNotExist) {
			path = c.pagesKeyPath()
		}
	}
	if path == "" {
		return nil, nil
	}
	key, err := files.ReadPrivate(path, maxPrivate)
	if err == nil && len(key) < minKey {
		err = fmt.Errorf("%s has %d bytes and needs %d", path, len(key), minKey)
	}
	if err != nil {
		return nil, fmt.Errorf("--ui-key-file: %w; (umask 077; head -c %d /dev/urandom >%s) creates a new one; users "+
			"then have to sign in again", err, minKey, path)
	}
	return key, nil
}

// pagesKeyPath returns the path of the session key for a private Postgres.
func (c *serveCommand) pagesKeyPath() string { return filepath.Join(c.StateDir, "ui.key") }

// makeKey creates a session key. With a private Postgres, it stores the key in the state directory; otherwise the key
// is lost when the process ends.
func (c *serveCommand) makeKey() ([]byte, error) {
	key := []byte(rand.Text() + rand.Text())
	if c.DatabaseURL != "" {
		return key, nil
	}
	if err := files.Create(c.pagesKeyPath(), key); err != nil {
		return nil, fmt.Errorf("key of sessions: %w", err)
	}
	return key, nil
}
