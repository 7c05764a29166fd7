package rendering

import (
	"strings"

	"purser/internal/document"
)

// rewriting replaces a pattern in all texts below a container (spec/rendering.md §8.9).
type rewriting struct {
	*tree

	pattern *pattern
	written string // the pattern; only texts that hold it as it is written are looked at (R8)
	value   any    // that is put in its place
	with    string // the value as text
	depth   int
}

// string replaces all matches in a text.
func (r *rewriting) string(text string) (string, error) {
	if err := r.afford(r.pattern, text); err != nil {
		return "", err
	}
	room := r.room - r.size
	if literal := r.pattern.literal; literal != "" {
		if int64(strings.Count(text, literal))*int64(len(r.with)-len(literal)) > room {
			return "", errTooLarge
		}
		return strings.ReplaceAll(text, literal, r.with), nil
	}
	changed := r.pattern.re.ReplaceAllStringFunc(text, func(match string) string {
		if room -= int64(len(r.with) - len(match)); room < 0 {
			return "" // nobody will see it
		}
		return r.with
	})
	if room < 0 {
		return "", errTooLarge
	}
	return changed, nil
}

// container goes through a container of some depth and returns it as it is then, and whether it changed.
func (r *rewriting) container(value any, depth int) (now any, changed bool, err error) {
	if depth == r.depth {
		return value, false, nil
	}
	switch v := value.(type) {
	case document.Mapping:
		return r.mapping(v, nil, depth)
	case *object:
		return r.mapping(v.members, v, depth)
	case []any:
		return r.list(v, nil, depth)
	case *array:
		return r.list(v.items, v, depth)
	}
	return value, false, nil
}

// mapping goes through the members of a mapping; own is it as an object of the tree, if it is one already.
func (r *rewriting) mapping(members document.Mapping, own *object, depth int) (now any, changed bool, err error) {
	r.charge(len(members))
	for i := range members {
		value, differs, err := r.member(members[i].Value, depth)
		if err != nil {
			return nil, false, err
		}
		if !differs {
			continue
		}
		if own == nil {
			own = newObject(members)
		}
		own.members[i].Value, changed = value, true
	}
	if own == nil {
		return members, false, nil
	}
	return own, changed, nil
}

func (r *rewriting) list(items []any, own *array, depth int) (now any, changed bool, err error) {
	r.charge(len(items))
	for i, item := range items {
		value, differs, err := r.member(item, depth)
		if err != nil {
			return nil, false, err
		}
		if !differs {
			continue
		}
		if own == nil {
			own = newArray(items)
		}
		own.items[i], changed = value, true
	}
	if own == nil {
		return items, false, nil
	}
	return own, changed, nil
}

// member rewrites a text that holds the pattern, and goes on into a container.
func (r *rewriting) member(value any, depth int) (now any, changed bool, err error) {
	text, ok := bare(value).(string)
	if !ok {
		return r.container(value, depth+1)
	}
	r.charge(len(text) / bytesPerStep)
	if !strings.Contains(text, r.written) {
		return value, false, nil
	}
	rewritten, err := r.string(text)
	if err != nil {
		return nil, false, err
	}
	return r.inserted(value, rewritten, r.value), rewritten != text, r.grow(int64(len(rewritten)-len(text)), 0)
}
