package document

import (
	"errors"
	"fmt"

	"purser/internal/fault"
)

// rule says what a text violates and what to do. It is written in this package and never taken from a text, which may
// be a secret.
type rule string

// rulef returns a rule with numbers in it.
func rulef(format string, numbers ...int) rule {
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	return rule(fmt.Sprintf(format, args...))
}

// Mistake is why a text cannot be parsed, and where. It is the cause of the fault about it. It quotes no part of the
// text.
type Mistake struct {
	Document int      // index of the document; 0 if it is about the whole body
	At       Position // in the body; parts that are 0 are unknown
	Rule     string   // what the text violates and what to do

	anywhere bool // in the document that begins at the line
}

// Error returns the place of the mistake and the rule.
func (m *Mistake) Error() string {
	place := ""
	switch {
	case m.anywhere:
		return fmt.Sprintf("document %d (from line %d): %s", m.Document, m.At.Line, m.Rule)
	case m.Document > 0:
		place = fmt.Sprintf("document %d, ", m.Document)
	}
	switch {
	case m.At.Line == 0:
		return m.Rule
	case m.At.Column == 0:
		return fmt.Sprintf("%sline %d: %s", place, m.At.Line, m.Rule)
	}
	return fmt.Sprintf("%sline %d, column %d: %s", place, m.At.Line, m.At.Column, m.Rule)
}

// malformed returns the fault of a body that cannot be parsed, in Deckhand's words.
func malformed(media Media, m Mistake) *fault.Fault {
	format := "YAML"
	if media == JSON {
		format = "JSON"
	}
	return fault.New(fault.Invalid, "HTTPBadRequest", "The request body must be properly formatted %s. Details: %v",
		format, &m).Because(&m)
}

// malformed returns the fault of a document that violates a rule. It does not say where.
func (s Segment) malformed(media Media, r rule) *fault.Fault {
	return malformed(media, Mistake{s.Index, Position{Line: s.Line}, string(r), true})
}

// malformedAt returns the fault of a document whose text violates a rule at a position in the text.
func (s Segment) malformedAt(at Position, r rule) *fault.Fault {
	return malformed(s.media, Mistake{Document: s.Index, At: s.position(at), Rule: string(r)})
}

// Details returns the message of an error about a text that is not the body of a request.
func Details(err error) string {
	if mistake, ok := errors.AsType[*Mistake](err); ok {
		return mistake.Error()
	}
	return err.Error()
}
