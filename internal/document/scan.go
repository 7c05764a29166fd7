package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
	if text := s.in[start : s.at-1]; strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return unquoted(s.in[start-1 : s.at])
}

// unquoted returns the text of a JSON string, as encoding/json reads it. It panics if an escape sequence is invalid.
func unquoted(quoted string) (text string) {
	if out, err := jsontext.AppendUnquote(nil, quoted); err == nil {
		return string(out)
	}
	if json.Unmarshal([]byte(quoted), &text) != nil { // it reads half of a surrogate pair as U+FFFD
		panic(errDamaged)
	}
	return text
}
