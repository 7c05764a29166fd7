package authz

import (
	"errors"
	"fmt"
	"strings"

	"purser/internal/words"
)

var errQuotes = errors.New("a quoted text must end before the colon, as in 'text':%(project_id)s, " +
	"and quotes around a whole check are not read")

// parseCheck parses a single check, without operators.
func parseCheck(text string) (check, error) {
	switch text {
	case "@":
		return always{}, nil
	case "!":
		return never{}, nil
	}
	kind, value, found := strings.Cut(text, ":")
	switch {
	case !found || kind == "" || value == "":
		return nil, fmt.Errorf("%s is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE", quote(text))
	case kind == "rule":
		return &ruleCheck{name: value}, nil
	case kind == "http" || kind == "https":
		return nil, fmt.Errorf("%s checks are not supported: no other server is asked who may do what", kind)
	}
	if lower := strings.ToLower(kind); lower == "role" && kind != lower || lower == "rule" {
		return nil, fmt.Errorf("%s must be in small letters", quote(kind))
	}
	t, err := parseTemplate(value)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", quote(text), err)
	case kind == "role":
		return roleCheck{t}, nil
	}
	return parseGeneric(kind, t)
}

// parseGeneric parses a check whose kind is a constant or the name of a credential.
func parseGeneric(kind string, value template) (check, error) {
	text, isLiteral, err := parseLiteral(kind)
	switch {
	case err != nil:
		return nil, err
	case isLiteral:
		return literalCheck{written: kind, text: text, value: value}, nil
	}
	if i := strings.IndexAny(kind, `()%"'`); i >= 0 {
		return nil, fmt.Errorf("a %c in %s, which is not a key of a credential", kind[i], quote(kind))
	}
	return credentialCheck{key: kind, value: value}, checkKnown(credentials, "a caller", kind)
}

// parseLiteral parses the supported Python constants: quoted strings, integers, booleans and None.
func parseLiteral(kind string) (text string, isLiteral bool, err error) {
	if kind[0] == '\'' || kind[0] == '"' {
		end := len(kind) - 1
		if end == 0 || kind[end] != kind[0] || strings.ContainsAny(kind[1:end], `'"\`) {
			return "", false, errQuotes
		}
		return kind[1:end], true, nil
	}
	isNumber := strings.Trim(kind, "0123456789") == ""
	return kind, isNumber || kind == "True" || kind == "False" || kind == none, nil
}

// quote quotes a part of a policy file for a message and shortens it if it is long.
func quote(text string) string {
	const maxLength = 80
	return fmt.Sprintf("%q", words.First(text, maxLength))
}
