package rendering

import (
	"errors"
	"fmt"
	"slices"

	"purser/internal/document"
)

// tree is the data of one document while it is computed. It begins as an immutable value that belongs to others; a
// container is copied the first time that something in it changes, as an object or array, and from then on changed in
// place. Objects and arrays never leave the tree: freeze makes immutable values of them.
type tree struct {
	*engine

	root  *array // of one item
	size  int64
	event *event // that changes it now, if that is asked for
}

// object is a mapping of a tree.
type object struct {
	lookup

	members document.Mapping
	origin  *origin // if it is empty
}

// array is a list of a tree.
type array struct {
	items  []any
	origin *origin // if it is empty
}

// removed stands in the place of a member that was deleted, so that the others keep theirs.
type removed struct{}

// container is an object or an array.
type container interface {
	get(at int) any
	set(at int, value any)
}

func (o *object) get(at int) any        { return o.members[at].Value }
func (o *object) set(at int, value any) { o.members[at].Value = value }
func (a *array) get(at int) any         { return a.items[at] }
func (a *array) set(at int, value any)  { a.items[at] = value }

// spot is where a value stands in a tree.
type spot struct {
	in    container
	at    int
	depth int // how many containers it is in
}

func (s spot) value() any { return s.in.get(s.at) }

var (
	errTooLarge = errors.New("the rendered data gets too large")
	errTooDeep  = fmt.Errorf("the data gets nested deeper than %d", deepest)
)

func newTree(e *engine, value any) *tree {
	return &tree{engine: e, root: &array{items: []any{value}}, size: e.measure(value).size}
}

// isMapping tells whether a value of a tree is a mapping.
func isMapping(value any) bool {
	switch bare(value).(type) {
	case document.Mapping, *object:
		return true
	}
	return false
}

func (t *tree) top() spot { return spot{in: t.root} }

// own makes the container at a spot the tree's own. What is no container gives nil.
func (t *tree) own(s spot) container {
	switch v := bare(s.value()).(type) {
	case *object:
		return v
	case *array:
		return v
	case document.Mapping:
		t.charge(len(v))
		o := newObject(v)
		o.origin = originOf(s.value())
		s.in.set(s.at, o)
		return o
	case []any:
		t.charge(len(v))
		a := newArray(v)
		a.origin = originOf(s.value())
		s.in.set(s.at, a)
		return a
	}
	return nil
}

func newObject(members document.Mapping) *object {
	return &object{members: append(make(document.Mapping, 0, len(members)+1), members...)}
}

func newArray(items []any) *array { return &array{items: slices.Clone(items)} }

// spots finds all places that a path leads to, in document order. The containers on the way become the tree's own.
func (t *tree) spots(steps []step) []spot {
	found := []spot{t.top()}
	for _, s := range steps {
		var next []spot
		for _, at := range found {
			next = t.follow(next, at, s)
		}
		if found = next; len(found) == 0 {
			break
		}
	}
	return found
}

// follow appends where one step leads from a spot.
func (t *tree) follow(found []spot, from spot, s step) []spot {
	c := t.own(from)
	start, end := t.reach(c, s)
	for at := start; at < end; at++ {
		if c.get(at) != (removed{}) {
			found = append(found, spot{c, at, from.depth + 1})
		}
	}
	return found
}

// grow accounts for a change of the data's size, before it is made.
func (t *tree) grow(bytes int64, depth int) error {
	if t.size += bytes; t.size > t.room {
		return errTooLarge
	}
	if depth > deepest {
		return errTooDeep
	}
	return nil
}

// put writes a value, which must be immutable.
func (t *tree) put(s spot, value any) error {
	was, is := t.measure(s.value()), t.measure(value)
	if err := t.grow(is.size-was.size, s.depth+is.depth); err != nil {
		return err
	}
	s.in.set(s.at, value)
	return nil
}

// add appends a member to an object that does not have its key.
func (t *tree) add(o *object, key string, value any, depth int) (spot, error) {
	is := t.measure(value)
	if err := t.grow(is.size+memberSize(key), depth+is.depth); err != nil {
		return spot{}, err
	}
	at := len(o.members)
	o.members = append(o.members, document.Member{Key: key, Value: value})
	if o.lookup.at != nil {
		o.lookup.at[key] = at
	}
	return spot{o, at, depth}, nil
}

// remove takes a member or an item out. The spots behind it in an array are no longer right.
func (t *tree) remove(s spot) {
	t.size -= t.measure(s.value()).size
	switch c := s.in.(type) {
	case *object:
		gone := &c.members[s.at]
		t.size -= memberSize(gone.Key)
		if c.lookup.at != nil {
			delete(c.lookup.at, gone.Key)
		}
		gone.Value, c.origin = removed{}, t.made()
	case *array:
		t.charge(len(c.items))
		t.size -= itemSize
		c.items, c.origin = slices.Delete(c.items, s.at, s.at+1), t.made()
	}
}

// freeze ends the work on a tree and returns its data as an immutable value.
func (t *tree) freeze() any { return frozen(t.root.items[0]) }

func frozen(value any) any {
	switch v := value.(type) {
	case *object:
		kept := v.members[:0]
		for _, m := range v.members {
			if m.Value != (removed{}) {
				kept = append(kept, document.Member{Key: m.Key, Value: frozen(m.Value)})
			}
		}
		if len(kept) == 0 {
			return v.origin.wrap(kept)
		}
		return kept
	case *array:
		for i, item := range v.items {
			v.items[i] = frozen(item)
		}
		if len(v.items) == 0 {
			return v.origin.wrap(v.items)
		}
		return v.items
	}
	return value
}
