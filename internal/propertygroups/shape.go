package propertygroups

import (
	"slices"
	"strings"

	"purser/internal/document"
)

// shape is what a schema declares of its members and items. Only what is certain counts (spec/property-groups.md §3,
// "Unknown property").
type shape struct {
	open         bool // other schemas have a say in what the members are
	object, list bool // what values can be
	properties   map[string]any
	additional   any
	items        any
	known        map[string]*shape // of what lies below, by property name after a slash, or keyword
}

// shapeOf reads a schema once, because many paths ask for it.
func shapeOf(raw any) *shape {
	schema, _ := raw.(document.Mapping)
	s := &shape{known: make(map[string]*shape)}
	var types any
	for _, m := range schema {
		switch m.Key {
		case "properties":
			s.object = true
			s.declare(m.Value)
		case "additionalProperties":
			s.object, s.additional = true, m.Value
		case "items":
			s.list, s.items = true, m.Value
		case "type":
			types = m.Value
		case "$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties":
			s.open = true
		}
	}
	switch t := types.(type) { // without it, the other keywords tell
	case string:
		s.object, s.list = t == "object", t == "array"
	case []any:
		s.object, s.list = slices.Contains(t, any("object")), slices.Contains(t, any("array"))
	}
	return s
}

func (s *shape) declare(properties any) {
	m, _ := properties.(document.Mapping)
	s.properties = make(map[string]any, len(m))
	for _, member := range m {
		s.properties[member.Key] = member.Value
	}
}

// walk follows a path as far as it is certain. If closed, there can be no member of the name that its part n is.
func (s *shape) walk(path []string) (n int, closed bool) {
	at := s
	for n, part := range path {
		if n > 0 {
			at, _ = at.element()
		}
		if at == nil || at.open {
			return n, false
		}
		if at = at.member(part); at == nil {
			return n, true
		}
	}
	return len(path), false
}

// lists tells how many parts of a path lead to the last list on it; 0 if none is declared.
func (s *shape) lists(path []string) (n int) {
	at := s
	for i, part := range path {
		if at.open {
			return n
		}
		if at = at.member(part); at == nil {
			return n
		}
		var isList bool
		if at, isList = at.element(); isList {
			n = i + 1
		}
		if at == nil {
			return n
		}
	}
	return n
}

// declares tells whether an entry is the name or the dotted path of a property.
func (s *shape) declares(entry string) bool {
	if _, ok := s.properties[entry]; ok {
		return true
	}
	at := s
	for i, part := range strings.SplitN(entry, ".", maxParts) {
		if i > 0 {
			at, _ = at.element()
		}
		if at == nil {
			return false
		}
		raw, ok := at.properties[part]
		if !ok {
			return false
		}
		at = at.below("/"+part, raw)
	}
	return true
}

// member returns what is declared of a member: nil if there can be none, and empty if it can be anything.
func (s *shape) member(name string) *shape {
	if raw, ok := s.properties[name]; ok {
		return s.below("/"+name, raw)
	}
	switch additional := s.additional.(type) {
	case bool:
		if !additional {
			return nil
		}
	case document.Mapping:
		return s.below("additionalProperties", additional)
	}
	return new(shape)
}

// element goes through the lists that a value can only be, to the schema of their items. It returns nil where the value
// is nothing certain.
func (s *shape) element() (at *shape, isList bool) {
	at = s
	for range maxNesting {
		if at.object == at.list || at.open {
			return nil, isList
		}
		if at.object {
			return at, isList
		}
		isList = true
		items, ok := at.items.(document.Mapping)
		if !ok {
			return nil, isList
		}
		at = at.below("items", items)
	}
	return nil, isList
}

func (s *shape) below(key string, raw any) *shape {
	sub, ok := s.known[key]
	if !ok {
		sub = shapeOf(raw)
		s.known[key] = sub
	}
	return sub
}
