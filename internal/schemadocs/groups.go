package schemadocs

import (
	"errors"
	"strings"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// groups adds a section for the property groups of a schema, and keeps their lines for its properties.
func (t *table) groups(of *section) {
	s := &section{level: of.level + 1, title: "Property groups"}
	if !of.schema.hasGroups() || !t.add(s) {
		return
	}
	written := []any{of.schema.At("properties_groups_schema"), of.schema.At("property_groups")}
	t.spend(200*len(document.AppendJSON(nil, written)), 0)
	groups, err := propertygroups.Parse(of.schema.raw)
	if err != nil {
		why := "These groups are malformed, and no document can be judged by them. "
		if wrong, ok := errors.AsType[*propertygroups.Malformed](err); ok && len(wrong.Keyword) > 0 {
			why += "At " + code(strings.Join(wrong.Keyword, "/")) + ": "
		}
		t.say(&s.before, why+prose(err.Error()))
		return
	}
	said := groups.Describe()
	var rules, terms []string
	for i, rule := range said.Rules {
		if t.isFull() {
			said.Omitted += len(said.Rules) - i
			break
		}
		rules = append(rules, t.count("* "+join(" - ", strong(rule.Name), prose(rule.Text))))
	}
	for _, term := range said.Referenced {
		terms = append(terms, join(" = ", strong(term.Name), prose(term.Text)))
	}
	if rules != nil {
		s.before = []string{strings.Join(rules, "\n")}
	}
	t.say(&s.before,
		leftOut(said.Omitted, "group"),
		when(terms != nil, "Terms used above: "+strings.Join(terms, "; ")+"."),
		when(rules == nil && terms == nil, "None."))
	key := &of.schema.raw[0]
	t.crossed[key] = append(t.crossed[key], said.Properties...)
}

// split returns the lines to show with a property. It keeps those about parts of the property if these have rows.
func (t *table) split(of schema, crossed []propertygroups.CrossLines) (lines []string) {
	for range maxNesting {
		if items := t.read(of.At("items"), of); !of.hasSection() && len(items.raw) > 0 {
			of = items
		}
	}
	for _, c := range crossed {
		if len(c.Path) > 0 && of.hasSection() {
			t.crossed[&of.raw[0]] = append(t.crossed[&of.raw[0]], c)
			continue
		}
		prefix := ""
		if len(c.Path) > 0 {
			prefix = strings.Join(c.Path, ".") + ": "
		}
		for _, line := range c.Lines {
			t.spend(100, len(prefix)+len(line))
			lines = append(lines, prefix+line)
		}
	}
	return lines
}
