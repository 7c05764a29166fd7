package propertygroups

import (
	"slices"
	"strings"

	"purser/internal/document"
)

// shape is a schema, asked for what it declares. Only what is certain counts (spec/property-groups.md §3, "Unknown
// property").
type shape struct {
	raw        document.Mapping
	properties map[string]any    // once indexed
	known      map[string]*shape // of what lies below, by property name after a slash, or keyword
}

// walk follows a path: n parts are declared, and the next one is certainly not allowed if closed.
func (s *shape) walk(path []string) (n int, closed bool) {
	at := s
	for n, part := range path {
		if n > 0 {
			at, _ = at.element()
		}
		if at == nil || at.isOpen() {
			return n, false
		}
		var declared bool
		if at, declared = at.member(part); !declared {
			return n, at == nil
		}
	}
	return len(path), false
}

// lists tells how many parts of a path lead to the last list on it; 0 if none is declared.
func (s *shape) lists(path []string) (n int) {
	at := s
	for i, part := range path {
		if at.isOpen() {
			return n
		}
		var declared, isList bool
		if at, declared = at.member(part); !declared || at == nil {
			return n
		}
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
	if _, ok := s.index()[entry]; ok {
		return true
	}
	n, _ := s.walk(strings.SplitN(entry, ".", maxParts))
	return n > strings.Count(entry, ".")
}

// member returns the schema of a member. Undeclared, it is nil where there can be none, and empty where it can be
// anything.
func (s *shape) member(name string) (sub *shape, declared bool) {
	if raw, ok := s.index()[name]; ok {
		return s.below("/"+name, raw), true
	}
	switch additional := s.raw.At("additionalProperties").(type) {
	case bool:
		if !additional {
			return nil, false
		}
	case document.Mapping:
		return s.below("additionalProperties", additional), true
	}
	return new(shape), false
}

// element goes through the lists that a value can only be, to the schema of their items. It returns nil where the value
// is nothing certain.
func (s *shape) element() (at *shape, isList bool) {
	at = s
	for range maxNesting {
		object, list := at.kinds()
		if object == list || at.isOpen() {
			return nil, isList
		}
		if object {
			return at, isList
		}
		isList = true
		items, ok := at.raw.At("items").(document.Mapping)
		if !ok {
			return nil, isList
		}
		at = at.below("items", items)
	}
	return nil, isList
}

// kinds tells whether values can be objects, and whether they can be lists: by type or, without it, by the keywords
// that speak of one.
func (s *shape) kinds() (object, list bool) {
	switch t := s.raw.At("type").(type) {
	case string:
		return t == "object", t == "array"
	case []any:
		return slices.Contains(t, any("object")), slices.Contains(t, any("array"))
	}
	for _, m := range s.raw {
		object = object || m.Key == "properties" || m.Key == "additionalProperties"
		list = list || m.Key == "items"
	}
	return object, list
}

// isOpen tells whether other schemas have a say in what the members are.
func (s *shape) isOpen() bool {
	return slices.ContainsFunc(s.raw, func(m document.Member) bool {
		switch m.Key {
		case "$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties":
			return true
		}
		return false
	})
}

func (s *shape) index() map[string]any {
	if s.properties == nil {
		properties, _ := s.raw.At("properties").(document.Mapping)
		s.properties = make(map[string]any, len(properties))
		for _, m := range properties {
			s.properties[m.Key] = m.Value
		}
	}
	return s.properties
}

func (s *shape) below(key string, raw any) *shape {
	if sub, ok := s.known[key]; ok {
		return sub
	}
	m, _ := raw.(document.Mapping)
	if s.known == nil {
		s.known = make(map[string]*shape)
	}
	s.known[key] = &shape{raw: m}
	return s.known[key]
}
