package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"purser/internal/document"
)

const (
	largestTokenFile = 4 << 20     // bytes; some 15,000 tokens
	lookEvery        = time.Second // at most, at the file
)

// Tokens knows the bearer tokens of a file, which is read again when it changes. To look one up takes as long among a
// million as among two, and says nothing of how near a wrong one came: the map is asked for the hash.
type Tokens struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	known  atomic.Pointer[map[document.Digest]Token]
	looked atomic.Int64 // when the file was looked at, nanoseconds

	reading   sync.Mutex // only ever tried; held by the one who looks at the file
	read      fileState  // of what was read last
	verdict   error      // why that cannot be used, nil if it can
	complaint string     // what was logged last about the file, empty if it is fine
}

var _ Authenticator = (*Tokens)(nil)

// OpenTokens reads a token file: a YAML list of entries as AppendToken writes them. It is an error if the file is
// missing, if others may read or change it, or if it is not a list of well-formed entries.
func OpenTokens(path string, now func() time.Time, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{path: path, now: now, log: log}
	t.looked.Store(now().UnixNano())
	if err := t.load(); err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	return t, nil
}

// Authenticate implements Authenticator.
func (t *Tokens) Authenticate(ctx context.Context, token string) (Caller, error) {
	if err := checkToken(token); err != nil {
		return Caller{}, err
	}
	if len(token) != tokenLength || !strings.HasPrefix(token, tokenPrefix) {
		return Caller{}, rejected("a token that is none of Purser's own")
	}
	t.refresh(ctx)
	entry, known := (*t.known.Load())[sha256.Sum256([]byte(token))]
	switch {
	case !known:
		return Caller{}, rejected("an unknown token")
	case !entry.Expires.IsZero() && !t.now().Before(entry.Expires):
		return Caller{}, rejected("token " + entry.ID + " is expired")
	}
	return entry.caller(), nil
}

// refresh reads the file again if it has changed. Nobody waits for another who does so: the old tokens count meanwhile,
// and go on to count if the new file cannot be used.
func (t *Tokens) refresh(ctx context.Context) {
	since := t.now().UnixNano() - t.looked.Load()
	if since >= 0 && since < int64(lookEvery) || !t.reading.TryLock() {
		return
	}
	defer t.reading.Unlock()
	t.looked.Store(t.now().UnixNano())
	before := t.read
	err := t.look()
	if err == nil && t.read != before {
		t.log.InfoContext(ctx, "the token file was read again", "path", t.path, "tokens", len(*t.known.Load()))
	}
	t.report(ctx, err)
}

func (t *Tokens) look() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return err //nolint:wrapcheck // it names the path and what was done
	}
	if stateOf(info) == t.read {
		return t.verdict
	}
	return t.load()
}

// load reads the file. What could be read and not be used is not read again before it changes.
func (t *Tokens) load() error {
	text, state, err := readPrivate(t.path, largestTokenFile)
	if err != nil {
		return err
	}
	tokens, err := parseTokens(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", t.path, err)
	}
	t.read, t.verdict = state, err
	if err != nil {
		return err
	}
	known := make(map[document.Digest]Token, len(tokens))
	for _, token := range tokens {
		known[token.Hash] = token
	}
	t.known.Store(&known)
	return nil
}

// report says once what is wrong with the file, and once that it can be used again.
func (t *Tokens) report(ctx context.Context, err error) {
	complaint := ""
	if err != nil {
		complaint = err.Error()
	}
	if complaint == t.complaint {
		return
	}
	t.complaint = complaint
	if err == nil {
		t.log.InfoContext(ctx, "the token file can be used again", "path", t.path)
		return
	}
	t.log.ErrorContext(ctx, "THE TOKEN FILE CANNOT BE USED: the tokens read before go on to count, and what was revoked "+
		"since still counts", "path", t.path, "error", complaint)
}
