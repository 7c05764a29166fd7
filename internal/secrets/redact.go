package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"purser/internal/document"
)

// Redacted returns the text that answers show in place of a value with cleartext-secrets=false: the hex SHA-256 of its
// JSON text as Python's json.dumps writes it. That escapes everything but ASCII, keeps the order of members and quotes
// strings.
func Redacted(value any) string {
	sum := sha256.Sum256(appendPython(nil, value))
	return hex.EncodeToString(sum[:])
}

func appendPython(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case document.Number:
		return append(dst, v...)
	case string:
		return appendPythonString(dst, v)
	case []any:
		return appendPythonList(dst, v)
	case document.Mapping:
		return appendPythonMapping(dst, v)
	}
	panic("secrets: a value of a type that no document holds")
}

func appendPythonList(dst []byte, list []any) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendPython(dst, item)
	}
	return append(dst, ']')
}

func appendPythonMapping(dst []byte, m document.Mapping) []byte {
	dst = append(dst, '{')
	for i, member := range m {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendPythonString(dst, member.Key), ": "...)
		dst = appendPython(dst, member.Value)
	}
	return append(dst, '}')
}

func appendPythonString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		dst = appendPythonRune(dst, r)
	}
	return append(dst, '"')
}

func appendPythonRune(dst []byte, r rune) []byte {
	const short, letters = "\"\\\n\r\t\b\f", `"\nrtbf` // escaped by a letter
	if n := strings.IndexRune(short, r); n >= 0 {
		return append(dst, '\\', letters[n])
	}
	if r >= ' ' && r <= '~' {
		return append(dst, byte(r))
	}
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return appendEscape(appendEscape(dst, high), low)
	}
	return appendEscape(dst, r)
}

// appendEscape appends \uXXXX.
func appendEscape(dst []byte, unit rune) []byte {
	const hexDigits = "0123456789abcdef"
	return append(dst, '\\', 'u', hexDigits[unit>>12&15], hexDigits[unit>>8&15], hexDigits[unit>>4&15], hexDigits[unit&15])
}
