package yaql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/runenames"
)

// Engine is a variant of the language.
type Engine uint8

// The engines.
const (
	MPL Engine = iota // MuranoPL: with the operator "is", and ":" for namespaces
	UI                // forms of the dashboard
)

type kind uint8

const (
	end      kind = iota // of the text
	variable             // $x
	number
	function // name(
	operator // also those that are words
	constant // true, false, null
	name
	text      // a string
	delimiter // ) ] , } ( [ {
)

// token is a part of an expression.
type token struct {
	kind kind
	text string // as written; for a function its name
	pos  int    // position in characters
}

// Error is a syntax error in an expression.
type Error struct {
	Pos   int    // in characters, from 0; -1 at the end of the text
	Token string // the unexpected token; "" at the end of the text
}

func (e *Error) Error() string {
	if e.Pos < 0 {
		return "unexpected end"
	}
	return fmt.Sprintf("unexpected %q at position %d", e.Token, e.Pos)
}

// lexer splits a text into tokens one at a time, so that an earlier error of the grammar is reported first.
type lexer struct {
	in     string
	at     int // in bytes
	pos    int // in characters
	engine Engine
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// words are the operators and constants that are words.
var words = map[string]kind{
	"mod": operator, "not": operator, "and": operator, "in": operator, "or": operator,
	"true": constant, "false": constant, "null": constant,
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	l.skip(len(l.in) - l.at - len(strings.TrimLeft(l.in[l.at:], " \t\r\n")))
	rest := l.in[l.at:]
	if rest == "" {
		return token{kind: end, pos: -1}, nil
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '$':
		return l.take(variable, size+wordLength(rest[size:])), nil
	case unicode.IsDigit(r):
		if n := numberLength(rest); n > 0 {
			return l.take(number, n), nil
		}
		return token{}, l.unexpected()
	case isWord(r):
		return l.word(rest)
	case r == '\'' || r == '"' || r == '`':
		n := stringLength(rest)
		if n == 0 || r != '`' && !validEscapes(rest[1:n-1]) {
			return token{}, l.unexpected()
		}
		return l.take(text, n), nil
	}
	if len(rest) > 1 && slices.Contains([]string{"?.", "=~", "!~", "->", "=>", ">=", "<=", "!="}, rest[:2]) {
		return l.take(operator, 2), nil
	}
	if r == ':' && l.engine == MPL || strings.ContainsRune(".+-*/><=", r) {
		return l.take(operator, 1), nil
	}
	if strings.ContainsRune("()[]{},", r) {
		return l.take(delimiter, 1), nil
	}
	return token{}, l.unexpected()
}

// take returns the next n bytes as a token.
func (l *lexer) take(kind kind, n int) token {
	t := token{kind: kind, text: l.in[l.at : l.at+n], pos: l.pos}
	l.skip(n)
	return t
}

func (l *lexer) skip(n int) {
	l.pos += utf8.RuneCountInString(l.in[l.at : l.at+n])
	l.at += n
}

func (l *lexer) unexpected() error {
	r, size := utf8.DecodeRuneInString(l.in[l.at:])
	if r == utf8.RuneError {
		return &Error{Pos: l.pos, Token: l.in[l.at : l.at+size]}
	}
	return &Error{Pos: l.pos, Token: string(r)}
}

// word returns a function, an operator, a constant or a name.
func (l *lexer) word(rest string) (token, error) {
	n := wordLength(rest)
	if strings.HasPrefix(rest[n:], "(") {
		t := l.take(function, n+1)
		t.text = t.text[:n]
		return t, nil
	}
	if strings.HasPrefix(rest, "__") {
		return token{}, l.unexpected()
	}
	kind, known := words[rest[:n]]
	switch {
	case l.engine == MPL && rest[:n] == "is":
		kind = operator
	case !known:
		kind = name
	}
	return l.take(kind, n), nil
}

func wordLength(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) }); i >= 0 {
		return i
	}
	return len(s)
}

func digitsLength(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// numberLength returns the length of the number at the beginning of a text, or 0 if there is none. A number must not be
// followed directly by a word.
func numberLength(s string) int {
	whole := digitsLength(s)
	if strings.HasPrefix(s[whole:], ".") {
		fraction := digitsLength(s[whole+1:])
		if n := whole + 1 + fraction; fraction > 0 && !startsWord(s[n:]) {
			return n
		}
	}
	if startsWord(s[whole:]) {
		return 0
	}
	return whole
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWord(r)
}

// stringLength returns the length of the string at the beginning of a text, or 0 if it is not terminated.
func stringLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case s[0]:
			return i + 1
		case '\\':
			if i++; i < len(s) && s[i] == '\n' {
				return 0
			}
		}
	}
	return 0
}

// validEscapes reports whether the library can decode the escapes of a string.
func validEscapes(s string) bool {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return true
		}
		escape := s[i+1]
		s = s[i+2:]
		switch escape {
		case 'x', 'u', 'U':
			digits, all := firstRunes(s, map[byte]int{'x': 2, 'u': 4, 'U': 8}[escape])
			if !all {
				continue // it is kept as written
			}
			if code, err := strconv.ParseUint(digits, 16, 32); err != nil || code > unicode.MaxRune {
				return false
			}
			s = s[len(digits):]
		case 'N':
			inside, after, closed := strings.Cut(s, "}")
			if !closed || !strings.HasPrefix(inside, "{") || inside == "{" {
				continue
			}
			if !isCharacter(inside[1:]) {
				return false
			}
			s = after
		}
	}
}

// firstRunes returns the first n characters of a text, and whether its first line has that many.
func firstRunes(s string, n int) (string, bool) {
	for i, r := range s {
		if n == 0 {
			return s[:i], true
		}
		if r == '\n' {
			return "", false
		}
		n--
	}
	return s, n == 0
}

// characters returns the set of names of Unicode characters.
var characters = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		switch name := runenames.Name(r); {
		case name == "":
		case strings.HasPrefix(name, "<CJK Ideograph"):
			names[fmt.Sprintf("CJK UNIFIED IDEOGRAPH-%X", r)] = true
		case name[0] != '<':
			names[name] = true
		}
	}
	return names
})

// isCharacter reports whether a name is that of a Unicode character.
func isCharacter(name string) bool { return characters()[strings.ToUpper(name)] }
