package jsonschema

import (
	"net/url"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"

	"purser/internal/document"
)

// violation is where something is wrong.
type violation struct {
	node     *node    // the schema
	keyword  string   // its keyword
	names    []string // what follows the keyword: the property and the index in dependencies
	schema   []string // the path to the keyword as Python shows it: without references
	refs     []int    // where in that path they are
	instance []string // the path to the value
	value    *value
	note     string // what the library said
}

// walk follows a violation's two locations through the schema and the data at once.
type walk struct {
	violation
	entered bool     // a hoisted schema is entered by a $ref that the writer put there
	keys    []string // steps of the instance location that are left
	unnamed int      // steps that it lacks: the library leaves out the key ""
}

// locate finds the place of a violation. It fails only if the library says something unexpected.
func (s *Schema) locate(v *santhosh.ValidationError, root *value) (*violation, bool) {
	steps := split(v.KeywordLocation)
	w := &walk{violation: violation{node: s.nodes[0], value: root, note: v.Message}, keys: split(v.InstanceLocation)}
	w.instance = []string{}
	w.unnamed = s.moves(steps) - len(w.keys)
	for len(steps) > 0 {
		taken := w.step(steps)
		if taken == 0 {
			w.keyword, w.names = steps[0], steps[1:]
			w.schema = append(w.schema, w.keyword)
			return &w.violation, true
		}
		if w.value == nil {
			return nil, false
		}
		steps = steps[taken:]
	}
	return nil, false
}

// step goes one schema further and returns how many steps that took; 0 if steps[0] is the keyword that is violated.
func (w *walk) step(steps []string) int {
	if steps[0] == "$ref" {
		return w.follow()
	}
	shape := applicators[steps[0]]
	if shape&(list|named) != 0 && len(steps) > 1 {
		if e := w.node.child(steps[0], steps[1]); e != nil {
			w.enter(e)
			return 2
		}
	}
	if shape&single != 0 && len(steps) > 1 {
		if e := w.node.child(steps[0], ""); e != nil {
			w.enter(e)
			return 1
		}
	}
	return 0
}

// follow goes through a $ref, which may be the writer's and then leads to the schema itself.
func (w *walk) follow() int {
	switch {
	case w.node.hoisted && !w.entered:
	case w.node.ref != nil && w.node.ref.to != nil:
		w.node = w.node.ref.to
		w.refs = append(w.refs, len(w.schema))
	default:
		return 0
	}
	w.entered = true
	return 1
}

func (w *walk) enter(e *edge) {
	w.schema = append(w.schema, e.keyword)
	switch e.keyword {
	case "patternProperties":
		w.schema = append(w.schema, e.name)
		w.move("", false)
	case "properties":
		w.schema = append(w.schema, e.name)
		w.move(e.name, true)
	case "items", "additionalItems", "additionalProperties":
		if e.name != "" {
			w.schema = append(w.schema, e.name)
		}
		w.move("", false)
	case "not":
	default:
		w.schema = append(w.schema, e.name)
	}
	w.node = e.to
	w.entered = e.keyword == "anyOf" || e.keyword == "oneOf" || e.keyword == "not" // compiled from their definition
}

// move goes to a member or an item of the value: the one named, if known, or the one the instance location has next.
func (w *walk) move(name string, known bool) {
	if !known && len(w.keys) > 0 {
		name = w.keys[0]
	}
	if w.unnamed > 0 && w.isUnnamed(name, known) {
		name = ""
		w.unnamed--
	} else if len(w.keys) > 0 {
		w.keys = w.keys[1:]
	}
	w.instance = append(w.instance, name)
	if w.value != nil {
		w.value = w.value.step(name)
	}
}

// isUnnamed says whether the next step is to the key "".
func (w *walk) isUnnamed(name string, known bool) bool {
	if known {
		return name == ""
	}
	return w.value != nil && w.value.kind == object && w.value.member("") != nil
}

// moves counts the steps that a keyword location takes inside the data.
func (s *Schema) moves(steps []string) int {
	w := &walk{violation: violation{node: s.nodes[0]}}
	for len(steps) > 0 {
		taken := w.step(steps)
		if taken == 0 {
			break
		}
		steps = steps[taken:]
	}
	return len(w.instance)
}

// split takes a JSON pointer of the library apart.
func split(location string) []string {
	if location == "" {
		return nil
	}
	steps := strings.Split(location[1:], "/")
	for i, step := range steps {
		if decoded, err := url.PathUnescape(step); err == nil {
			step = decoded
		}
		steps[i] = document.UnescapeStep(step)
	}
	return steps
}
