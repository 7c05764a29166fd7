package schemadocs

import (
	"errors"
	"strings"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// groups adds a section for the property groups of a schema and returns the lines for its properties.
func (t *table) groups(s *section, of schema) []propertygroups.CrossLines {
	rules, said := t.rules(of)
	g := &section{Level: s.Level + 1, Heading: plain("Property groups"), Before: rules}
	if rules == nil || !t.add(g) {
		return nil
	}
	if len(said.Rules) > 0 || said.Omitted > 0 {
		g.Before = []item{{Below: rules}}
	}
	var terms []inline
	for _, term := range said.Referenced {
		terms = append(terms, join(" = ", strong(term.Name), prose(term.Text)))
	}
	switch {
	case len(terms) > 0:
		g.Before = say(g.Before, t.count(join("", plain("Terms used above: "), join("; ", terms...), plain("."))))
	case len(rules) == 0:
		g.Before = say(nil, plain("None."))
	}
	return said.Properties
}

// rules describes the groups of a schema (spec/property-groups.md §6), or says why they are malformed. The list is nil
// if there are none.
func (t *table) rules(s schema) (rules []item, said propertygroups.Description) {
	if !s.has("properties_groups_schema") && !s.has("property_groups") {
		return nil, said
	}
	written := []any{s.At("properties_groups_schema"), s.At("property_groups")}
	t.spend(200*len(document.AppendJSON(nil, written)), 0)
	groups, err := propertygroups.Parse(s.raw)
	if err != nil {
		why := plain("These groups are malformed, and no document can be judged by them. ")
		if wrong, ok := errors.AsType[*propertygroups.Malformed](err); ok && len(wrong.Keyword) > 0 {
			why = join("", why, plain("At "), code(strings.Join(wrong.Keyword, "/")), plain(": "))
		}
		return say(nil, t.count(append(why, prose(err.Error())...))), said
	}
	said, rules = groups.Describe(), []item{}
	for i, rule := range said.Rules {
		if t.isFull() {
			said.Omitted += len(said.Rules) - i
			break
		}
		rules = say(rules, t.count(join(" - ", strong(rule.Name), prose(rule.Text))))
	}
	return say(rules, leftOut(said.Omitted, "group", "groups")), said
}

// cross attaches the lines of groups to the properties, here or in sections below. It returns the lines of properties
// that are not declared, by name.
func (t *table) cross(of schema, crossed []propertygroups.CrossLines) (undeclared map[string][]string) {
	undeclared = make(map[string][]string)
	for _, c := range crossed {
		member, rest := t.walk(of, c.Path)
		if member == nil {
			rest = rest[1:]
		}
		prefix := strings.Join(rest, ".")
		for _, line := range c.Lines {
			if prefix != "" {
				line = prefix + ": " + line
			}
			if t.spend(100, len(line)); member != nil {
				t.lines[member] = append(t.lines[member], line)
			} else {
				undeclared[c.Path[0]] = append(undeclared[c.Path[0]], line)
			}
		}
	}
	return undeclared
}

// walk follows a path through properties and list items while they have rows. It returns the last member
// that it found and the rest of the path.
func (t *table) walk(s schema, path []string) (found *document.Member, rest []string) {
	for i, name := range path {
		t.spend(len(s.mapping), 0)
		member := t.member(at[mapping](s, "properties"), name)
		if member == nil {
			return found, path[i:]
		}
		found = member
		s = t.read(member.Value, s)
		for range maxDepth {
			if items := t.held(s, "items"); items.raw != nil {
				s = items
			}
		}
	}
	return found, nil
}
