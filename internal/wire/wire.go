// Package wire has the answers of the API as structs. Package api writes them; internal/client, web and cmd/purser read
// them. A YAML answer is the same value, written from its JSON.
//
// Types have methods for what readers ask about an answer, such as whether a verdict can still change.
package wire

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"purser/internal/events"
)

// Optional is text that is null in JSON if it is empty.
type Optional string

// MarshalJSON implements json.Marshaler.
func (o Optional) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(o))
}

// TimeFormat is UTC without a zone and with microseconds, as Python prints it.
const TimeFormat = "2006-01-02T15:04:05.000000"

// TimeText returns a time as the API writes it. The zero time is null.
func TimeText(t time.Time) Optional {
	if t.IsZero() {
		return ""
	}
	return Optional(t.UTC().Format(TimeFormat))
}

// Time parses a time; ok is false if there is none.
func (o Optional) Time() (at time.Time, ok bool) {
	at, err := time.Parse("2006-01-02T15:04:05.999999", strings.TrimSuffix(string(o), "Z"))
	const first = 1970
	return at, err == nil && at.Year() >= first
}

// List is a list, or a page of one. Next and Prev are the URLs of the neighbouring pages: an empty text is null, for a
// page that does not exist, and nil is absent, for a list without pages.
type List[T any] struct {
	Count   int       `json:"count"`
	Results []T       `json:"results"`
	Next    *Optional `json:"next,omitempty"`
	Prev    *Optional `json:"prev,omitempty"`
}

// Events is a page of the feed of events.
type Events[T any] struct {
	Cursor string `json:"cursor"`
	Events []T    `json:"events"`
}

// User is a user.
type User struct {
	ID   string   `json:"id"`
	Name Optional `json:"name"`
}

// ResourcePath is the path of a Resource on its server.
const ResourcePath = "/.well-known/oauth-protected-resource"

// Resource says where clients get tokens: the metadata of a protected resource (RFC 9728).
type Resource struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers,omitempty"` // one of OpenID Connect, or none
	Scopes   []string `json:"scopes_supported,omitempty"`      // to ask the issuer for
	Methods  []string `json:"bearer_methods_supported"`
	ClientID string   `json:"purser_client_id,omitempty"` // of the command purser; "" if that cannot sign in
}

// Caller is the caller as the server has authenticated it.
type Caller struct {
	User    User     `json:"user"`
	Project Optional `json:"project"`
	Roles   []string `json:"roles"`
	Rules   []string `json:"rules"` // that the caller passes
	// Depending are the rules that the caller passes or not, depending on what is asked for.
	Depending []string `json:"depending,omitempty"`
}

// AuditEvent is an entry of the audit.
type AuditEvent struct {
	ID       int64    `json:"id"`
	At       Optional `json:"at"`
	User     User     `json:"user"`
	Project  Optional `json:"project"`
	EndUser  Optional `json:"endUser"`
	Rule     string   `json:"rule"`
	Method   string   `json:"method"`
	Target   string   `json:"target"`
	Revision *int64   `json:"revision"`
	Status   int      `json:"status"`
	Error    Optional `json:"error"`
	Remote   string   `json:"remote"`
	Request  string   `json:"request"`
}

// Who names the user.
func (e AuditEvent) Who() string {
	who := cmp.Or(string(e.User.Name), e.User.ID)
	if e.EndUser != "" {
		who = string(e.EndUser) + " by " + who
	}
	return who
}

// About returns the number of the revision that the event is about, 0 if it is about none.
func (e AuditEvent) About() int64 {
	if e.Revision == nil {
		return 0
	}
	return *e.Revision
}

// Last is the last change of something: only its revision if that has been deleted.
type Last struct {
	Revision  int64    `json:"revision"`
	ChangedAt Optional `json:"changedAt"`
	User      Optional `json:"user"`
	Message   Optional `json:"message"`
	Source    Optional `json:"source"`
}

// Bucket is a bucket and its last change.
type Bucket struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	Last

	// From is where its documents were copied from; nil if they were not. Behind is how many revisions have changed them
	// there since, at most 1,000; nil if that is not known, or not for the caller to know.
	From   *events.Upstream `json:"from,omitempty"`
	Behind *int             `json:"behind,omitempty"`

	URL string `json:"url"` // of its documents
}

// DocumentChange is a change in the history of a document.
type DocumentChange struct {
	Last

	Bucket string `json:"bucket"` // the current or last bucket of the document
	Change string `json:"change"`
	Diff   string `json:"diff"`
}

// Schema says where a schema comes from.
type Schema struct {
	Name     string   `json:"name"`
	Source   string   `json:"source"` // builtin or registered
	Document *Version `json:"document"`
	URL      string   `json:"url"`
	Docs     string   `json:"docs"`
}

// ParseFlag parses a boolean parameter of a request, in the words that Deckhand accepts. An empty text is true.
func ParseFlag(text string) (value, valid bool) {
	switch text {
	case "", "true", "True", "t", "yes", "y", "1", "on":
		return true, true
	case "false", "False", "f", "no", "n", "0", "off":
		return false, true
	}
	return false, false
}
