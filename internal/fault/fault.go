// Package fault holds the one error type that crosses package borders in Purser.
//
// A fault says what kind of thing went wrong (Kind, from which the status code follows in one place, api), what the
// reference calls it on the wire (Type, spec/api.md §1.5) and what a person should read (Message). Everything that is
// not a *Fault is an internal error: its text goes to the log, never into an answer.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is what went wrong, independent of any protocol.
type Kind uint8

// The kinds of fault.
const (
	Internal         Kind = iota // a bug or a broken dependency; never the caller's doing
	Invalid                      // the request can never succeed as it is
	NotFound                     // what was named does not exist
	Gone                         // what was named did exist, and was removed for good
	Conflict                     // the request contradicts what is stored
	Stale                        // the request is about a state that is no longer the newest
	Unauthenticated              // it is not known who the caller is
	Forbidden                    // the caller may not do this
	Throttled                    // the caller asks for too much in too short a time
	TooLarge                     // a limit was exceeded
	Timeout                      // the client was too slow in sending its request
	UnsupportedType              // the body is of a media type that is not read here
	MethodNotAllowed             // the path does not know the method
	Unimplemented                // a part of the interface that this version does not have
	Unavailable                  // a dependency does not answer; the same request may succeed later
)

// Message is one item of an error's message list (spec/api.md §1.5).
type Message struct {
	Message    string     `json:"message"`
	Error      bool       `json:"error"`
	Name       string     `json:"name,omitempty"` // D001, D002
	Documents  []Document `json:"documents,omitempty"`
	Level      string     `json:"level,omitempty"`
	Kind       string     `json:"kind,omitempty"`
	Diagnostic any        `json:"diagnostic,omitempty"`
}

// Document names the document that a Message is about; a part that is missing is empty.
type Document struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Layer  string `json:"layer"`
}

// Fault is an error that a caller can act on.
type Fault struct {
	Kind     Kind
	Type     string // errorType on the wire, such as RevisionNotFound
	Message  string
	Reason   string         // "" means Unspecified
	Messages []Message      // what details.messageList shows; nil means Message once
	Metadata map[string]any // what a program can go on with; nil means nothing
	// RetryAfter is how long to wait before the same request may succeed; 0 means that nothing is known.
	RetryAfter time.Duration
	cause      error
}

// New makes a fault with a formatted message; %w keeps the wrapped error reachable and its text in the message.
func New(kind Kind, errorType, format string, args ...any) *Fault {
	err := fmt.Errorf(format, args...)
	return &Fault{Kind: kind, Type: errorType, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Because keeps an error reachable for the log that the message must not show.
func (f *Fault) Because(cause error) *Fault {
	f.cause = cause
	return f
}

func (f *Fault) Error() string { return f.Message }

// Unwrap returns the error that the message was made from, or nil.
func (f *Fault) Unwrap() error { return f.cause }

// KindOf returns the kind of the first fault in err's chain, Internal if there is none.
func KindOf(err error) Kind {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Kind
	}
	return Internal
}
