// Package claims has the work of a site that its validators share: results that revisions lack, and the claims of
// workers to post them. Which work is open follows from the verdicts that the feed stores. A claim is a token, which
// decides whether its worker still holds the work.
package claims

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"time"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// Token identifies a claim: a random UUID in lower case, which only its worker knows. Empty is none.
type Token string

var token = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// NewToken returns a random token.
func NewToken() Token {
	const version, variant = 0x40, 0x80 // of random UUIDs (RFC 9562)
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|version, b[8]&0x3f|variant
	return Token(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// ParseToken parses a token. Fault: NotFound for a text that cannot be one.
func ParseToken(text string) (Token, error) {
	if !token.MatchString(text) {
		return "", Unknown()
	}
	return Token(text), nil
}

// State is the state of work.
type State string

// The states.
const (
	Open    State = "open"    // nobody has claimed it
	Claimed State = "claimed" // a worker holds it
	Lapsed  State = "lapsed"  // its claim ran out, and nobody else has claimed it
)

// States returns all states.
func States() []State { return []State{Open, Claimed, Lapsed} }

const (
	// MaxAttempts is how many claims to the same work may run out, after which the server posts a failure.
	MaxAttempts = 3
	// MaxAge is how long a claim lasts in all.
	MaxAge = 24 * time.Hour
	// Kept is how many claims to the same work are remembered.
	Kept = 16
	// Server is the worker that posts the failure for work whose claims ran out.
	Server = "purser"
	// serverTimeout is the timeout of the server's own claims.
	serverTimeout = time.Minute
)

// Work is the result of a validation that a revision lacks, and the last claim to it.
type Work struct {
	Site       string // in a list of several sites; else empty
	Revision   int64
	Stamp      revisions.Stamp
	Validation string
	State      State
	Attempt    int       // claims that ran out, and the present one
	Token      Token     // of the last claim; empty if there was none
	Worker     string    // that claimed it last, as the fields below; empty if nobody did
	User       string    // the name, or the ID of a user without one; may be empty
	Since      time.Time // zero if nobody has claimed it
	ExpiresAt  time.Time
	Progress   string
	Requested  time.Time // when somebody asked for a new result; zero if nobody did
	Reason     string    // of that
}

// abandoned reports whether so many claims to the work ran out that no worker gets it.
func (w Work) abandoned() bool { return w.State == Lapsed && w.Attempt >= MaxAttempts }

// Ask is the request of a worker for work.
type Ask struct {
	Token   Token    // of the claim that is made
	Names   []string // of validations, in order of preference
	Worker  string
	Timeout time.Duration
	Caller  revisions.Caller
	Audit   *revisions.AuditEvent // recorded with the claim; nil records nothing
}

// Granted is the answer to an Ask.
type Granted struct {
	Work

	Found bool // there was work, which is claimed
	// Next is how long it takes until there may be work although nothing happens, because a claim runs out or a
	// result expires; 0 if that does not happen.
	Next time.Duration
}

// Store keeps claims. Faults: NotFound for an unknown claim, Conflict for one that no longer holds its work,
// Unavailable if the database does not answer.
type Store interface {
	// Claim claims work for a worker, if there is any. Concurrent calls share their statements.
	Claim(ctx context.Context, ask Ask) (Granted, error)
	// FindClaim returns the work that a claim holds.
	FindClaim(ctx context.Context, claim Token) (Work, error)
	// ExtendClaim lets a claim last for another timeout, and notes the progress if it is not nil.
	ExtendClaim(ctx context.Context, claim Token, progress *string) (Work, error)
	// GiveBack ends a claim without a result; its attempt does not count. It does nothing to one that was given back.
	GiveBack(ctx context.Context, claim Token, audit *revisions.AuditEvent) error
	// Request asks for a new result of a validation of a revision. It returns false if the revision does not exist.
	Request(ctx context.Context, about revisions.About, validation, reason string) (Work, bool, error)
	// Work returns a page of the work that is open, claimed or lapsed, of the newest revisions first, and reports
	// whether there is more.
	Work(ctx context.Context, page queries.Page) (work []Work, more bool, err error)
	// CountWork counts the work by each of its states.
	CountWork(ctx context.Context) (map[string]int, error)
}
