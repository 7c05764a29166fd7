package murano

import (
	"purser/internal/document"
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
	return words.FirstBytes(string(v.appendTo(nil)), maxShown)
}

// appendTo appends the value like Python's repr, and stops soon after maxShown bytes.
func (v *Value) appendTo(dst []byte) []byte {
	switch v.Kind {
	case String:
		return document.AppendQuoted(dst, v.Text, maxShown)
	case Seq:
		dst = append(dst, '[')
		for i := 0; i < len(v.Items) && len(dst) <= maxShown; i++ {
			dst = v.Items[i].appendTo(separate(dst, i))
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for i := 0; i < len(v.Entries) && len(dst) <= maxShown; i++ {
			dst = append(v.Entries[i].Key.appendTo(separate(dst, i)), ": "...)
			dst = v.Entries[i].Value.appendTo(dst)
		}
		return append(dst, '}')
	case Date:
		return append(dst, dateConstructor(v.Text)...)
	case Null, Bool, Int, Float, Other:
	}
	return append(dst, v.Text...)
}

// separate appends a comma before each item but the first.
func separate(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ", "...)
	}
	return dst
}
