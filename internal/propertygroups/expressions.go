package propertygroups

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
)

// Messages about expressions.
const (
	noOperatorKey = "Properties group schema key should be one of the operators: AND, OR, XOR."
	noList        = "Schemas' values should be lists of properties names or nested schemas."
	noPath        = "List items should be properties list-type names with format " +
		`"[prop, prop_child, prop_sub_child, ...]" or nested properties group schemas.`
	tooManyParts = "Properties paths should have at most %d parts."
)

// expressions reads properties_groups_schema.
func (p *parser) expressions(value any) error {
	list, ok := value.([]any)
	if !ok {
		return p.refuse("properties_groups_schema should be a list of groups, found %s instead.", class(value))
	}
	for i, item := range list {
		p.at = []string{expressionsKeyword, strconv.Itoa(i)}
		r, err := p.listed(item)
		if err != nil {
			return err
		}
		if err := p.add(r); err != nil {
			return err
		}
		if err := p.finish(r); err != nil {
			return err
		}
	}
	return nil
}

// listed reads one item of properties_groups_schema.
func (p *parser) listed(item any) (*rule, error) {
	if m, ok := item.(document.Mapping); ok && len(m) == 1 && strings.EqualFold(m[0].Key, "API_VERSIONS") {
		return p.apiVersions(m[0].Value)
	}
	g, err := p.expression(item, 1)
	if err != nil {
		return nil, err
	}
	return &rule{group: g}, nil
}

func (p *parser) expression(value any, depth int) (*group, error) {
	if depth > maxNesting {
		return nil, p.refuse("Groups should be nested at most %d deep.", maxNesting)
	}
	m, err := p.single(value)
	if err != nil {
		return nil, err
	}
	op := operatorOf(m.Key)
	if op == noOperator || op == dependsOn {
		return nil, p.refuse(noOperatorKey)
	}
	items, ok := m.Value.([]any)
	if !ok || len(items) == 0 {
		return nil, p.refuse(noList)
	}
	g := &group{operator: op, operands: make([]operand, len(items)), memo: -1}
	for i, item := range items {
		if g.operands[i], err = p.operand(item, depth); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func operatorOf(word string) operator {
	switch strings.ToUpper(word) {
	case "AND":
		return and
	case "OR":
		return or
	case "XOR":
		return xor
	case "DEPENDS_ON":
		return dependsOn
	}
	return noOperator
}

func (p *parser) operand(item any, depth int) (o operand, err error) {
	if nested, ok := item.(document.Mapping); ok {
		o.group, err = p.expression(nested, depth+1)
	} else {
		o.path, err = p.path(item)
	}
	return o, err
}

// path reads a path in the form of a list.
func (p *parser) path(item any) ([]string, error) {
	parts, ok := item.([]any)
	if !ok || len(parts) == 0 {
		return nil, p.refuse(noPath)
	}
	path := make([]string, len(parts))
	for i, part := range parts {
		path[i], _ = part.(string)
	}
	if slices.Contains(path, "") {
		return nil, p.refuse(noPath)
	}
	if len(path) > maxParts {
		return nil, p.refuse(tooManyParts, maxParts)
	}
	p.addPath(path)
	return path, nil
}
