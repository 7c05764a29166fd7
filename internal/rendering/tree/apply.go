package tree

import (
	"errors"
	"slices"

	"purser/internal/document"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/history"
	"purser/internal/rendering/paths"
)

// The errors of actions that cannot be done.
var (
	ErrMissing = errors.New("there is nothing at the path")
	ErrMethod  = errors.New("the method is not merge, replace or delete")
)

// writer writes a value that was read at a place to a spot.
type writer func(s spot, value any, from *paths.Place) error

// Apply does an action with the values of a document's own data.
func (t *Tree) Apply(a declared.Action, own any) error {
	if a.Path.Broken != nil {
		return a.Path.Broken
	}
	switch a.Method {
	case "merge":
		return t.copy(a.Path, own, t.merge)
	case "replace":
		return t.copy(a.Path, own, t.write)
	case "delete": //nolint:usestdlibvars // it is not a method of HTTP
		return t.delete(a.Path)
	}
	return ErrMethod
}

// copy writes the child's value at a path to that path: merged with the parent's value, or replacing it.
func (t *Tree) copy(p *paths.Path, own any, write writer) error {
	value, from, _ := t.Locate(own, p.Steps, t.top.place)
	if value == nil {
		return ErrMissing
	}
	spots, err := t.spots(p.Steps)
	if err != nil {
		return err
	}
	if len(spots) == 0 {
		created, err := t.create(p)
		if err != nil {
			return err
		}
		return t.write(created, value, from)
	}
	if err := write(spots[0], value, from); err != nil {
		return err
	}
	return t.spread(spots)
}

// write replaces the value at a spot, and notes where the new value was read.
func (t *Tree) write(s spot, value any, from *paths.Place) error {
	if err := t.put(s, value); err != nil {
		return err
	}
	t.note(history.Written, s.place, from)
	return nil
}

// spread copies the value at the first spot to all others.
func (t *Tree) spread(spots []spot) error {
	if len(spots) == 1 {
		return nil
	}
	value := t.frozen(spots[0].value())
	spots[0].in.set(spots[0].at, value)
	for _, s := range spots[1:] {
		t.Charge(spotCost)
		if err := t.put(s, value); err != nil {
			return err
		}
		t.note(history.Spread, s.place, spots[0].place)
	}
	return nil
}

// merge merges a value into the one at a spot: mappings member by member; other values are replaced.
func (t *Tree) merge(s spot, value any, from *paths.Place) error {
	over, ok := value.(document.Mapping)
	if !ok || !isMapping(s.value()) {
		return t.write(s, value, from)
	}
	return t.update(s, over, from, t.merge)
}

// update writes the members of a mapping to the mapping at a spot: new ones are added, the others written.
func (t *Tree) update(s spot, over document.Mapping, from *paths.Place, write writer) error {
	if len(over) == 0 {
		return nil
	}
	o, _ := t.own(s).(*object)
	for i := range over {
		key, value, read := over[i].Key, over[i].Value, from.Member(over[i].Key)
		if at := t.seek(o, key); at != notFound {
			if err := write(t.below(s, o, at), value, read); err != nil {
				return err
			}
			continue
		}
		if err := t.add(o, key, value, s.depth+1); err != nil {
			return err
		}
		t.note(history.Written, s.place.Member(key), read)
	}
	return nil
}

// delete removes the values at a path.
func (t *Tree) delete(p *paths.Path) error {
	if len(p.Steps) == 0 {
		t.note(history.Made, t.top.place, nil)
		return t.put(t.top, document.Mapping{})
	}
	spots, err := t.spots(p.Steps)
	if err != nil {
		return err
	}
	if len(spots) == 0 || spots[0].value() == nil {
		return ErrMissing
	}
	for _, s := range slices.Backward(spots) { // for those behind it move up
		t.remove(s)
	}
	return nil
}
