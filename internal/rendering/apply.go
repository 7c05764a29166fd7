package rendering

import (
	"errors"
	"slices"

	"purser/internal/document"
)

// The errors of actions that cannot be done.
var (
	errMissing = errors.New("there is nothing at the path")
	errMethod  = errors.New("the method is not merge, replace or delete")
)

// writer writes a value that was read at a place to a spot.
type writer func(s spot, value any, from *place) error

// apply does an action with the values of a document's own data.
func (t *tree) apply(a action, own any) error {
	if a.path.broken != nil {
		return a.path.broken
	}
	switch a.method {
	case "merge":
		return t.copy(a.path, own, t.merge)
	case "replace":
		return t.copy(a.path, own, t.write)
	case "delete":
		return t.delete(a.path)
	}
	return errMethod
}

// copy writes the child's value at a path to that path: merged with the parent's value, or replacing it.
func (t *tree) copy(p *dataPath, own any, write writer) error {
	value, from, _ := t.locate(own, p.steps, t.top.place)
	if value == nil {
		return errMissing
	}
	spots, err := t.spots(p.steps)
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
func (t *tree) write(s spot, value any, from *place) error {
	if err := t.put(s, value); err != nil {
		return err
	}
	t.note(changeWritten, s.place, from)
	return nil
}

// spread copies the value at the first spot to all others.
func (t *tree) spread(spots []spot) error {
	if len(spots) == 1 {
		return nil
	}
	value := t.frozen(spots[0].value())
	spots[0].in.set(spots[0].at, value)
	for _, s := range spots[1:] {
		t.charge(spotCost)
		if err := t.put(s, value); err != nil {
			return err
		}
		t.note(changeSpread, s.place, spots[0].place)
	}
	return nil
}

// merge merges a value into the one at a spot: mappings member by member; other values are replaced.
func (t *tree) merge(s spot, value any, from *place) error {
	over, ok := value.(document.Mapping)
	if !ok || !isMapping(s.value()) {
		return t.write(s, value, from)
	}
	return t.update(s, over, from, t.merge)
}

// update writes the members of a mapping to the mapping at a spot: new ones are added, the others written.
func (t *tree) update(s spot, over document.Mapping, from *place, write writer) error {
	if len(over) == 0 {
		return nil
	}
	o, _ := t.own(s).(*object)
	for i := range over {
		key, value, read := over[i].Key, over[i].Value, from.member(over[i].Key)
		if at := t.seek(o, key); at != notFound {
			if err := write(t.below(s, o, at), value, read); err != nil {
				return err
			}
			continue
		}
		if err := t.add(o, key, value, s.depth+1); err != nil {
			return err
		}
		t.note(changeWritten, s.place.member(key), read)
	}
	return nil
}

// delete removes the values at a path.
func (t *tree) delete(p *dataPath) error {
	if len(p.steps) == 0 {
		t.note(changeMade, t.top.place, nil)
		return t.put(t.top, document.Mapping{})
	}
	spots, err := t.spots(p.steps)
	if err != nil {
		return err
	}
	if len(spots) == 0 || spots[0].value() == nil {
		return errMissing
	}
	for _, s := range slices.Backward(spots) { // for those behind it move up
		t.remove(s)
	}
	return nil
}
