package schemadocs

import (
	"net/url"
	"strconv"
	"strings"

	"purser/internal/document"
)

// mapping returns what a keyword holds if that is a mapping, else nothing.
func mapping(schema document.Mapping, keyword string) document.Mapping {
	m, _ := schema.At(keyword).(document.Mapping)
	return m
}

func list(schema document.Mapping, keyword string) []any {
	l, _ := schema.At(keyword).([]any)
	return l
}

// reference returns a schema's $ref; a null is none.
func reference(schema document.Mapping) (ref string, ok bool) {
	switch ref := schema.At("$ref").(type) {
	case nil:
		return "", false
	case string:
		return ref, true
	default:
		return string(document.AppendJSON(nil, ref)), true
	}
}

// names returns the strings of a list.
func names(list []any) []string {
	var found []string
	for _, item := range list {
		if name, ok := item.(string); ok {
			found = append(found, name)
		}
	}
	return found
}

// types returns what a schema's type names.
func types(schema document.Mapping) []string {
	switch t := schema.At("type").(type) {
	case string:
		return []string{t}
	case []any:
		return names(t)
	}
	return nil
}

// finder finds members by name, also of mappings that have many and are asked for many.
type finder map[*document.Member]map[string]*document.Member

const fewMembers = 16

func (f finder) member(m document.Mapping, name string) *document.Member {
	if len(m) <= fewMembers {
		for i := range m {
			if m[i].Key == name {
				return &m[i]
			}
		}
		return nil
	}
	index, ok := f[&m[0]]
	if !ok {
		index = make(map[string]*document.Member, len(m))
		for i := len(m) - 1; i >= 0; i-- {
			index[m[i].Key] = &m[i]
		}
		f[&m[0]] = index
	}
	return index[name]
}

// mapping is what the function of that name is, for schemas that are asked many times.
func (f finder) mapping(schema document.Mapping, keyword string) document.Mapping {
	if member := f.member(schema, keyword); member != nil {
		m, _ := member.Value.(document.Mapping)
		return m
	}
	return nil
}

// pointed returns what is at the end of a pointer.
func (f finder) pointed(root document.Mapping, steps []string) (at any, ok bool) {
	at = root
	for _, step := range steps {
		switch v := at.(type) {
		case document.Mapping:
			member := f.member(v, step)
			if member == nil {
				return nil, false
			}
			at = member.Value
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// pointerSteps splits the fragment of a reference as checks do: percent-escapes first, then ~1 and ~0.
func pointerSteps(fragment string) ([]string, bool) {
	fragment = strings.TrimLeft(fragment, "/")
	if fragment == "" {
		return nil, true
	}
	decoded, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, false
	}
	steps := strings.Split(decoded, "/")
	for i, step := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	}
	return steps, true
}
