package schemadocs

import (
	"fmt"

	"purser/internal/document"
)

// combinators say what is wanted of the schemas that they hold.
var combinators = map[string]string{
	"allOf": "All of these must hold:",
	"anyOf": "At least one of these must hold:",
	"oneOf": "Exactly one of these must hold:",
	"not":   "This must not hold:",
}

// conditioner puts the conditions of one schema into words.
type conditioner struct {
	*table

	in      *section
	path    string
	isTyped bool // the type of a value is known by then, so the other ones that pass are not mentioned
	depth   int  // of the sections that are needed
	nesting int  // of lists
	options int  // that were numbered
}

// conditions are the combinators and the dependencies of a schema.
func (c *conditioner) conditions(m document.Mapping) []item {
	c.isTyped = c.isTyped || len(types(m)) > 0
	var items []item
	for _, member := range m {
		several, _ := member.Value.([]any)
		held, isMapping := member.Value.(document.Mapping)
		switch said := combinators[member.Key]; {
		case said != "" && len(several) > 0 && member.Key != "not":
			items = append(items, item{plain(said), c.alternatives(several)})
		case member.Key == "not" && isMapping:
			items = append(items, item{plain(said), c.branch(held, " (not)")})
		case member.Key == "dependencies":
			items = append(items, c.dependencies(held)...)
		}
	}
	return items
}

func (c *conditioner) alternatives(schemas []any) []item {
	var items []item
	for _, schema := range schemas {
		if c.isFull() {
			return append(items, tooLong()...)
		}
		c.options++
		items = append(items, c.branch(schema, fmt.Sprintf(" (option %d)", c.options))...)
	}
	return items
}

func tooLong() []item {
	return []item{{Text: plain("Left out, because this page would be too long: what follows here.")}}
}

func (c *conditioner) dependencies(held document.Mapping) []item {
	var items []item
	for _, d := range held {
		if c.isFull() {
			return append(items, tooLong()...)
		}
		before := join("", plain("If "), code(d.Key), plain(" is given, "))
		if needed, ok := d.Value.([]any); ok {
			items = append(items, item{Text: c.count(join("", before, required(names(needed)), plain(".")))})
			continue
		}
		said := c.count(join("", before, plain("this must hold as well:")))
		items = append(items, item{said, c.branch(d.Value, " (with "+tail(d.Key)+")")})
	}
	return items
}

// branch says a schema in words, and what does not fit into them in a list below or in a section.
func (c *conditioner) branch(schema any, suffix string) []item {
	m, _ := schema.(document.Mapping)
	if c.nesting > maxNesting || c.isFull() {
		return tooLong()
	}
	if c.isNested(m) {
		s := c.below(m, c.in, c.path+suffix, c.depth)
		if s == nil {
			return tooLong()
		}
		return []item{{Text: c.count(join("", c.words(m, 0), plain(", see "), code(s.path).linked(s)))}}
	}
	said := item{Text: c.count(c.phrase(schema))}
	if !isReference(m) && !isCombination(m) {
		said.Below = c.further(m, suffix)
	}
	switch {
	case len(said.Text) == 0 && len(said.Below) == 1:
		return said.Below
	case len(said.Text) == 0 && said.Below == nil:
		said.Text = plain("anything")
	case len(said.Text) == 0:
		said.Text = plain("all of the following:")
	}
	return []item{said}
}

// further lists the property groups and the conditions of a schema that is said in a list.
func (c *conditioner) further(m document.Mapping, suffix string) []item {
	rules, _, fault := c.rules(m)
	if len(fault) > 0 {
		rules = []item{{Text: fault}}
	}
	inner := &conditioner{
		table: c.table, in: c.in, path: tail(c.path + suffix), isTyped: c.isTyped,
		depth: c.depth + 1, nesting: c.nesting + 1,
	}
	return append(rules, inner.conditions(m)...)
}

// isNested reports whether members or items of a schema need a section.
func (c *conditioner) isNested(m document.Mapping) bool {
	return !isReference(m) && (hasMembers(m) || len(list(m, "items")) > 0 ||
		!c.isPlain(mapping(m, "items"), "", 1) || !c.isPlain(mapping(m, "additionalProperties"), "", 1))
}

// phrase says what a schema without members and items of its own wants; empty if that is nothing.
func (c *conditioner) phrase(schema any) inline {
	m, _ := schema.(document.Mapping)
	isTyped := c.isTyped && isImplied(m)
	var said []inline
	if words := c.words(schema, 0); words.String() != "any" && words.String() != various && !isTyped {
		said = append(said, words)
	}
	if isReference(m) || m == nil {
		return join("", said...)
	}
	if said = append(said, c.constraints(m, 0)...); !isTyped {
		said = append(said, unchecked(m))
	}
	if needed := names(list(m, "required")); len(needed) > 0 {
		said = append(said, required(needed))
	}
	wanted, described := join("; ", said...), prose(text(m, "description"))
	if len(wanted) > 0 && len(described) > 0 {
		wanted = append(wanted, plain(".")...)
	}
	return join(" ", strong(sentence(oneLine(text(m, "title")))), wanted, described)
}

func required(names []string) inline {
	switch len(names) {
	case 0:
		return plain("nothing more is required")
	case 1:
		return append(code(names[0]), plain(" is required")...)
	}
	return append(codes(names, " and "), plain(" are required")...)
}
