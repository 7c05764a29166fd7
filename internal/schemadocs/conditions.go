package schemadocs

import "fmt"

// combinators introduce the schemas that these keywords hold.
var combinators = map[string]string{
	"allOf": "All of these must hold:",
	"anyOf": "At least one of these must hold:",
	"oneOf": "Exactly one of these must hold:",
	"not":   "This must not hold:",
}

// place is where a condition is described.
type place struct {
	section *section
	path    string // of the schema
	isTyped bool   // an outer schema names the type, so implied types are not mentioned
	nesting int    // of lists
}

// to returns the place of a schema within the one that is described.
func (p place) to(suffix string) place {
	p.path = tail(p.path + suffix)
	return p
}

var tooLong = []item{{Text: plain("Left out, because this page would be too long: what follows here.")}}

// conditions returns the combinators and the dependencies of a schema as lists.
func (t *table) conditions(m mapping, in place) (items []item) {
	in.isTyped = in.isTyped || len(types(m)) > 0
	options := 0
	for _, member := range m {
		several, _ := member.Value.([]any)
		held, isMapping := member.Value.(mapping)
		said := plain(combinators[member.Key])
		switch {
		case member.Key == "dependencies":
			items = append(items, t.dependencies(held, in)...)
		case member.Key == "not" && isMapping:
			items = append(items, item{said, t.branch(held, in.to(" (not)"))})
		case member.Key != "not" && len(said) > 0 && len(several) > 0:
			items = append(items, item{said, t.alternatives(several, in, options)})
			options += len(several)
		}
	}
	return items
}

// alternatives describes the schemas of a combinator, and numbers them as options after those before.
func (t *table) alternatives(schemas []any, in place, before int) (items []item) {
	for i, schema := range schemas {
		if t.isFull() {
			return append(items, tooLong...)
		}
		items = append(items, t.branch(schema, in.to(fmt.Sprintf(" (option %d)", before+i+1)))...)
	}
	return items
}

// dependencies describes what must hold if a property is given.
func (t *table) dependencies(held mapping, in place) (items []item) {
	for _, d := range held {
		if t.isFull() {
			return append(items, tooLong...)
		}
		before := join("", plain("If "), code(d.Key), plain(" is given, "))
		if needed, ok := d.Value.([]any); ok {
			items = append(items, item{Text: t.count(join("", before, required(names(needed)), plain(".")))})
			continue
		}
		said := t.count(join("", before, plain("this must hold as well:")))
		items = append(items, item{said, t.branch(d.Value, in.to(" (with "+tail(d.Key)+")"))})
	}
	return items
}

// branch describes a schema in a phrase, with a list below it or a section if it needs one.
func (t *table) branch(schema any, in place) []item {
	if in.nesting > maxNesting || t.isFull() {
		return tooLong
	}
	m, _ := schemaOf(schema)
	if t.isNested(m) {
		s := t.below(m, in.section, in.path, in.section.depth+1+in.nesting)
		if s == nil {
			return tooLong
		}
		return []item{{Text: t.count(join("", t.words(m, 0), plain(", see "), code(s.path).linked(&s.Anchor)))}}
	}
	said := item{Text: t.count(t.phrase(schema, in.isTyped))}
	if _, branches := combination(m); branches == nil {
		in.nesting++
		said.Below, _ = t.rules(m)
		said.Below = append(said.Below, t.conditions(m, in)...)
	}
	switch {
	case len(said.Text) > 0:
	case len(said.Below) == 1:
		return said.Below
	case said.Below == nil:
		said.Text = plain("anything")
	default:
		said.Text = plain("all of the following:")
	}
	return []item{said}
}

// isNested reports whether members or items of a schema need a section.
func (t *table) isNested(m mapping) bool {
	return hasMembers(m) || len(at[[]any](m, "items")) > 0 ||
		!t.isPlain(m.At("items"), "", 1) || !t.isPlain(m.At("additionalProperties"), "", 1)
}

// phrase describes a schema that needs no section, without its groups and conditions. It is empty if nothing is left.
func (t *table) phrase(schema any, isTyped bool) inline {
	m, _ := schemaOf(schema)
	var said []inline
	words := t.words(schema, 0)
	if _, isImplied := typesOf(m); (!isTyped || !isImplied) && words.String() != "any" && words.String() != various {
		said = append(said, words)
	}
	said = append(said, t.constraints(m, !isTyped, 0)...)
	if needed := names(at[[]any](m, "required")); len(needed) > 0 {
		said = append(said, required(needed))
	}
	wanted, described := join("; ", said...), prose(at[string](m, "description"))
	if len(wanted) > 0 && len(described) > 0 {
		wanted = append(wanted, plain(".")...)
	}
	return join(" ", strong(sentence(oneLine(at[string](m, "title")))), wanted, described)
}

// required returns a phrase for a list of required properties.
func required(names []string) inline {
	switch len(names) {
	case 0:
		return plain("nothing more is required")
	case 1:
		return append(code(names[0]), plain(" is required")...)
	}
	return append(codes(names, " and "), plain(" are required")...)
}
