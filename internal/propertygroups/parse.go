package propertygroups

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

const (
	expressionsKeyword = "properties_groups_schema"
	namedKeyword       = "property_groups"
)

// Limits of one schema object's groups.
const (
	maxNesting = 1000 // of groups
	maxParts   = 1000 // of a path
)

// Malformed is the error of groups that cannot be used.
type Malformed struct {
	Keyword []string // path from the schema object to the group: "property_groups", "2", "either"
	Message string
}

func (m *Malformed) Error() string { return m.Message }

// Parse parses the groups of one schema object. Their names must agree with the properties that the object declares. It
// returns nil if the object has neither keyword, and a *Malformed error for the first fault in declared order.
func Parse(schema document.Mapping) (*Groups, error) {
	if !holdsKeyword(schema) {
		return nil, nil
	}
	p := &parser{groups: new(Groups), declared: shapeOf(schema), parts: make(map[string]string)}
	for _, m := range schema {
		p.at = []string{m.Key}
		var err error
		switch m.Key {
		case expressionsKeyword:
			err = p.expressions(m.Value)
		case namedKeyword:
			err = p.named(m.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	return p.groups, nil
}

func holdsKeyword(schema document.Mapping) bool {
	for _, m := range schema {
		if m.Key == expressionsKeyword || m.Key == namedKeyword {
			return true
		}
	}
	return false
}

// parser reads the groups of one schema object.
type parser struct {
	groups   *Groups
	declared *shape            // of the schema object
	at       []string          // path to the current value
	paths    [][]string        // of the rule that is being read
	parts    map[string]string // interned parts of paths, so that equal ones compare fast

	groupsByName map[string]*group // read or not
}

// addPath adds a path to the rule that is being read, and interns its parts.
func (p *parser) addPath(path []string) {
	for i, part := range path {
		interned, ok := p.parts[part]
		if !ok {
			interned = part
			p.parts[part] = part
		}
		path[i] = interned
	}
	p.paths = append(p.paths, path)
}

func (p *parser) refuse(format string, args ...any) error {
	message := fmt.Sprintf("Properties group schema incorrectly specified. "+format, args...)
	return &Malformed{Keyword: p.at, Message: words.FirstBytes(message, maxMessage)}
}

// add checks the paths of a rule against the declared properties and adds the rule.
func (p *parser) add(r *rule) error {
	r.keyword = slices.Clip(p.at) // callers may append to it
	for _, path := range p.paths {
		if n, closed := p.declared.walk(path); closed {
			return p.refuse("Unknown Property %s", strings.Join(path[:n+1], "."))
		}
	}
	p.paths = p.paths[:0]
	p.groups.rules = append(p.groups.rules, r)
	return nil
}

// finish analyzes a rule's group and finds the lists that the rule is checked for.
func (p *parser) finish(r *rule) error {
	s := analyzer{parser: p}
	if err := s.analyze(r.group); err != nil {
		return err
	}
	r.each = p.declared.lists(r.group.common)
	return nil
}

// single returns the only member of a mapping that should have one key.
func (p *parser) single(value any) (document.Member, error) {
	m, ok := value.(document.Mapping)
	switch {
	case !ok:
		return document.Member{}, p.refuse("Schema should be a mapping, found %s instead.", class(value))
	case len(m) != 1:
		return document.Member{}, p.refuse("Schema should be one-key dict.")
	}
	return m[0], nil
}

func (p *parser) unknownKeys(keys []string) error {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = quoted(key)
	}
	return p.refuse("Unknown key(s) [%s]", strings.Join(names, ", "))
}

// quoted quotes a string as Python's repr does, except for control characters.
func quoted(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"`
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// class returns the class of a value as Python writes it.
func class(value any) string { return "<class '" + document.TypeName(value) + "'>" }
