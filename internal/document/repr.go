package document

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The functions in this file write values as Python's repr does, in which Deckhand's messages and texts show them.
// Those with Append in their names stop soon after the buffer has more than most bytes, so that the work is bounded
// however large the value is.

// Repr returns a value as Python writes it.
func Repr(value any) string { return string(AppendRepr(nil, value, math.MaxInt)) }

// Quote returns a string as Python writes it.
func Quote(s string) string { return string(AppendQuoted(nil, s, math.MaxInt)) }

// TypeName returns Python's name for the type of a value.
func TypeName(value any) string {
	switch v := value.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case Number:
		if v.IsFloat() {
			return "float"
		}
		return "int"
	case string:
		return "str"
	case []any:
		return "list"
	}
	return "dict"
}

// AppendRepr appends a value.
func AppendRepr(dst []byte, value any, most int) []byte {
	switch v := value.(type) {
	case bool:
		if v {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case Number:
		return append(dst, v...)
	case string:
		return AppendQuoted(dst, v, most)
	case []any:
		return append(AppendReprs(append(dst, '['), v, most), ']')
	case Mapping:
		return append(appendMembers(append(dst, '{'), v, most), '}')
	}
	return append(dst, "None"...)
}

// AppendReprs appends items, separated by commas.
func AppendReprs(dst []byte, items []any, most int) []byte {
	for i, item := range items {
		if len(dst) > most {
			break
		}
		dst = AppendRepr(separated(dst, i), item, most)
	}
	return dst
}

func appendMembers(dst []byte, m Mapping, most int) []byte {
	for i, member := range m {
		if len(dst) > most {
			break
		}
		dst = append(AppendQuoted(separated(dst, i), member.Key, most), ": "...)
		dst = AppendRepr(dst, member.Value, most)
	}
	return dst
}

func separated(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ", "...)
}

// AppendQuoted appends a string in single quotes, or in double quotes if that avoids escapes.
func AppendQuoted(dst []byte, s string, most int) []byte {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	dst = append(dst, byte(mark))
	for _, c := range s {
		if len(dst) > most {
			break
		}
		switch {
		case c == '\\' || c == mark:
			dst = utf8.AppendRune(append(dst, '\\'), c)
		case unicode.IsPrint(c): // approximates str.isprintable()
			dst = utf8.AppendRune(dst, c)
		default:
			dst = appendEscaped(dst, c)
		}
	}
	return append(dst, byte(mark))
}

func appendEscaped(dst []byte, c rune) []byte {
	switch c {
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	mark, width := byte('U'), 8
	switch {
	case c <= 0xff:
		mark, width = 'x', 2
	case c <= 0xffff:
		mark, width = 'u', 4
	}
	digits := strconv.FormatInt(int64(c), 16)
	dst = append(dst, '\\', mark)
	dst = append(dst, strings.Repeat("0", width-len(digits))...)
	return append(dst, digits...)
}
