package document

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"purser/internal/words"
)

// Digest is a SHA-256 sum.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether d is the zero Digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// Mapping is a mapping with its members in written order. Values are nil, bool, Number, string, []any and Mapping.
type Mapping []Member

// Member is a key of a Mapping and its value.
type Member struct {
	Key   string
	Value any
}

// At returns the value of a key, or nil if there is none.
func (m Mapping) At(key string) any {
	value, _ := m.Lookup(key)
	return value
}

// Lookup returns the value of a key and whether the key exists.
func (m Mapping) Lookup(key string) (any, bool) {
	for _, member := range m {
		if member.Key == key {
			return member.Value, true
		}
	}
	return nil, false
}

// With returns a copy of m with a key set. A new key is appended.
func (m Mapping) With(key string, value any) Mapping {
	changed := slices.Clone(m)
	if i := slices.IndexFunc(m, func(member Member) bool { return member.Key == key }); i >= 0 {
		changed[i].Value = value
		return changed
	}
	return append(changed, Member{key, value})
}

// AppendJSON appends a value as compact JSON text, with keys in written order.
func AppendJSON(dst []byte, value any) []byte { return appendJSON(dst, value, false) }

// ShortJSON returns a value as compact JSON text, with keys in written order, if that has at most the given number of
// bytes. Otherwise it returns nil, without writing more than about that.
func ShortJSON(value any, most int) []byte {
	if roomAfter(value, most) < 0 {
		return nil
	}
	if text := AppendJSON(nil, value); len(text) <= most {
		return text
	}
	return nil
}

// roomAfter returns how many of room bytes are left after the least that a value takes as JSON text, or a negative
// number.
func roomAfter(value any, room int) int {
	const quotes, comma, colon = 2, 1, 1
	switch v := value.(type) {
	case string:
		return room - len(v) - quotes
	case Number:
		return room - len(v)
	case []any:
		for i := 0; i < len(v) && room >= 0; i++ {
			room = roomAfter(v[i], room) - comma
		}
	case Mapping:
		for i := 0; i < len(v) && room >= 0; i++ {
			room = roomAfter(v[i].Value, room-len(v[i].Key)-quotes-colon) - comma
		}
	}
	return room - comma
}

// Canonical returns a value as compact JSON text with sorted keys.
func Canonical(value any) []byte { return textOf(value, true) }

// DigestOf returns the digest of a value's canonical form.
func DigestOf(value any) (digest Digest) {
	withText(value, true, func(text []byte) { digest = sha256.Sum256(text) })
	return digest
}

// textOf returns the JSON text of a value. The capacity of the result is its length.
func textOf(value any, sorted bool) (text []byte) {
	withText(value, sorted, func(scratch []byte) { text = bytes.Clone(scratch) })
	return text
}

// jsonTexts pools the memory in which JSON texts are written.
var jsonTexts = sync.Pool{New: func() any { return new([]byte) }}

// maxKept bounds each pooled buffer, in bytes.
const maxKept = 1 << 20

// withText calls use with the JSON text of a value. use must not retain it.
func withText(value any, sorted bool, use func(text []byte)) {
	memory := jsonTexts.Get().(*[]byte) //nolint:forcetypeassert // the pool holds no other type
	text := appendJSON((*memory)[:0], value, sorted)
	use(text)
	if cap(text) <= maxKept {
		*memory = text
		jsonTexts.Put(memory)
	}
}

func appendJSON(dst []byte, value any, sorted bool) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Number:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case []any:
		return appendList(dst, v, sorted)
	case Mapping:
		return appendMapping(dst, v, sorted)
	}
	panic("document: a value of a type that no document holds")
}

func appendList(dst []byte, list []any, sorted bool) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, item, sorted)
	}
	return append(dst, ']')
}

func appendMapping(dst []byte, m Mapping, sorted bool) []byte {
	if sorted && !slices.IsSortedFunc(m, byKey) {
		m = slices.Clone(m)
		slices.SortFunc(m, byKey)
	}
	dst = append(dst, '{')
	for i, member := range m {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, member.Key), ':')
		dst = appendJSON(dst, member.Value, sorted)
	}
	return append(dst, '}')
}

func byKey(a, b Member) int { return cmp.Compare(a.Key, b.Key) }

// appendString appends a JSON string with as few escapes as possible.
func appendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// holdsNUL reports whether a value has a key or string that contains U+0000.
func holdsNUL(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.IndexByte(v, 0) >= 0
	case []any:
		return slices.ContainsFunc(v, holdsNUL)
	case Mapping:
		return slices.ContainsFunc(v, func(m Member) bool { return holdsNUL(m.Key) || holdsNUL(m.Value) })
	}
	return false
}

// maxBrief bounds the length of quotations in messages, in characters.
const maxBrief = 64

// brief shortens a text for a message.
func brief(s string) string { return words.First(s, maxBrief) }
