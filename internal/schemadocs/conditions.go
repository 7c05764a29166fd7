package schemadocs

import (
	"fmt"
	"strings"
)

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

var tooLong = []item{{Text: plain("Left out, because this page would be too long: the rest.")}}

// conditions returns the combinators, dependencies and conditionals of a schema as lists.
func (t *table) conditions(s schema, in place) (items []item) {
	in.isTyped = in.isTyped || len(s.types()) > 0
	options := 0
	for _, member := range s.mapping {
		key, said := member.Key, plain(applied[member.Key].list)
		several, _ := member.Value.([]any)
		switch {
		case key == "dependencies" || key == "dependentRequired" || key == "dependentSchemas":
			items = append(items, t.dependencies(s, key, in)...)
		case said == nil || t.isPlainMember(s, member, 0):
		case isCombinator(key):
			of := item{Text: said}
			for _, branch := range several {
				options++
				wasFull := t.isFull() // which the branch tells then
				of.Below = append(of.Below, t.branch(t.read(branch, s), in.to(fmt.Sprintf(" (option %d)", options)))...)
				if wasFull {
					break
				}
			}
			items = append(items, of)
		case !t.held(s, key).isNone:
			said[0].Text = strings.Replace(said[0].Text, "%s", s.contained(), 1)
			items = append(items, item{said, t.branch(t.held(s, key), in.to(" ("+key+")"))})
		}
	}
	return items
}

// dependencies describes the requirements that apply if a property is given.
func (t *table) dependencies(s schema, keyword string, in place) (items []item) {
	for _, d := range at[mapping](s, keyword) {
		if t.isFull() {
			return append(items, tooLong...)
		}
		before := join("", plain("If "), code(d.Key), plain(" is given, "))
		if needed, ok := d.Value.([]any); ok {
			items = append(items, item{Text: t.count(join("", before, required(names(needed)), plain(".")))})
			continue
		}
		said := t.count(join("", before, plain("this must hold as well:")))
		items = append(items, item{said, t.branch(t.read(d.Value, s), in.to(" (with "+tail(d.Key)+")"))})
	}
	return items
}

// branch describes a schema in a phrase, with a list below it or a section if it needs one.
func (t *table) branch(s schema, in place) []item {
	if in.nesting > maxNesting || t.isFull() {
		return tooLong
	}
	if t.isNested(s) {
		below := t.below(s, in.section, in.path, in.section.depth+1+in.nesting)
		if below == nil {
			return tooLong
		}
		return []item{{Text: t.count(join("", t.words(s, 0), plain(", see "), code(below.path).linked(&below.Anchor)))}}
	}
	said := item{Text: t.count(t.phrase(s, in.isTyped))}
	if _, branches := t.combination(s); branches == nil {
		in.nesting++
		said.Below, _ = t.rules(s)
		said.Below = append(said.Below, t.conditions(s, in)...)
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
func (t *table) isNested(s schema) bool {
	first, _ := s.tuple()
	return s.hasMembers() || len(first) > 0 ||
		!t.isPlain(t.held(s, "items"), "", 1) || !t.isPlain(t.held(s, "additionalProperties"), "", 1)
}

// phrase describes a schema that needs no section, without its groups and conditions. It is empty if nothing is left.
func (t *table) phrase(s schema, isTyped bool) inline {
	if s.isNever {
		return plain("no value is valid")
	}
	var said []inline
	words := t.words(s, 0)
	if _, isImplied := s.typesOf(); (!isTyped || !isImplied) && words.String() != "any" && words.String() != various {
		said = append(said, words)
	}
	said = append(said, t.constraints(s, !isTyped, 0)...)
	if needed := names(at[[]any](s, "required")); len(needed) > 0 {
		said = append(said, required(needed))
	}
	wanted, described := join("; ", said...), prose(at[string](s, "description"))
	if len(wanted) > 0 && len(described) > 0 {
		wanted = append(wanted, plain(".")...)
	}
	return join(" ", strong(sentence(oneLine(at[string](s, "title")))), wanted, described)
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
