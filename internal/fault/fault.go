// Package fault defines the errors that are shown to clients.
//
// A Fault has a Kind, which package api maps to a status code, a Type, which is Deckhand's name for the error, and
// a Message for people. Any other error is internal: its text is logged and never sent to a client.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Kind classifies faults, independently of any protocol.
type Kind uint8

// The kinds of fault.
const (
	Internal         Kind = iota // a bug or a broken dependency
	Invalid                      // the request is invalid and can never succeed
	NotFound                     // the named object does not exist
	Gone                         // the named object existed and was removed for good
	Conflict                     // the request contradicts what is stored
	Stale                        // the request is about a revision that is no longer the newest
	Unauthenticated              // the caller is unknown
	Forbidden                    // the caller may not do this
	Throttled                    // the caller sends too many requests
	TooLarge                     // a limit was exceeded
	Timeout                      // the client was too slow in sending its request
	UnsupportedType              // the media type of the body is not supported
	MethodNotAllowed             // the path does not have the method
	Unimplemented                // the server does not support the request
	Misdirected                  // the request names another server
	Unavailable                  // a dependency does not answer; the same request may succeed later
)

// Message is one item of an error's message list.
type Message struct {
	Message    string     `json:"message"`
	Error      bool       `json:"error"`
	Name       string     `json:"name,omitempty"` // D001, D002
	Documents  []Document `json:"documents,omitempty"`
	Path       string     `json:"path,omitempty"` // in the first of these; empty if it is not known
	Level      string     `json:"level,omitempty"`
	Kind       string     `json:"kind,omitempty"`
	Diagnostic any        `json:"diagnostic,omitempty"`
	Unlisted   int        `json:"unlisted,omitempty"` // the number of errors that it stands for, if it is not one itself
	// Also set by messages about a Murano package. Lines and columns count from 1; 0 means unknown.
	Code   string `json:"code,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Secret marks a message that names encrypted documents or reveals something derived from them. It is shown only to
	// callers who may see encrypted documents, and it is never stored: see authz.Viewer.
	Secret bool `json:"secret,omitempty"`
	// More is the number of further errors that a message beyond the listed ones stands for.
	More int `json:"-"`
	// Correction is what the Diagnostic of a D001 says; nil in other messages, and in stored ones.
	Correction *Correction `json:"-"`
}

// Correction is what to correct in a document, and where.
type Correction struct {
	Path         string
	Line, Column int // in the body
	Advice       string
}

// Unlisted returns the message that stands for a number of errors which are not in a list of messages.
func Unlisted(number int) Message {
	return Message{
		Message: fmt.Sprintf("More errors, not listed: %d", number), Error: true, Level: "Error", Kind: "ValidationMessage",
		Unlisted: number,
	}
}

// WarningKind is the Kind of messages that are warnings.
const WarningKind = "Warning"

// RequestHint is the Kind of messages that say which request of the API helps. Programs in which users do not write
// requests leave them out, and advise in their own terms.
const RequestHint = "RequestHint"

// Info is the Level of a message that only says what an error leads to.
const Info = "Info"

// Document names the document that a Message is about. Unknown parts are empty.
type Document struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Layer  string `json:"layer"`
	// Encrypted reports whether the document is encrypted, so that its name is shown only to callers who may see it.
	Encrypted bool `json:"-"`
}

// Fault is an error that a caller can act on.
type Fault struct {
	Kind     Kind
	Type     string // errorType on the wire, such as RevisionNotFound
	Message  string
	Reason   string         // "" means Unspecified
	Messages []Message      // details.messageList; nil means one with Message
	Metadata map[string]any // details for programs; may be nil
	Secret   bool           // as in Message
	Rule     string         // of authorization, if the caller lacks one; package api adds who passes it
	// RetryAfter is how long to wait before repeating the request; 0 if unknown.
	RetryAfter time.Duration
	// NothingStored is whether the message of a fault of the server says that nothing was stored, so that clients can
	// repeat a change.
	NothingStored bool
	cause         error
}

// New returns a fault with a message formatted as by fmt.Errorf, including %w.
func New(kind Kind, errorType, format string, args ...any) *Fault {
	err := fmt.Errorf(format, args...)
	return &Fault{Kind: kind, Type: errorType, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Because sets the cause, which is logged but not shown, and returns f.
func (f *Fault) Because(cause error) *Fault {
	f.cause = cause
	return f
}

// Hint adds a message about what to do to the list, after the fault's own one, and returns f. It is secret if f is.
func (f *Fault) Hint(format string, args ...any) *Fault {
	if f.Messages == nil {
		f.Messages = []Message{{Message: f.Message, Error: true, Secret: f.Secret}}
	}
	f.Messages = append(f.Messages, Message{Message: fmt.Sprintf(format, args...), Error: true, Secret: f.Secret})
	return f
}

// RequestHint adds a message of the kind RequestHint to the list, like Hint, and returns f.
func (f *Fault) RequestHint(format string, args ...any) *Fault {
	f.Hint(format, args...).Messages[len(f.Messages)-1].Kind = RequestHint
	return f
}

// Lacking sets the rule of authorization that the caller lacks, and returns f.
func (f *Fault) Lacking(rule string) *Fault {
	f.Rule = rule
	return f
}

// Unstored sets NothingStored and returns f.
func (f *Fault) Unstored() *Fault {
	f.NothingStored = true
	return f
}

// Error returns the message, or the type of a fault without one.
func (f *Fault) Error() string { return cmp.Or(f.Message, f.Type) }

// Unwrap returns the cause, or the error wrapped in the message, or nil.
func (f *Fault) Unwrap() error { return f.cause }

// KindOf returns the kind of the first fault in err's chain, or Internal if there is none.
func KindOf(err error) Kind {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Kind
	}
	return Internal
}
