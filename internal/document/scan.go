package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseJSON parses JSON text that this package wrote. It does not check limits, the form of numbers, or duplicate keys.
// The value shares the memory of one copy of the text.
func ParseJSON(text []byte) (value any, err error) {
	s := scanner{in: string(text)}
	defer func() {
		if p := recover(); p != nil { // also if an index is out of range
			value, err = nil, fmt.Errorf("JSON text is damaged at byte %d of %d", s.at, len(s.in))
		}
	}()
	value = s.value()
	if s.space(); s.at < len(s.in) {
		return nil, fmt.Errorf("JSON text goes on at byte %d", s.at)
	}
	return value, nil
}

var errDamaged = errors.New("damaged")

// scanner parses JSON text in one pass. It panics if the text is damaged.
type scanner struct {
	in string
	at int
}

func (s *scanner) space() {
	for s.at < len(s.in) && (s.in[s.at] == ' ' || s.in[s.at] == '\n' || s.in[s.at] == '\t' || s.in[s.at] == '\r') {
		s.at++
	}
}

func (s *scanner) value() any {
	s.space()
	switch s.in[s.at] {
	case '{':
		return s.mapping()
	case '[':
		return s.list()
	case '"':
		return s.str()
	case 'n':
		s.word("null")
		return nil
	case 't':
		s.word("true")
		return true
	case 'f':
		s.word("false")
		return false
	}
	return s.number()
}

func (s *scanner) word(word string) {
	if !strings.HasPrefix(s.in[s.at:], word) {
		panic(errDamaged)
	}
	s.at += len(word)
}

func (s *scanner) number() Number {
	start := s.at
	for s.at < len(s.in) && strings.IndexByte("+-.eE0123456789", s.in[s.at]) >= 0 {
		s.at++
	}
	if s.at == start {
		panic(errDamaged)
	}
	return Number(s.in[start:s.at])
}

// more skips the opening bracket or a comma, and reports whether an item follows.
func (s *scanner) more(first bool, end byte) bool {
	if first {
		s.at++
	}
	s.space()
	switch c := s.in[s.at]; {
	case c == end:
		s.at++
		return false
	case !first && c == ',':
		s.at++
		s.space()
	case !first:
		panic(errDamaged)
	}
	return true
}

func (s *scanner) mapping() Mapping {
	m := Mapping{}
	for first := true; s.more(first, '}'); first = false {
		key := s.str()
		s.space()
		s.word(":")
		m = append(m, Member{key, s.value()})
	}
	return m
}

func (s *scanner) list() []any {
	list := []any{}
	for first := true; s.more(first, ']'); first = false {
		list = append(list, s.value())
	}
	return list
}

func (s *scanner) str() string {
	s.word(`"`)
	start := s.at
	for ended := false; !ended; {
		quote := strings.IndexByte(s.in[s.at:], '"')
		if quote < 0 {
			panic(errDamaged)
		}
		s.at += quote + 1
		before := s.in[start : s.at-1]
		ended = (len(before)-len(strings.TrimRight(before, `\`)))%2 == 0 // it is not escaped
	}
	if text := s.in[start : s.at-1]; strings.IndexByte(text, '\\') >= 0 {
		return unescaped(text)
	}
	return s.in[start : s.at-1]
}

// unescaped returns the text between the quotes of a JSON string, as encoding/json reads it. It panics if an escape
// sequence is invalid.
func unescaped(text string) string {
	out := make([]byte, 0, len(text))
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 {
			return string(append(out, text...))
		}
		out = append(out, text[:at]...)
		escape := text[at+1]
		text = text[at+2:]
		if escape == 'u' {
			var char rune
			char, text = escapedRune(text)
			out = utf8.AppendRune(out, char)
			continue
		}
		char := strings.IndexByte(`"\/bfnrt`, escape)
		if char < 0 {
			panic(errDamaged)
		}
		out = append(out, "\"\\/\b\f\n\r\t"[char])
	}
}

// escapedRune returns the character whose \u escape sequence text continues, two of them for a surrogate pair, and the
// rest of the text. A surrogate without its other half is U+FFFD.
func escapedRune(text string) (char rune, rest string) {
	const digits = 4
	hex := func(text string) rune {
		code, err := strconv.ParseUint(text[:digits], 16, 16)
		if err != nil {
			panic(err)
		}
		return rune(code)
	}
	char, rest = hex(text), text[digits:]
	if !utf16.IsSurrogate(char) {
		return char, rest
	}
	if low, isEscape := strings.CutPrefix(rest, `\u`); isEscape {
		if pair := utf16.DecodeRune(char, hex(low)); pair != utf8.RuneError {
			return pair, low[digits:]
		}
	}
	return utf8.RuneError, rest
}
