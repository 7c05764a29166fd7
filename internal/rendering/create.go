package rendering

import (
	"fmt"
	"strings"

	"purser/internal/document"
)

// create makes a place for a value where a path leads to none: missing mappings on the way, and lists that are filled
// up with empty mappings (spec/rendering.md §8.7).
func (t *tree) create(p *path) (spot, error) {
	at := t.top()
	for i, s := range p.steps {
		var next spot
		var err error
		switch c := t.own(at).(type) {
		case *object:
			next, err = t.createMember(c, p, i, at.depth+1)
		case *array:
			next, err = t.createItem(c, p, i, at.depth+1)
		default:
			err = fmt.Errorf("%s holds %s, in which there is no %s", p.upTo(i), kindOf(at.value()), s)
		}
		if err != nil {
			return spot{}, err
		}
		at = next
	}
	return at, nil
}

func (t *tree) createMember(o *object, p *path, i, depth int) (spot, error) {
	key := p.steps[i].key
	switch p.steps[i].kind {
	case byIndex, anyItem:
		return spot{}, fmt.Errorf("%s holds a mapping, in which there is no %s", p.upTo(i), p.steps[i])
	case anyKey:
		key = "*" // as the reference does
	case byKey:
	}
	if at := t.seek(o, key); at != notThere {
		return spot{o, at, depth}, nil
	}
	if strings.Contains(key, ".") {
		return spot{}, fmt.Errorf("%s does not exist, and a key with a dot in it is not created", p.upTo(i+1))
	}
	var empty any = document.Mapping{}
	if i+1 < len(p.steps) && p.steps[i+1].kind == byIndex {
		empty = []any{}
	}
	return t.add(o, key, t.blank(empty), depth)
}

func (t *tree) createItem(a *array, p *path, i, depth int) (spot, error) {
	s := p.steps[i]
	if s.kind != byIndex || s.index < 0 {
		return spot{}, fmt.Errorf("%s holds a list of %d, in which there is no %s", p.upTo(i), len(a.items), s)
	}
	if missing := s.index + 1 - len(a.items); missing > 0 {
		if err := t.grow(int64(missing)*(t.measure(document.Mapping{}).size+itemSize), depth); err != nil {
			return spot{}, err
		}
		t.charge(missing)
		for range missing {
			a.items = append(a.items, t.blank(document.Mapping{}))
		}
	}
	return spot{a, s.index, depth}, nil
}
