package jsonschema

import (
	"fmt"
	"strings"
	"unicode"

	"purser/internal/words"

	"purser/internal/document"
)

// message collects text up to maxMessage bytes and drops the rest.
type message struct {
	strings.Builder
}

func (m *message) full() bool { return m.Len() > maxMessage }

// String returns the text. If it was too long, it is cut at a character and ends with "…".
func (m *message) String() string { return words.FirstBytes(m.Builder.String(), maxMessage-len("…")) }

// add writes plain text.
func (m *message) add(parts ...string) *message {
	for _, part := range parts {
		if !m.full() {
			m.WriteString(part)
		}
	}
	return m
}

// repr writes a value as Python's repr() writes it.
func (m *message) repr(v any) *message {
	if m.full() {
		return m
	}
	switch v := v.(type) {
	case nil:
		m.add("None")
	case bool:
		if v {
			return m.add("True")
		}
		m.add("False")
	case document.Number:
		m.add(string(v))
	case string:
		m.quote(v)
	case []any:
		m.add("[").series(v).add("]")
	case mapping:
		m.dict(v)
	}
	return m
}

// series writes the reprs of items, separated by commas.
func (m *message) series(items []any) *message {
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

func (m *message) dict(v mapping) {
	m.add("{")
	for i, member := range v {
		if m.full() {
			break
		}
		if i > 0 {
			m.add(", ")
		}
		m.quote(member.Key).add(": ").repr(member.Value)
	}
	m.add("}")
}

// quote writes s as repr() of a str does: in single quotes, unless double quotes avoid escapes.
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
	case unicode.IsPrint(r): // approximates str.isprintable()
		m.WriteRune(r)
	case r < 0x100:
		fmt.Fprintf(m, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(m, `\u%04x`, r)
	default:
		fmt.Fprintf(m, `\U%08x`, r)
	}
}
