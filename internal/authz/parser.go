package authz

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNesting bounds the depth of parentheses and "not", and the length of a chain of rules that refer to each other,
// because both are evaluated recursively.
const maxNesting = 100

// parseText parses an expression written as a string.
func parseText(text string) (check, error) {
	if text == "" {
		return always{}, nil
	}
	p := &parser{text: text}
	p.advance()
	parsed, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.now.kind == closing:
		return nil, p.refuse("a ) without its (")
	case p.now.kind != end:
		return nil, p.refuse("%s follows a check without \"and\" or \"or\" between them", quote(p.now.text))
	}
	return parsed, nil
}

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	end tokenKind = iota
	opening
	closing
	and
	or
	not
	word // a check
)

type token struct {
	kind tokenKind
	text string
	at   int // offset of its first byte in the text
}

// parser is a recursive descent parser with one token of lookahead.
type parser struct {
	text  string
	at    int
	now   token
	depth int
}

// advance reads the next token. A word ends at white space. Parentheses at its start and end are tokens of their own.
func (p *parser) advance() {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
	p.now = token{at: p.at}
	if p.at == len(p.text) {
		return
	}
	switch p.text[p.at] {
	case '(':
		p.now.kind, p.now.text = opening, "("
	case ')':
		p.now.kind, p.now.text = closing, ")"
	default:
		p.now.text = wordAt(p.text[p.at:])
		p.now.kind = kindOf(p.now.text)
	}
	p.at += len(p.now.text)
}

func wordAt(text string) string {
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		text = text[:i]
	}
	return strings.TrimRight(text, ")")
}

func kindOf(text string) tokenKind {
	switch strings.ToLower(text) {
	case "and":
		return and
	case "or":
		return or
	case "not":
		return not
	}
	return word
}

func (p *parser) or() (check, error) {
	parts, err := p.chain(or, p.and)
	if len(parts) == 1 {
		return parts[0], err
	}
	return orCheck(parts), err
}

func (p *parser) and() (check, error) {
	parts, err := p.chain(and, p.operand)
	if len(parts) == 1 {
		return parts[0], err
	}
	return andCheck(parts), err
}

// chain parses one or more parts, separated by operator.
func (p *parser) chain(operator tokenKind, part func() (check, error)) (parts []check, err error) {
	for {
		next, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, next)
		if p.now.kind != operator {
			return parts, nil
		}
		p.advance()
	}
}

// operand parses a check, an expression in parentheses, or "not" followed by either.
func (p *parser) operand() (check, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.refuse("nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	switch p.now.kind {
	case word:
		return p.check()
	case opening:
		return p.group()
	case not:
		p.advance()
		negated, err := p.operand()
		return notCheck{negated}, err
	case end:
		return nil, p.refuse("a check is missing at the end")
	case closing, and, or:
	}
	return nil, p.refuse("a check is missing before %s", quote(p.now.text))
}

func (p *parser) check() (check, error) {
	parsed, err := parseCheck(p.now.text)
	if err != nil {
		return nil, p.refuse("%w", err)
	}
	p.advance()
	return parsed, nil
}

func (p *parser) group() (check, error) {
	opened := p.now
	p.advance()
	inner, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.now.kind == end:
		p.now = opened
		return nil, p.refuse("a ( without its )")
	case p.now.kind != closing:
		return nil, p.refuse("%s follows a check without \"and\" or \"or\" between them", quote(p.now.text))
	}
	p.advance()
	return inner, nil
}

// refuse returns an error with the position of the current token.
func (p *parser) refuse(format string, args ...any) error {
	return fmt.Errorf("character %d: %w", 1+utf8.RuneCountInString(p.text[:p.now.at]), fmt.Errorf(format, args...))
}
