package rendering

import (
	"errors"
	"fmt"
	"slices"

	"purser/internal/document"
)

// tree is the data of one document while it is computed.
type tree struct {
	*memo

	size int64 // about as many bytes as the JSON text has
	peak int64 // the largest size that it got by a change

	root    *array // of one item
	top     spot
	room    int64    // the maximum of Size
	history *history // nil unless the document is explained
	event   *event   // that changes it now
}

// object is a mapping of a tree.
type object struct {
	lookup

	members document.Mapping
	removed int // how many members are absent
	held    int // bytes
}

// array is a list of a tree.
type array struct {
	items []any
	held  int // bytes
}

// absent marks a deleted member, so that the indices of the others stay valid.
type absent struct{}

// container is an object or an array.
type container interface {
	get(at int) any
	set(at int, value any)
}

func (o *object) get(at int) any        { return o.members[at].Value }
func (o *object) set(at int, value any) { o.members[at].Value = value }
func (a *array) get(at int) any         { return a.items[at] }
func (a *array) set(at int, value any)  { a.items[at] = value }

// spot is the position of a value in a tree.
type spot struct {
	in    container
	at    int
	depth int // how many containers it is in
	place *place
}

// Costs in steps and in bytes of memory.
const (
	objectSize = 96 // an object or array, and its interface
	spotCost   = 50
	spotSize   = 56
)

func (s spot) value() any { return s.in.get(s.at) }

// The errors of data that grows too much.
var (
	ErrTooLarge = errors.New("the rendered data gets too large")
	errTooDeep  = fmt.Errorf("the data gets nested deeper than %d", maxDepth)
)

// newTree begins a tree with a value, which may grow up to room. Changes are noted in the history unless it is nil.
func newTree(memo *memo, value any, room int64, h *history) *tree {
	t := &tree{memo: memo, root: &array{items: []any{value}}, size: memo.sizeOf(value), room: room, history: h}
	t.top.in = t.root
	if h != nil {
		t.top.place = &place{}
	}
	return t
}

// contents returns the members or the items of a container, nil for any other value.
func contents(value any) (members document.Mapping, items []any) {
	switch v := value.(type) {
	case document.Mapping:
		return v, nil
	case *object:
		return v.members, nil
	case []any:
		return nil, v
	case *array:
		return nil, v.items
	}
	return nil, nil
}

// item returns the value at a position of a container.
func item(container any, at int) any {
	members, items := contents(container)
	if at < len(members) {
		return members[at].Value
	}
	return items[at]
}

// isMapping reports whether a value of a tree is a mapping.
func isMapping(value any) bool {
	switch value.(type) {
	case document.Mapping, *object:
		return true
	}
	return false
}

// kindOf describes the type of a value without the value, which may be secret.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case document.Number:
		return "a number"
	case string:
		return "a string"
	case []any, *array:
		return "a list"
	}
	return "a mapping"
}

// own copies the container at a spot unless the tree already did, and returns the copy; nil for any other value.
func (t *tree) own(s spot) container {
	c := t.owned(s.value())
	if c != nil {
		s.in.set(s.at, c)
	}
	return c
}

// owned returns a container that the tree may change: the value itself, or a copy; nil if it is no container.
func (t *tree) owned(value any) container {
	switch v := value.(type) {
	case container:
		return v
	case document.Mapping:
		return t.newObject(v)
	case []any:
		return t.newArray(v)
	}
	return nil
}

func (t *tree) newObject(members document.Mapping) *object {
	t.charge(copyCost * (len(members) + objectSize/bytesPerStep))
	size := objectSize + memberSize*(len(members)+1)
	t.hold(size)
	return &object{members: append(make(document.Mapping, 0, len(members)+1), members...), held: size}
}

func (t *tree) newArray(items []any) *array {
	t.charge(copyCost * (len(items) + objectSize/bytesPerStep))
	size := objectSize + wordSize*len(items)
	t.hold(size)
	return &array{slices.Clone(items), size}
}

// spots returns all spots that a path leads to, in document order. It copies the containers on the way.
func (t *tree) spots(steps []pathStep) ([]spot, error) {
	found := []spot{t.top}
	for _, s := range steps {
		var next []spot
		for _, at := range found {
			if next = t.follow(next, at, s); t.err != nil {
				return nil, t.err
			}
		}
		t.hold(-spotSize * len(next))
		if found = next; len(found) == 0 {
			break
		}
	}
	return found, nil
}

