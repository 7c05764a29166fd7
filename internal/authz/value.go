package authz

import (
	"errors"
	"strings"
	"unicode"
)

var (
	errValue = errors.New("an expression must be a string or a list of lists of strings")
	errEmpty = errors.New(`no expression; write "@" for always or "!" for never`)
	errItem  = errors.New("an item of a list must be one check; to combine checks, write the whole expression as a string")
)

// parseValue parses an expression in any form that a file may have.
func parseValue(value any) (check, error) {
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
func parseList(list []any) (check, error) {
	if len(list) == 0 {
		return always{}, nil
	}
	var parts orCheck
	for _, item := range list {
		inner, isList := item.([]any)
		if !isList {
			inner = []any{item}
		}
		part, err := parseInner(inner)
		if err != nil {
			return nil, err
		}
		if len(part) > 0 {
			parts = append(parts, simplest(part, part))
		}
	}
	if len(parts) == 0 {
		return never{}, nil
	}
	return simplest(parts, parts), nil
}

func parseInner(list []any) (parts andCheck, err error) {
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, errValue
		}
		if strings.ContainsFunc(text, unicode.IsSpace) {
			return nil, errItem
		}
		part, err := parseCheck(text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// simplest returns the only part if there is just one, otherwise joined.
func simplest(parts []check, joined check) check {
	if len(parts) == 1 {
		return parts[0]
	}
	return joined
}
