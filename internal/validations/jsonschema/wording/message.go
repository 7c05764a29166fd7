package wording

import (
	"purser/internal/document/repr"
	"purser/internal/words"
)

// MaxMessage bounds a message, in bytes.
const MaxMessage = 4 << 10

// Message collects text up to MaxMessage bytes and drops the rest.
type Message struct{ text []byte }

func (m *Message) full() bool { return len(m.text) > MaxMessage }

// String returns the text. If it was too long, it is cut at a character and ends with "…".
func (m *Message) String() string { return words.FirstBytes(string(m.text), MaxMessage-len("…")) }

// Add writes plain text.
func (m *Message) Add(parts ...string) *Message {
	for _, part := range parts {
		if !m.full() {
			m.text = append(m.text, part...)
		}
	}
	return m
}

// Repr writes a value as Python's repr() writes it.
func (m *Message) Repr(v any) *Message {
	if !m.full() {
		m.text = repr.Append(m.text, v, MaxMessage)
	}
	return m
}

// Quote writes a string as Python's repr() writes it.
func (m *Message) Quote(s string) *Message {
	m.text = repr.AppendQuoted(m.text, s, MaxMessage)
	return m
}

// series writes the reprs of items, separated by commas.
func (m *Message) series(items []any) *Message {
	m.text = repr.AppendItems(m.text, items, MaxMessage)
	return m
}
