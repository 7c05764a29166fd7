package propertygroups

import (
	"slices"
	"strings"

	"purser/internal/document"
)

// shape is the certain part of a schema's declarations about members and items.
type shape struct {
	open         bool // keywords such as $ref or allOf may declare other members
	object, list bool // the possible types of values
	properties   map[string]any
	additional   any
	items        any               // nil if they are not the same for all items
	shapes       map[string]*shape // of subschemas, by keyword, or by a slash and a property name
}

// shapeOf returns the shape of a schema.
func shapeOf(raw any) *shape {
	schema, _ := raw.(document.Mapping)
	s := &shape{shapes: make(map[string]*shape)}
	var types any
	hasPrefix := false
	for _, m := range schema {
		switch m.Key {
		case "properties":
			s.object = true
			s.declare(m.Value)
		case "additionalProperties":
			s.object, s.additional = true, m.Value
		case "items":
			s.list, s.items = true, m.Value
		case "prefixItems":
			s.list, hasPrefix = true, true
		case "type":
			types = m.Value
		case "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties":
			s.open = true
		}
	}
	if hasPrefix {
		s.items = nil
	}
	switch t := types.(type) { // without a type, the other keywords decide
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

// walk follows a path through the certain part of the shape. If closed is true, there can be no member with the name of
// part n.
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

// lists returns the number of parts that lead to the last declared list on a path, 0 if there is none.
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

// declares reports whether an entry is the name or the dotted path of a declared property.
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

// member returns the shape of a member: nil if there can be no such member, an empty one if nothing is declared.
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

// element returns the shape of the items if values can only be lists, or lists of lists. It returns nil if the type of
// values is not certain.
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
	sub, ok := s.shapes[key]
	if !ok {
		sub = shapeOf(raw)
		s.shapes[key] = sub
	}
	return sub
}
