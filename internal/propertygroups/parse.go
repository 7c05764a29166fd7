package propertygroups

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
)

const (
	expressionsKeyword = "properties_groups_schema"
	namedKeyword       = "property_groups"
)

// Limits of one schema object's groups.
const (
	maxNesting = 1000 // groups within or below one another
	maxParts   = 1000 // of a path
)

// Malformed says why a schema object's groups cannot be used (spec/property-groups.md §3).
type Malformed struct {
	Path    []string // to the schema object within the schema document; empty from Parse
	Keyword []string // from that object to the group: "property_groups", "2", "either"
	Message string
}

func (m *Malformed) Error() string { return m.Message }

// Parse reads the groups of one schema object, which is given whole: what it declares decides which names are known.
// It returns nil if the object has neither keyword, and a *Malformed error for the first fault in declared order.
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
	declared *shape            // the schema object
	at       []string          // the keyword's part that is being read
	known    map[string]*group // the named groups, read or not
	paths    [][]string        // of the rule that is being read
	parts    map[string]string // of paths, each kept once: equal ones are compared in no time
}

// note keeps a path of the rule that is being read.
func (p *parser) note(path []string) {
	for i, part := range path {
		kept, ok := p.parts[part]
		if !ok {
			kept = part
			p.parts[part] = part
		}
		path[i] = kept
	}
	p.paths = append(p.paths, path)
}

func (p *parser) refuse(format string, args ...any) error {
	said := fmt.Sprintf("Properties group schema incorrectly specified. "+format, args...)
	return &Malformed{Keyword: p.at, Message: cut(said, maxMessage)}
}

// add adds a rule whose group is read, once its paths are known to be possible.
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

// finish settles a rule's group, and notes which lists it is judged for.
func (p *parser) finish(r *rule) error {
	s := settler{parser: p}
	if err := s.settle(r.group); err != nil {
		return err
	}
	r.each = p.declared.lists(r.group.common)
	return nil
}

// single returns the only member of what should be a one-key mapping.
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
	said := make([]string, len(keys))
	for i, key := range keys {
		said[i] = quoted(key)
	}
	return p.refuse("Unknown key(s) [%s]", strings.Join(said, ", "))
}

// quoted writes a text as Python's repr does, control characters aside.
func quoted(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"`
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// class names the type of a value as Python does.
func class(value any) string {
	name := "dict"
	switch v := value.(type) {
	case nil:
		name = "NoneType"
	case bool:
		name = "bool"
	case string:
		name = "str"
	case []any:
		name = "list"
	case document.Number:
		if name = "int"; strings.ContainsAny(string(v), ".eE") {
			name = "float"
		}
	}
	return "<class '" + name + "'>"
}
