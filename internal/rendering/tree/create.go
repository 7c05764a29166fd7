package tree

import (
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/rendering/history"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// create makes a place for a value where a path leads to none: missing mappings on the way, and lists that are filled
// up with empty mappings.
func (t *Tree) create(p *paths.Path) (spot, error) {
	at := t.top
	for i, s := range p.Steps {
		var next spot
		var err error
		switch c := t.own(at).(type) {
		case *object:
			next, err = t.createMember(at, c, p, i)
		case *array:
			next, err = t.createItem(at, c, p, i)
		default:
			err = fmt.Errorf("%s is %s, which has no %s", paths.Of(p.Steps[:i]), KindOf(at.value()), s)
		}
		if err != nil {
			return spot{}, err
		}
		at = next
	}
	return at, nil
}

// blankMapping and blankList fill the places that are made.
var blankMapping, blankList any = document.Mapping{}, []any{}

// createMember makes the member of an object at a spot that step i of a path leads to.
func (t *Tree) createMember(from spot, o *object, p *paths.Path, i int) (spot, error) {
	key := p.Steps[i].Key
	switch p.Steps[i].Kind {
	case paths.ByIndex, paths.AnyItem:
		return spot{}, fmt.Errorf("%s is a mapping, which has no %s", paths.Of(p.Steps[:i]), p.Steps[i])
	case paths.AnyKey:
		key = "*" // as the reference does
	case paths.ByKey:
	}
	if at := t.seek(o, key); at != notFound {
		return t.below(from, o, at), nil
	}
	if strings.Contains(key, ".") {
		return spot{}, fmt.Errorf("%s does not exist, and a key with a dot in it is not created", paths.Of(p.Steps[:i+1]))
	}
	blank := blankMapping
	if i+1 < len(p.Steps) && p.Steps[i+1].Kind == paths.ByIndex {
		blank = blankList
	}
	if err := t.add(o, key, blank, from.depth+1); err != nil {
		return spot{}, err
	}
	created := t.below(from, o, len(o.members)-1)
	t.note(history.Made, created.place, nil)
	return created, nil
}

// maxBeyond is the maximum distance of an index that creates items from the end of its list.
const maxBeyond = 10_000

// createItem makes the item of an array at a spot that step i of a path leads to, and those before it.
func (t *Tree) createItem(from spot, a *array, p *paths.Path, i int) (spot, error) {
	s := p.Steps[i]
	if s.Kind != paths.ByIndex || s.Index < 0 {
		return spot{}, fmt.Errorf("%s is a list of length %d, which has no %s", paths.Of(p.Steps[:i]), len(a.items), s)
	}
	if s.Index-len(a.items) > maxBeyond {
		return spot{}, fmt.Errorf("%s holds a list of %d, and %s is more than %d beyond its end", paths.Of(p.Steps[:i]),
			len(a.items), s, maxBeyond)
	}
	if missing := s.Index + 1 - len(a.items); missing > 0 {
		if err := t.pad(from, a, missing); err != nil {
			return spot{}, err
		}
	}
	return t.below(from, a, s.Index), nil
}

// pad appends empty mappings to the array at a spot.
func (t *Tree) pad(s spot, a *array, missing int) error {
	t.Charge(2 * meter.Visit * missing)
	t.Hold(2 * meter.Word * missing) // half of it is room that append may leave
	a.held += 2 * meter.Word * missing
	if err := t.grow(int64(missing)*(t.measure(blankMapping).size+itemText), s.depth+1); err != nil {
		return err
	}
	t.noteItem(history.Padded, s.place, len(a.items))
	for range missing {
		a.items = append(a.items, blankMapping)
	}
	return t.Err
}
