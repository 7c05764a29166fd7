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

	"purser/internal/files"
	"purser/web"
)

// pagesFlags configure the pages at /ui/.
type pagesFlags struct {
	UI               bool     `name:"ui" help:"Serve pages for people at /ui/." default:"true" negatable:""`
	UIOIDCClient     string   `name:"ui-oidc-client" help:"With --auth=oidc: the client id by which users of /ui/ sign in at the issuer; its redirect URI is --public-url and /ui/sign-in/oidc/back." placeholder:"ID"`                                                                                                                                           //nolint:lll // a tag
	UIOIDCSecretFile string   `name:"ui-oidc-secret-file" help:"File with that client's secret; without it the client is a public one." type:"path" placeholder:"FILE"`                                                                                                                                                                                           //nolint:lll // a tag
	UIOIDCScopes     []string `name:"ui-oidc-scopes" help:"Scopes to ask for beside openid." default:"profile" placeholder:"SCOPE,…"`                                                                                                                                                                                                                             //nolint:lll // a tag
	UIKeyFile        string   `name:"ui-key-file" help:"File with at least 32 random bytes, by which the sessions of /ui/ are encrypted; only its owner may be able to read it. Servers behind one address need the same. With a private Postgres it is created in the state directory; otherwise sessions end with the process." type:"path" placeholder:"FILE"` //nolint:lll // a tag
}

// validatePages returns what is wrong with the flags.
func (c *serveCommand) validatePages() error {
	if c.UIOIDCClient != "" && (c.Auth != "oidc" || c.PublicURL == "" || !c.UI) {
		return errors.New("--ui-oidc-client needs --auth=oidc, --public-url and the pages")
	}
	return nil
}

// oidc returns how users of the pages sign in at the issuer; nil if they do not.
func (c *serveCommand) oidc() (*web.OIDC, error) {
	if c.UIOIDCClient == "" {
		return nil, nil //nolint:nilnil // they do not
	}
	const patience, maxSecret = 10 * time.Second, 4096
	of := &web.OIDC{
		Issuer: c.Issuer, ClientID: c.UIOIDCClient, Scopes: c.UIOIDCScopes, Client: &http.Client{Timeout: patience},
	}
	if c.UIOIDCSecretFile != "" {
		secret, err := files.ReadPrivate(c.UIOIDCSecretFile, maxSecret)
		if err != nil {
			return nil, fmt.Errorf("secret of the client: %w", err)
		}
		of.Secret = strings.TrimSpace(string(secret))
	}
	return of, nil
}

// withPages returns a handler that serves the pages beside the API.
func (c *serveCommand) withPages(api http.Handler, log *slog.Logger) (http.Handler, error) {
	if !c.UI {
		return api, nil
	}
	key, err := c.pagesKey()
	if err != nil {
		return nil, fmt.Errorf("key of sessions: %w", err)
	}
	issuer, err := c.oidc()
	if err != nil {
		return nil, err
	}
	pages, err := web.New(web.Config{
		API: api, PublicURL: strings.TrimRight(c.PublicURL, "/"), OIDC: issuer, Key: key, Now: time.Now, Log: log,
		Certificates: c.TLSClientCA != "" && c.Auth != "none",
	})
	if err != nil {
		return nil, fmt.Errorf("serve pages: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ui" || strings.HasPrefix(r.URL.Path, "/ui/") {
			pages.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}), nil
}

// pagesKey returns the key of sessions: that of the file, or a random one that ends with the process.
func (c *serveCommand) pagesKey() ([]byte, error) {
	const size, maxSize = 32, 4096
	path := c.UIKeyFile
	if path == "" && c.DatabaseURL == "" {
		path = filepath.Join(c.StateDir, "ui.key")
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			if err := files.Create(path, []byte(rand.Text()+rand.Text())); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
	}
	if path == "" {
		key := make([]byte, size)
		_, _ = rand.Read(key) // never fails
		return key, nil
	}
	return files.ReadPrivate(path, maxSize)
}
