package authn

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"purser/internal/document"
)

// Token is one entry of a token file, which is a YAML list of entries:
//
//   - id: 0f3a9c51be27
//     user: alice
//     project: site-1 # may be left out
//     roles: [admin]
//     created: 2026-01-31T12:00:00Z
//     expires: 2027-01-31T12:00:00Z # may be left out: never
//     sha256: 9c1185a5c5e9fc54612808977ee8f548b2258d31aa11aa11aa11aa11aa11aa11
//
// The file reveals no token: 256 random bits cannot be found from their hash, even a fast one.
type Token struct {
	ID      string
	User    string
	Project string // empty: none
	Roles   []string
	Created time.Time
	Expires time.Time       // zero: never
	Hash    document.Digest // SHA-256 of the token's text
}

const (
	tokenPrefix = "prs_" // lets scanners recognize leaked tokens
	tokenBytes  = 32
	tokenLength = len(tokenPrefix) + 43
)

// NewToken returns a random token (prs_ and 43 characters of base64url) to give to the user, and its entry for
// AppendToken, which checks the other arguments. A zero expires means never.
func NewToken(user, project string, roles []string, created, expires time.Time) (token string, entry Token) {
	const idBytes = 6
	var random [tokenBytes + idBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(random[:tokenBytes])
	return token, Token{
		ID:   hex.EncodeToString(random[tokenBytes:]),
		User: user, Project: project, Roles: roles, Created: created, Expires: expires,
		Hash: sha256.Sum256([]byte(token)),
	}
}

// parseTokens parses a token file, which is a YAML list of entries, into a map by their hashes. It refuses unknown
// keys: a token with a misspelt expires would never expire.
//
//nolint:contextcheck,nolintlint // the work is not charged to a request, because all requests use the file
func parseTokens(text []byte) (map[document.Digest]Token, error) {
	limits := document.DefaultLimits()
	limits.Strict = true
	value, err := document.ParseOne(context.Background(), text, document.YAML, limits)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(document.Details(err), "document 1, "))
	}
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, errors.New("expected a list of tokens")
	}
	tokens, ids := make(map[document.Digest]Token, len(list)), make(map[string]bool, len(list))
	for i, item := range list {
		token, err := tokenOf(item)
		if _, appeared := tokens[token.Hash]; err == nil && (appeared || ids[token.ID]) {
			err = errors.New("its id or sha256 appears twice")
		}
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		tokens[token.Hash], ids[token.ID] = token, true
	}
	return tokens, nil
}

func tokenOf(item any) (t Token, err error) {
	members, ok := item.(document.Mapping)
	if !ok {
		return Token{}, errors.New("expected a mapping")
	}
	for _, member := range members {
		if err := t.set(member.Key, member.Value); err != nil {
			return Token{}, err
		}
	}
	return t, t.check()
}

func (t *Token) set(key string, value any) (err error) {
	switch key {
	case "id":
		t.ID, err = textOf(value)
	case "user":
		t.User, err = textOf(value)
	case "project":
		t.Project, err = textOf(value)
	case "roles":
		t.Roles, err = textsOf(value)
	case "created":
		t.Created, err = timeOf(value)
	case "expires":
		t.Expires, err = timeOf(value)
	case "sha256":
		t.Hash, err = hashOf(value)
	default: // the value is not shown, because it may be a misplaced token
		return errors.New("unknown key; the keys are id, user, project, roles, created, expires and sha256")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (t *Token) check() error {
	if t.ID == "" || !isPlain(t.ID) || t.Created.IsZero() || t.Hash.IsZero() {
		return errors.New("id, user, created and sha256 are required")
	}
	_, err := checkCaller(t.caller())
	return err
}

func (t *Token) caller() Caller {
	return Caller{UserID: t.User, UserName: t.User, ProjectID: t.Project, Roles: append([]string(nil), t.Roles...)}
}

func textOf(value any) (string, error) {
	text, ok := value.(string)
	switch {
	case !ok:
		return "", errors.New("expected a string (quote a value that looks like a number)")
	case text == "":
		return "", errors.New("expected a string that is not empty")
	}
	return text, nil
}

func textsOf(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, errors.New("expected a list of strings")
	}
	texts := make([]string, 0, len(list))
	for _, item := range list {
		text, err := textOf(item)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func timeOf(value any) (time.Time, error) {
	text, err := textOf(value)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return time.Time{}, errors.New("expected a time such as 2026-01-31T00:00:00Z")
	}
	return t.UTC(), nil
}

func hashOf(value any) (hash document.Digest, err error) {
	text, _ := value.(string)
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(hash) {
		return hash, errors.New("expected 64 hexadecimal digits")
	}
	return document.Digest(raw), nil
}
