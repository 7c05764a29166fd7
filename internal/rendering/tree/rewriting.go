package tree

import (
	"strings"

	"purser/internal/document"
	"purser/internal/rendering/history"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
	"purser/internal/rendering/pattern"
)

// rewriting replaces a pattern in all texts below a container.
type rewriting struct {
	*Tree

	pattern *pattern.Pattern
	written string       // the pattern; only texts that contain it literally are searched
	from    *paths.Place // where the value was read that is put in its place
	with    string       // the value as text
	depth   int
	found   bool // the pattern is in a text
}

// string replaces all matches in a text.
func (r *rewriting) string(text string) (string, error) {
	matches, err := r.pattern.Matches(r.Meter, text)
	if err != nil || len(matches) == 0 {
		return text, err
	}
	r.found = true
	size := len(text) + len(matches)*len(r.with)
	for _, match := range matches {
		size -= match[1] - match[0]
	}
	if int64(size-len(text)) > r.room-r.Size {
		return "", ErrTooLarge
	}
	r.Charge(meter.Visit*len(matches) + size/meter.BytesPerStep)
	if r.Hold(meter.Word + size); r.Err != nil {
		return "", r.Err
	}
	var changed strings.Builder
	changed.Grow(size)
	end := 0
	for _, match := range matches {
		changed.WriteString(text[end:match[0]])
		changed.WriteString(r.with)
		end = match[1]
	}
	changed.WriteString(text[end:])
	return changed.String(), nil
}

// container rewrites a container at a depth, and reports whether it changed.
func (r *rewriting) container(value any, at *paths.Place, depth int) (now any, changed bool, err error) {
	if depth == r.depth || r.Err != nil {
		return value, false, r.Err
	}
	switch v := value.(type) {
	case document.Mapping:
		return r.mapping(v, nil, at, depth)
	case *object:
		return r.mapping(v.members, v, at, depth)
	case []any:
		return r.list(v, nil, at, depth)
	case *array:
		return r.list(v.items, v, at, depth)
	}
	return value, false, nil
}

// mapping rewrites the members of a mapping; own is the mapping as an object of the tree, if it is one already.
func (r *rewriting) mapping(members document.Mapping, own *object, at *paths.Place, depth int) (
	now any, changed bool, err error,
) {
	for i := range members {
		value, differs, err := r.member(members[i].Value, at.Member(members[i].Key), depth)
		if err != nil {
			return nil, false, err
		}
		if !differs {
			continue
		}
		if own == nil {
			own = r.newObject(members)
		}
		own.members[i].Value, changed = value, true
	}
	if own == nil {
		return members, false, nil
	}
	return own, changed, nil
}

func (r *rewriting) list(items []any, own *array, at *paths.Place, depth int) (now any, changed bool, err error) {
	for i, item := range items {
		value, differs, err := r.member(item, at.Item(i), depth)
		if err != nil {
			return nil, false, err
		}
		if !differs {
			continue
		}
		if own == nil {
			own = r.newArray(items)
		}
		own.items[i], changed = value, true
	}
	if own == nil {
		return items, false, nil
	}
	return own, changed, nil
}

// member rewrites a text that contains the pattern, and descends into a container.
func (r *rewriting) member(value any, at *paths.Place, depth int) (now any, changed bool, err error) {
	if r.Charge(meter.Visit); at != nil {
		r.Charge(meter.Place)
	}
	text, ok := value.(string)
	if !ok {
		return r.container(value, at, depth+1)
	}
	r.Charge(meter.Visit + len(text)/meter.BytesPerStep)
	if !strings.Contains(text, r.written) {
		return value, false, nil
	}
	rewritten, err := r.string(text)
	if err != nil || rewritten == text {
		return value, false, err
	}
	r.note(history.Inserted, at, r.from)
	return rewritten, true, r.grow(int64(len(rewritten)-len(text)), 0)
}
