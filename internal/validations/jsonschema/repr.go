package jsonschema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// message collects text up to maxMessage bytes; what comes after is dropped without being made.
type message struct {
	strings.Builder
}

func (m *message) full() bool { return m.Len() > maxMessage }

// String returns the text, cut at a rune border and ended with … if it was too long.
func (m *message) String() string {
	s := m.Builder.String()
	if len(s) <= maxMessage {
		return s
	}
	const end = "…"
	cut := maxMessage - len(end)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + end
}

// add writes plain text.
func (m *message) add(parts ...string) *message {
	for _, part := range parts {
		if !m.full() {
			m.WriteString(part)
		}
	}
	return m
}

// repr writes v as Python's repr() writes the value that v was made from.
func (m *message) repr(v *value) *message {
	if m.full() {
		return m
	}
	switch v.kind {
	case null:
		m.add("None")
	case boolean:
		m.add(strings.ToUpper(v.text[:1]), v.text[1:])
	case number:
		m.add(v.text)
	case text:
		m.quote(v.text)
	case array:
		m.list(v.items)
	case object:
		m.dict(v)
	}
	return m
}

func (m *message) list(items []*value) {
	m.add("[")
	m.series(items)
	m.add("]")
}

// series writes the reprs of items with commas between them.
func (m *message) series(items []*value) *message {
	for i, item := range items {
		if m.full() {
			break
		}
		if i > 0 {
			m.add(", ")
		}
		m.repr(item)
	}
	return m
}

func (m *message) dict(v *value) {
	m.add("{")
	for i, key := range v.keys {
		if m.full() {
			break
		}
		if i > 0 {
			m.add(", ")
		}
		m.quote(key).add(": ").repr(v.items[i])
	}
	m.add("}")
}

// quote writes s as repr() of a str: in single quotes unless only double quotes save escaping.
func (m *message) quote(s string) *message {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	m.WriteRune(mark)
	for _, r := range s {
		if m.full() {
			break
		}
		m.character(r, mark)
	}
	m.WriteRune(mark)
	return m
}

func (m *message) character(r, mark rune) {
	switch {
	case r == mark || r == '\\':
		m.WriteByte('\\')
		m.WriteRune(r)
	case r == '\n':
		m.WriteString(`\n`)
	case r == '\r':
		m.WriteString(`\r`)
	case r == '\t':
		m.WriteString(`\t`)
	case unicode.IsPrint(r): // letters, marks, numbers, punctuation, symbols and the space, as str.isprintable()
		m.WriteRune(r)
	case r < 0x100:
		fmt.Fprintf(m, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(m, `\u%04x`, r)
	default:
		fmt.Fprintf(m, `\U%08x`, r)
	}
}
