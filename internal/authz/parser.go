package authz

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNesting bounds the depth of parentheses and "not", and the length of a chain of rules that refer to each other,
// because both are evaluated recursively.
const maxNesting = 100

var (
	errValue = errors.New("an expression must be a string or a list of lists of strings")
	errEmpty = errors.New(`no expression; write "@" for always or "!" for never`)
	errItem  = errors.New("an item of a list must be one check; to combine checks, write the whole expression as a string")
)

// parseValue parses an expression in any form that a file may have.
func parseValue(value any) (*check, error) {
	switch v := value.(type) {
	case nil:
		return nil, errEmpty
	case string:
		return parseText(v)
	case []any:
		return parseList(v)
	}
	return nil, errValue
}

// parseList parses the old form, in which the outer list means "or" and inner lists mean "and". An empty outer list
// means always. Empty inner lists are ignored; if there are no others, the expression means never.
func parseList(list []any) (*check, error) {
	if len(list) == 0 {
		return &check{kind: always}, nil
	}
	var parts []*check
	for _, item := range list {
		inner, isList := item.([]any)
		if !isList {
			inner = []any{item}
		}
		var all []*check
		for _, item := range inner {
			text, ok := item.(string)
			switch {
			case !ok:
				return nil, errValue
			case strings.ContainsFunc(text, unicode.IsSpace):
				return nil, errItem
			}
			part, err := parseCheck(text)
			if err != nil {
				return nil, err
			}
			all = append(all, part)
		}
		if len(all) > 0 {
			parts = append(parts, joined(and, all))
		}
	}
	if len(parts) == 0 {
		return &check{kind: never}, nil
	}
	return joined(or, parts), nil
}

// parseText parses an expression written as a string.
func parseText(text string) (*check, error) {
	if text == "" {
		return &check{kind: always}, nil
	}
	p := &parser{text: text}
	p.advance()
	parsed, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.token == ")":
		return nil, p.refuse("a ) without its (")
	case p.token != "":
		return nil, p.refuse("%s follows a check without \"and\" or \"or\" between them", quote(p.token))
	}
	return parsed, nil
}

// parser is a recursive descent parser with one token of lookahead.
type parser struct {
	text  string
	token string // a parenthesis, an operator or a check; "" at the end
	at    int    // offset of the token
	depth int
}

// advance reads the next token. A word ends at white space. Parentheses at its start and end are tokens of their own.
func (p *parser) advance() {
	rest := strings.TrimLeftFunc(p.text[p.at+len(p.token):], unicode.IsSpace)
	p.at = len(p.text) - len(rest)
	if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ")") {
		p.token = rest[:1]
		return
	}
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		rest = rest[:i]
	}
	p.token = strings.TrimRight(rest, ")")
}

func (p *parser) or() (*check, error)  { return p.chain(or, "or", p.and) }
func (p *parser) and() (*check, error) { return p.chain(and, "and", p.operand) }

// chain parses one or more parts, separated by operator.
func (p *parser) chain(of kind, operator string, part func() (*check, error)) (*check, error) {
	var parts []*check
	for {
		next, err := part()
		if err != nil {
			return nil, err
		}
		if parts = append(parts, next); strings.ToLower(p.token) != operator {
			return joined(of, parts), nil
		}
		p.advance()
	}
}

// operand parses a check, an expression in parentheses, or "not" followed by either.
func (p *parser) operand() (*check, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.refuse("nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	switch strings.ToLower(p.token) {
	case "":
		return nil, p.refuse("a check is missing at the end")
	case ")", "and", "or":
		return nil, p.refuse("a check is missing before %s", quote(p.token))
	case "(":
		return p.group()
	case "not":
		p.advance()
		negated, err := p.operand()
		return &check{kind: not, parts: []*check{negated}}, err
	}
	parsed, err := parseCheck(p.token)
	if err != nil {
		return nil, p.refuse("%w", err)
	}
	p.advance()
	return parsed, nil
}

func (p *parser) group() (*check, error) {
	opened := p.at
	p.advance()
	inner, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.token == "":
		p.at = opened
		return nil, p.refuse("a ( without its )")
	case p.token != ")":
		return nil, p.refuse("%s follows a check without \"and\" or \"or\" between them", quote(p.token))
	}
	p.advance()
	return inner, nil
}

// refuse returns an error with the position of the current token.
func (p *parser) refuse(format string, args ...any) error {
	return fmt.Errorf("character %d: %w", 1+utf8.RuneCountInString(p.text[:p.at]), fmt.Errorf(format, args...))
}

// parseCheck parses a single check, without operators.
func parseCheck(text string) (*check, error) {
	switch text {
	case "@":
		return &check{kind: always}, nil
	case "!":
		return &check{kind: never}, nil
	}
	key, value, found := strings.Cut(text, ":")
	lower := strings.ToLower(key)
	switch {
	case !found || key == "" || value == "":
		return nil, fmt.Errorf("%s is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE", quote(text))
	case key == "rule":
		return &check{kind: reference, key: key, value: value}, nil
	case key == "http" || key == "https":
		return nil, fmt.Errorf("%s checks are not supported: no other server is asked who may do what", key)
	case key != lower && (lower == "role" || lower == "rule"):
		return nil, fmt.Errorf("%s must be in small letters", quote(key))
	}
	if err := checkValue(value); err != nil {
		return nil, fmt.Errorf("%s: %w", quote(text), err)
	}
	of, err := kindOf(key)
	return &check{kind: of, key: key, value: value}, err
}

var errQuotes = errors.New("a quoted text must end before the colon, as in 'text':%(project_id)s, " +
	"and quotes around a whole check are not read")

// kindOf returns the kind of a check by its key: role, the name of a credential, or one of the supported Python
// constants, which are quoted strings, integers, booleans and None.
func kindOf(key string) (kind, error) {
	end := len(key) - 1
	switch {
	case key == "role":
		return role, nil
	case key[0] == '\'' || key[0] == '"':
		if end == 0 || key[end] != key[0] || strings.ContainsAny(key[1:end], `'"\`) {
			return literal, errQuotes
		}
		return literal, nil
	case strings.Trim(key, "0123456789") == "", key == "True", key == "False", key == none:
		return literal, nil
	}
	if i := strings.IndexAny(key, `()%"'`); i >= 0 {
		return credential, fmt.Errorf("a %c in %s, which is not a key of a credential", key[i], quote(key))
	}
	return credential, checkKnown(credentials, "a caller", key)
}
