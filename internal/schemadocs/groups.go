package schemadocs

import (
	"errors"
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// propertyGroups writes the rules of a section's groups (spec/property-groups.md §6).
func (w *writer) propertyGroups(s *section) {
	g := s.groups
	if g == nil {
		return
	}
	w.heading(s.heading+1, "Property groups", g.anchor)
	switch {
	case g.fault != nil:
		w.paragraph(faultText(g.fault))
		return
	case len(g.said.Rules)+len(g.said.Terms)+g.said.Omitted == 0:
		w.paragraph("None.")
	}
	w.rules(g.said)
	w.terms(g.said)
	if g.said.Omitted > 0 {
		w.leftOut(g.said.Omitted, "group, or all here", "groups")
	}
}

func (w *writer) rules(d propertygroups.Description) {
	for i, r := range d.Rules {
		said := "* " + ruleText(r)
		if i == 0 {
			w.paragraph(said)
			continue
		}
		if w.isFull() {
			w.leftOut(len(d.Rules)-i, "group", "groups")
			return
		}
		w.buf.WriteString(said + "\n")
	}
}

func ruleText(r propertygroups.Sentence) string {
	if name := strong(r.Name); name != "" {
		return name + " - " + text(r.Text)
	}
	return text(r.Text)
}

func (w *writer) terms(d propertygroups.Description) {
	var terms []string
	for i, t := range d.Terms {
		if w.pending += len(t.Text); w.isFull() {
			terms = append(terms, fmt.Sprintf("and %d more", len(d.Terms)-i))
			break
		}
		terms = append(terms, strong(t.Name)+" = "+text(t.Text))
	}
	if w.pending = 0; len(terms) > 0 {
		w.paragraph("Terms used above: " + strings.Join(terms, "; ") + ".")
	}
}

func faultText(m *propertygroups.Malformed) string {
	said := "These groups are malformed, and no document can be judged by them. "
	if len(m.Keyword) > 0 {
		said += "At " + code(strings.Join(m.Keyword, "/")) + ": "
	}
	return said + text(m.Message)
}

// groupItems are the rules of a schema that is said in a list.
func groupItems(m document.Mapping) []item {
	read, err := propertygroups.Parse(m)
	if fault, ok := errors.AsType[*propertygroups.Malformed](err); ok {
		return []item{{text: faultText(fault)}}
	}
	if err != nil || read == nil {
		return nil
	}
	said := read.Describe()
	var items []item
	for _, r := range said.Rules {
		items = append(items, item{text: ruleText(r)})
	}
	if said.Omitted > 0 {
		items = append(items, item{text: fmt.Sprintf("and %d more groups", said.Omitted)})
	}
	return items
}
