package located

import (
	"strings"
	"unicode"

	"purser/internal/words"
)

// Kind is the type of a value.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Date
	String
	Seq
	Map
	Other // binary data, sets and ordered mappings
)

// Value is a value in a text.
type Value struct {
	Kind  Kind
	Text  string // of a string; other scalars as Python prints them
	Items []*Value
	// Entries are the members of a mapping. A duplicate key is listed once, with its last value.
	Entries []Entry
	Twice   []*Value // duplicate keys of a mapping

	Plain bool // a string without quotes and tag
	YAQL  bool // a string with the tag !yaql

	Line, Column int // count from 0, columns in characters
	falsy        bool
	at           map[string]int // of a mapping: the position in Entries by identity
}

// Entry is a member of a mapping.
type Entry struct{ Key, Value *Value }

// Get returns the value of a member whose key is a string, nil if there is none.
func (v *Value) Get(key string) *Value {
	if v == nil || v.Kind != Map {
		return nil
	}
	if i, ok := v.at[identityOf(String, key)]; ok {
		return v.Entries[i].Value
	}
	return nil
}

// Is reports whether the value is of a kind. A nil Value is of none.
func (v *Value) Is(kind Kind) bool { return v != nil && v.Kind == kind }

// IsFalsy reports whether Python treats the value as false: null, false, 0, "", [] and {}. A nil Value is false, too.
func (v *Value) IsFalsy() bool {
	if v == nil {
		return true
	}
	switch v.Kind {
	case Null:
		return true
	case String:
		return v.Text == ""
	case Seq:
		return len(v.Items) == 0
	case Map:
		return len(v.Entries) == 0
	case Bool, Int, Float, Date, Other:
	}
	return v.falsy
}

// maxShown bounds the printed form of a value, in bytes.
const maxShown = 2000

// String returns the value as Python prints it, up to maxShown bytes.
func (v *Value) String() string {
	if v.Kind == String || v.Kind == Date {
		return words.FirstBytes(v.Text, maxShown)
	}
	var b strings.Builder
	v.write(&b)
	return words.FirstBytes(b.String(), maxShown)
}

// write writes the value like Python's repr.
func (v *Value) write(b *strings.Builder) {
	if b.Len() > maxShown {
		return
	}
	switch v.Kind {
	case String:
		quote(b, v.Text)
	case Seq:
		b.WriteByte('[')
		for i, item := range v.Items {
			if separate(b, i) {
				item.write(b)
			}
		}
		b.WriteByte(']')
	case Map:
		b.WriteByte('{')
		for i, e := range v.Entries {
			if separate(b, i) {
				e.Key.write(b)
				b.WriteString(": ")
				e.Value.write(b)
			}
		}
		b.WriteByte('}')
	case Date:
		b.WriteString(dateConstructor(v.Text))
	case Null, Bool, Int, Float, Other:
		b.WriteString(v.Text)
	}
}

// separate writes a comma before each item but the first and reports whether there is room for more.
func separate(b *strings.Builder, i int) bool {
	if b.Len() > maxShown {
		return false
	}
	if i > 0 {
		b.WriteString(", ")
	}
	return true
}

// quote writes a string in the quotes that Python would choose.
func quote(b *strings.Builder, text string) {
	text = words.FirstBytes(text, maxShown)
	mark := byte('\'')
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		mark = '"'
	}
	b.WriteByte(mark)
	for _, r := range text {
		switch {
		case r == rune(mark) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r != ' ' && !unicode.IsPrint(r):
			escape(b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(mark)
}
