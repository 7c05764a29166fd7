package rendering

import (
	"strings"

	"purser/internal/document"
)

// rewriting replaces a pattern in all texts below a container.
type rewriting struct {
	*tree

	pattern *pattern
	written string // the pattern; only texts that contain it literally are searched
	from    *place // where the value was read that is put in its place
	with    string // the value as text
	depth   int
	found   bool // the pattern is in a text
}

// string replaces all matches in a text.
func (r *rewriting) string(text string) (string, error) {
	matches, err := r.pattern.matches(r.meter, text)
	if err != nil || len(matches) == 0 {
		return text, err
	}
	r.found = true
	size := len(text) + len(matches)*len(r.with)
	for _, match := range matches {
		size -= match[1] - match[0]
	}
	if int64(size-len(text)) > r.room-r.size {
		return "", ErrTooLarge
	}
	r.charge(visitCost*len(matches) + size/bytesPerStep)
	if r.hold(wordSize + size); r.err != nil {
		return "", r.err
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
func (r *rewriting) container(value any, at *place, depth int) (now any, changed bool, err error) {
	if depth == r.depth || r.err != nil {
		return value, false, r.err
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
func (r *rewriting) mapping(members document.Mapping, own *object, at *place, depth int) (
	now any, changed bool, err error,
) {
	for i := range members {
		value, differs, err := r.member(members[i].Value, at.member(members[i].Key), depth)
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

func (r *rewriting) list(items []any, own *array, at *place, depth int) (now any, changed bool, err error) {
	for i, item := range items {
		value, differs, err := r.member(item, at.item(i), depth)
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
func (r *rewriting) member(value any, at *place, depth int) (now any, changed bool, err error) {
	if r.charge(visitCost); at != nil {
		r.charge(placeCost)
	}
	text, ok := value.(string)
	if !ok {
		return r.container(value, at, depth+1)
	}
	r.charge(visitCost + len(text)/bytesPerStep)
	if !strings.Contains(text, r.written) {
		return value, false, nil
	}
	rewritten, err := r.string(text)
	if err != nil || rewritten == text {
		return value, false, err
	}
	r.note(changeInserted, at, r.from)
	return rewritten, true, r.grow(int64(len(rewritten)-len(text)), 0)
}
