package schemadocs

import (
	"strings"

	"purser/internal/document"
)

// item is an item of a list, with the list that is below it.
type item struct {
	text  string
	below []item
}

// combinators say what is wanted of the schemas that they hold.
var combinators = map[string]string{
	"allOf": "All of these must hold:",
	"anyOf": "At least one of these must hold:",
	"oneOf": "Exactly one of these must hold:",
	"not":   "This must not hold:",
}

// conditions writes what a section's schema wants besides what its table says.
func (w *writer) conditions(s *section) {
	if _, isRef := reference(s.schema); isRef || isCombination(s.schema) {
		return
	}
	items := w.conditionItems(s.schema, 0, false)
	w.pending = 0
	for _, c := range items {
		w.paragraph(c.text)
		for i, below := range c.below {
			if i == 0 {
				w.buf.WriteByte('\n')
			}
			w.item(below, "")
		}
	}
}

func (w *writer) item(i item, indent string) {
	w.buf.WriteString(indent + "* " + i.text + "\n")
	for _, below := range i.below {
		w.item(below, indent+"  ")
	}
}

// conditionItems are the combinators and the dependencies of a schema. Where it is known by then of which type a value
// is, nobody needs to be told which other ones pass.
func (w *writer) conditionItems(m document.Mapping, depth int, isTyped bool) []item {
	isTyped = isTyped || len(types(m)) > 0
	var items []item
	for _, member := range m {
		switch held := member.Value.(type) {
		case []any:
			if said, ok := combinators[member.Key]; ok && member.Key != "not" && len(held) > 0 {
				items = append(items, item{said, w.branches(held, depth, isTyped)})
			}
		case document.Mapping:
			switch member.Key {
			case "not":
				items = append(items, item{combinators["not"], w.branches([]any{held}, depth, isTyped)})
			case "dependencies":
				items = append(items, w.dependencies(held, depth, isTyped)...)
			}
		}
	}
	return items
}

func (w *writer) dependencies(held document.Mapping, depth int, isTyped bool) []item {
	var items []item
	for _, d := range held {
		if w.hasEnough() {
			return append(items, item{text: tooLong})
		}
		before := "If " + code(d.Key) + " is given, "
		if needed, ok := d.Value.([]any); ok {
			before += w.required(names(needed)) + "."
			w.pending += len(before)
			items = append(items, item{text: before})
			continue
		}
		items = append(items, item{before + "this must hold as well:", w.branches([]any{d.Value}, depth, isTyped)})
	}
	return items
}

const tooLong = "Left out, because this page would be too long: what follows here."

// hasEnough tells whether no more items are wanted, and counts one more.
func (w *writer) hasEnough() bool {
	w.items++
	return w.items > maxItems || w.isFull()
}

func (w *writer) branches(schemas []any, depth int, isTyped bool) []item {
	var items []item
	for _, schema := range schemas {
		if w.hasEnough() || depth > maxNesting {
			return append(items, item{text: tooLong})
		}
		branch := w.branch(schema, depth+1, isTyped)
		w.pending += len(branch.text)
		items = append(items, branch)
	}
	return items
}

// branch says a schema in words, and what does not fit into them in a list below.
func (w *writer) branch(schema any, depth int, isTyped bool) item {
	m, _ := schema.(document.Mapping)
	if s := w.moreOn(schema); s != nil {
		return item{text: w.words(schema, 0) + ", see " + w.link(code(s.path), s)}
	}
	said := item{text: w.phrase(schema, isTyped)}
	if _, isRef := reference(m); !isRef && !isCombination(m) {
		said.below = append(groupItems(m), w.conditionItems(m, depth, isTyped)...)
	}
	switch {
	case said.text == "" && len(said.below) == 1:
		return said.below[0]
	case said.text == "" && said.below == nil:
		said.text = "anything"
	case said.text == "":
		said.text = "all of the following:"
	}
	return said
}

// phrase is what a schema without members and items of its own wants; empty if that is nothing.
func (w *writer) phrase(schema any, isTyped bool) string {
	m, _ := schema.(document.Mapping)
	isTyped = isTyped && isImplied(m)
	var said []string
	if words := w.words(schema, 0); words != "any" && words != various && !isTyped {
		said = append(said, words)
	}
	if _, isRef := reference(m); isRef || m == nil {
		return strings.Join(said, "")
	}
	if said = append(said, w.constraints(m, 0)...); !isTyped {
		said = append(said, unchecked(m)...)
	}
	if needed := names(list(m, "required")); len(needed) > 0 {
		said = append(said, w.required(needed))
	}
	title, _ := m.At("title").(string)
	description, _ := m.At("description").(string)
	wanted := strings.Join(said, "; ")
	if description != "" {
		wanted = sentence(wanted)
	}
	return joined([]string{strong(sentence(oneLine(title))), wanted, text(description)})
}

func (w *writer) required(names []string) string {
	if len(names) == 1 {
		return code(names[0]) + " is required"
	}
	if len(names) == 0 {
		return "nothing more is required"
	}
	return w.codes(names, " and ") + " are required"
}
