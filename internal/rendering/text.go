package rendering

import (
	"strconv"
	"strings"
	"unicode"

	"purser/internal/document"
)

// plain formats a value as the replacement of a pattern: a string unchanged, all else as Python prints it
// (spec/rendering.md §8.9).
func plain(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return repr(value)
}

// repr formats a value as Python's repr does.
func repr(value any) string { return string(appendRepr(nil, value)) }

func appendRepr(dst []byte, value any) []byte {
	switch v := value.(type) {
	case bool:
		if v {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case document.Number:
		return append(dst, v...)
	case string:
		return appendQuoted(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			dst = appendRepr(separate(dst, i), item)
		}
		return append(dst, ']')
	case document.Mapping:
		dst = append(dst, '{')
		for i, m := range v {
			dst = append(appendQuoted(separate(dst, i), m.Key), ": "...)
			dst = appendRepr(dst, m.Value)
		}
		return append(dst, '}')
	}
	return append(dst, "None"...)
}

func separate(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ", "...)
}

func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted quotes with ' unless the text has some of them and no ".
func appendQuoted(dst []byte, s string) []byte {
	mark := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = `"`
	}
	dst = append(dst, mark...)
	for _, c := range s {
		switch {
		case c == '\\' || string(c) == mark:
			dst = append(append(dst, '\\'), string(c)...)
		case unicode.IsPrint(c):
			dst = append(dst, string(c)...)
		default:
			dst = appendEscaped(dst, c)
		}
	}
	return append(dst, mark...)
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
