package jsonschema

import (
	"purser/internal/document"
	"purser/internal/words"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 4 << 10

// message collects text up to maxMessage bytes and drops the rest.
type message struct{ text []byte }

func (m *message) isFull() bool { return len(m.text) > maxMessage }

// String returns the text. If it was too long, it is cut at a character and ends with "…".
func (m *message) String() string { return words.FirstBytes(string(m.text), maxMessage-len("…")) }

// add writes plain text.
func (m *message) add(parts ...string) *message {
	for _, part := range parts {
		if !m.isFull() {
			m.text = append(m.text, part...)
		}
	}
	return m
}

// repr writes a value as Python's repr() writes it.
func (m *message) repr(v any) *message {
	if !m.isFull() {
		m.text = document.AppendRepr(m.text, v, maxMessage)
	}
	return m
}

// quote writes a string as Python's repr() writes it.
func (m *message) quote(s string) *message {
	m.text = document.AppendQuoted(m.text, s, maxMessage)
	return m
}

// series writes the reprs of items, separated by commas.
func (m *message) series(items []any) *message {
	m.text = document.AppendReprs(m.text, items, maxMessage)
	return m
}
