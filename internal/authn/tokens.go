package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"purser/internal/document"
	"purser/internal/files"
)

const maxTokenFile = 4 << 20 // bytes; about 15,000 tokens

// Tokens authenticates the bearer tokens of a file, which is read again when it changes. The time of a lookup reveals
// nothing about how similar a wrong token is to a valid one, because the map's key is the hash.
type Tokens struct {
	known *files.Watched[map[document.Digest]Token]
	now   func() time.Time
}

var _ Authenticator = (*Tokens)(nil)

// OpenTokens reads a token file, a YAML list of entries as AppendToken writes them. It returns an error if the file is
// missing, if others than its owner may read or change it, or if an entry is malformed.
func OpenTokens(path string, now func() time.Time, log *slog.Logger) (*Tokens, error) {
	known, err := files.Watch(files.Source[map[document.Digest]Token]{
		Paths: []string{path}, MaxBytes: maxTokenFile, Private: []string{path}, Now: now,
		Parse: func(texts [][]byte) (map[document.Digest]Token, error) {
			tokens, err := parseTokens(texts[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return tokens, nil
		},
		Report: func(known map[document.Digest]Token, err error) {
			if err != nil {
				log.Error("THE TOKENS FILE CANNOT BE USED: the tokens read before are still accepted, those revoked "+
					"since included", "path", path, "error", err.Error())
				return
			}
			log.Info("reloaded the tokens file", "path", path, "tokens", len(known))
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	return &Tokens{known, now}, nil
}

// Authenticate implements Authenticator.
func (t *Tokens) Authenticate(_ context.Context, token string) (Caller, error) {
	if err := checkToken(token); err != nil {
		return Caller{}, err
	}
	if len(token) != tokenLength || !strings.HasPrefix(token, tokenPrefix) {
		return Caller{}, rejected("not a token that Purser issued")
	}
	entry, known := t.known.Current()[sha256.Sum256([]byte(token))]
	switch {
	case !known:
		return Caller{}, rejected("an unknown token")
	case !entry.Expires.IsZero() && !t.now().Before(entry.Expires):
		return Caller{}, rejected("token " + entry.ID + " has expired")
	}
	return entry.caller(), nil
}
