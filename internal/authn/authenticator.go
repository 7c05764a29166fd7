package authn

import (
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"purser/internal/fault"
)

// Authenticator authenticates the caller who presents a token. It is safe for concurrent use. The token is the text
// that the client sent after the scheme (Bearer), or empty if it sent none. An error is a *Rejected or a fault of kind
// Unavailable. Callers may modify the returned Caller's Roles.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (Caller, error)
}

// Rejected is the error for an invalid credential, which is answered with a 401. The Reason is for the log only. It
// contains only public settings of the issuer and the id of a token.
type Rejected struct {
	Reason string
}

func (r *Rejected) Error() string { return "rejected: " + r.Reason }

func rejected(reason string) error { return &Rejected{Reason: reason} }

// unavailable returns the fault for a token that cannot be checked now. The cause is for the log only.
func unavailable(cause error, message string) error {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "%s", message).Because(cause)
	f.RetryAfter = retryAfter
	return f
}

const (
	retryAfter = 5 * time.Second // no issuer is asked again earlier after it has failed

	maxToken = 16 << 10 // bytes; a signed token with hundreds of roles has half as many
	maxText  = 255      // bytes of a name, an id or a role, as in Keystone
)

// checkToken rejects strings that cannot be tokens before doing any work for them. The others are safe in a request
// header.
func checkToken(token string) error {
	switch {
	case token == "":
		return rejected("no token")
	case len(token) > maxToken:
		return rejected("a token of more than 16 KiB")
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return rejected("a token with invalid characters")
		}
	}
	return nil
}

// checkCaller returns c, or an error if it has no user or has a string that is not safe in a header or a log line.
func checkCaller(c Caller) (Caller, error) {
	if c.UserID == "" {
		return Caller{}, rejected("it does not name a user")
	}
	for _, text := range c.texts() {
		if !isPlain(text) {
			return Caller{}, rejected("a name, id or role in it is too long or has unprintable characters")
		}
	}
	return c, nil
}

func isPlain(text string) bool {
	if len(text) > maxText || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Caller is the user who sent a request. Fields that the credential does not set are empty.
type Caller struct {
	UserID          string
	UserName        string
	UserDomainID    string
	ProjectID       string // to which the token is scoped, as the next two
	ProjectDomainID string
	DomainID        string
	SystemScope     string   // all, if the token is scoped to the system
	NoAdminProject  bool     // Keystone has an admin project, and it is another one
	Roles           []string // as spelt by the issuer; checks compare them without regard to case
}

// texts returns the names and ids of a caller, and its roles.
func (c Caller) texts() []string {
	return append([]string{
		c.UserID, c.UserName, c.UserDomainID, c.ProjectID, c.ProjectDomainID, c.DomainID, c.SystemScope,
	}, c.Roles...)
}

// NoAuth authenticates every request as an admin, like Deckhand's development mode.
type NoAuth struct{}

var _ Authenticator = NoAuth{}

// Authenticate implements Authenticator. It never fails.
func (NoAuth) Authenticate(context.Context, string) (Caller, error) {
	return Caller{UserID: "noauth", UserName: "noauth", ProjectID: "noauth", Roles: []string{"admin"}}, nil
}