// follow appends the spots that one step leads to.
func (t *tree) follow(found []spot, from spot, s pathStep) []spot {
	c := t.own(from)
	start, end := t.reach(c, s)
	t.charge(spotCost * (1 + end - start))
	t.hold(spotSize * (end - start))
	found = slices.Grow(found, end-start)
	for at := start; at < end && t.err == nil; at++ {
		if c.get(at) != (absent{}) {
			found = append(found, t.below(from, c, at))
		}
	}
	return found
}

// below is the spot of a member or an item of the container at another spot.
func (t *tree) below(s spot, c container, at int) spot {
	below := spot{in: c, at: at, depth: s.depth + 1}
	if s.place != nil {
		t.hold(placeSize)
		below.place = s.place.at(c, at)
	}
	return below
}

// grow counts a change of the data's size before it is made.
func (t *tree) grow(bytes int64, depth int) error {
	t.size += bytes
	if t.peak = max(t.peak, t.size); t.size > t.room {
		return ErrTooLarge
	}
	if depth > maxDepth {
		return errTooDeep
	}
	return t.err
}

// put writes a value, which must be immutable.
func (t *tree) put(s spot, value any) error {
	was, is := t.measure(s.value()), t.measure(value)
	if err := t.grow(is.size-was.size, s.depth+is.depth); err != nil {
		return err
	}
	t.hold(-was.held)
	s.in.set(s.at, value)
	return nil
}

// add appends a member to an object that does not have its key.
func (t *tree) add(o *object, key string, value any, depth int) error {
	is := t.measure(value)
	if err := t.grow(is.size+memberText(key), depth+is.depth); err != nil {
		return err
	}
	t.charge(lookupCost)
	t.hold(2 * memberSize) // half of it is room that append may leave
	o.held += 2 * memberSize
	o.members = append(o.members, document.Member{Key: key, Value: value})
	if o.at != nil {
		t.hold(entrySize)
		o.at[key] = len(o.members) - 1
	}
	return nil
}

// remove removes a member or an item. It invalidates the spots after it in an array.
func (t *tree) remove(s spot) {
	was := t.measure(s.value())
	t.size -= was.size
	t.hold(-was.held)
	switch c := s.in.(type) {
	case *object:
		member := &c.members[s.at]
		t.charge(lookupCost)
		t.size -= memberText(member.Key)
		delete(c.lookup.at, member.Key)
		member.Value = absent{}
		c.removed++
		t.noteRemoval(s, c.removed == len(c.members))
	case *array:
		t.charge(visitCost + wordSize*(len(c.items)-s.at)/bytesPerStep)
		t.size -= itemText
		c.items = slices.Delete(c.items, s.at, s.at+1)
		t.noteRemoval(s, len(c.items) == 0)
	}
}

// freeze ends the work on a tree and returns its data as an immutable value.
func (t *tree) freeze() any { return t.frozen(t.root.items[0]) }

// frozen converts a container of the tree to an immutable value.
func (t *tree) frozen(value any) any {
	switch v := value.(type) {
	case *object:
		t.charge(visitCost * len(v.members))
		kept := v.members[:0]
		for _, m := range v.members {
			if m.Value != (absent{}) {
				kept = append(kept, document.Member{Key: m.Key, Value: t.frozen(m.Value)})
			}
		}
		return kept
	case *array:
		t.charge(visitCost * len(v.items))
		for i, item := range v.items {
			v.items[i] = t.frozen(item)
		}
		return v.items
	}
	return value
}

// begin sets the event that the following changes belong to.
func (t *tree) begin(e event) {
	if t.history != nil {
		event := e
		t.event = &event
	}
}

// note adds a change to the history.
func (t *tree) note(kind changeKind, at, from *place) {
	if t.history != nil {
		t.history.note(t.meter, change{event: t.event, kind: kind, at: at, from: from})
	}
}

// noteItem is note for the items of a list.
func (t *tree) noteItem(kind changeKind, at *place, index int) {
	if t.history != nil {
		t.history.note(t.meter, change{event: t.event, kind: kind, at: at, index: index})
	}
}

// noteRemoval records a removal from a container.
func (t *tree) noteRemoval(s spot, emptied bool) {
	if t.history == nil {
		return
	}
	if _, isList := s.in.(*array); isList {
		t.noteItem(changeRemoved, s.place.in, s.at)
	}
	if emptied {
		t.note(changeMade, s.place.in, nil)
	}
}
