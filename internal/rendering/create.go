package rendering

import (
	"fmt"
	"strings"

	"purser/internal/document"
)

// create makes a place for a value where a path leads to none: missing mappings on the way, and lists that are filled
// up with empty mappings.
func (t *tree) create(p *dataPath) (spot, error) {
	at := t.top
	for i, s := range p.steps {
		var next spot
		var err error
		switch c := t.own(at).(type) {
		case *object:
			next, err = t.createMember(at, c, p, i)
		case *array:
			next, err = t.createItem(at, c, p, i)
		default:
			err = fmt.Errorf("%s is %s, which has no %s", pathText(p.steps[:i]), kindOf(at.value()), s)
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
func (t *tree) createMember(from spot, o *object, p *dataPath, i int) (spot, error) {
	key := p.steps[i].key
	switch p.steps[i].kind {
	case byIndex, anyItem:
		return spot{}, fmt.Errorf("%s is a mapping, which has no %s", pathText(p.steps[:i]), p.steps[i])
	case anyKey:
		key = "*" // as Deckhand does
	case byKey:
	}
	if at := t.seek(o, key); at != notFound {
		return t.below(from, o, at), nil
	}
	if strings.Contains(key, ".") {
		return spot{}, fmt.Errorf("%s does not exist, and a key with a dot in it is not created", pathText(p.steps[:i+1]))
	}
	blank := blankMapping
	if i+1 < len(p.steps) && p.steps[i+1].kind == byIndex {
		blank = blankList
	}
	if err := t.add(o, key, blank, from.depth+1); err != nil {
		return spot{}, err
	}
	created := t.below(from, o, len(o.members)-1)
	t.note(changeMade, created.place, nil)
	return created, nil
}

// maxBeyond is the maximum distance of an index that creates items from the end of its list.
const maxBeyond = 10_000

// createItem makes the item of an array at a spot that step i of a path leads to, and those before it.
func (t *tree) createItem(from spot, a *array, p *dataPath, i int) (spot, error) {
	s := p.steps[i]
	if s.kind != byIndex || s.index < 0 {
		return spot{}, fmt.Errorf("%s is a list of length %d, which has no %s", pathText(p.steps[:i]), len(a.items), s)
	}
	if s.index-len(a.items) > maxBeyond {
		return spot{}, fmt.Errorf("%s holds a list of %d, and %s is more than %d beyond its end", pathText(p.steps[:i]),
			len(a.items), s, maxBeyond)
	}
	if missing := s.index + 1 - len(a.items); missing > 0 {
		if err := t.pad(from, a, missing); err != nil {
			return spot{}, err
		}
	}
	return t.below(from, a, s.index), nil
}

// pad appends empty mappings to the array at a spot.
func (t *tree) pad(s spot, a *array, missing int) error {
	t.charge(2 * visitCost * missing)
	t.hold(2 * wordSize * missing) // half of it is room that append may leave
	a.held += 2 * wordSize * missing
	if err := t.grow(int64(missing)*(t.measure(blankMapping).size+itemText), s.depth+1); err != nil {
		return err
	}
	t.noteItem(changePadded, s.place, len(a.items))
	for range missing {
		a.items = append(a.items, blankMapping)
	}
	return t.err
}
