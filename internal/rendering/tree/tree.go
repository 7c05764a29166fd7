package tree

import (
	"errors"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/rendering/history"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// Tree is the data of one document while it is computed.
type Tree struct {
	*Memo

	Size int64 // about as many bytes as the JSON text has
	Peak int64 // the largest size that it got by a change

	root    *array // of one item
	top     spot
	room    int64            // the maximum of Size
	history *history.History // nil unless the document is explained
	event   *history.Event   // that changes it now
}

// object is a mapping of a tree.
type object struct {
	lookup

	members document.Mapping
	gone    int // of the members
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
	place *paths.Place
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
	ErrTooDeep  = fmt.Errorf("the data gets nested deeper than %d", paths.MaxDepth)
)

// New begins a tree with a value, which may grow up to room. Changes are noted in the history unless it is nil.
func New(memo *Memo, value any, room int64, h *history.History) *Tree {
	t := &Tree{Memo: memo, root: &array{items: []any{value}}, Size: memo.SizeOf(value), room: room, history: h}
	t.top.in = t.root
	if h != nil {
		t.top.place = &paths.Place{}
	}
	return t
}

// isMapping reports whether a value of a tree is a mapping.
func isMapping(value any) bool {
	switch value.(type) {
	case document.Mapping, *object:
		return true
	}
	return false
}

// KindOf describes the type of a value without the value, which may be secret.
func KindOf(value any) string {
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
func (t *Tree) own(s spot) container {
	switch v := s.value().(type) {
	case *object:
		return v
	case *array:
		return v
	case document.Mapping:
		o := t.newObject(v)
		s.in.set(s.at, o)
		return o
	case []any:
		a := t.newArray(v)
		s.in.set(s.at, a)
		return a
	}
	return nil
}

func (t *Tree) newObject(members document.Mapping) *object {
	t.Charge(meter.Copy * (len(members) + objectSize/meter.BytesPerStep))
	size := objectSize + meter.Member*(len(members)+1)
	t.Hold(size)
	return &object{members: append(make(document.Mapping, 0, len(members)+1), members...), held: size}
}

func (t *Tree) newArray(items []any) *array {
	t.Charge(meter.Copy * (len(items) + objectSize/meter.BytesPerStep))
	size := objectSize + meter.Word*len(items)
	t.Hold(size)
	return &array{slices.Clone(items), size}
}

// spots returns all spots that a path leads to, in document order. It copies the containers on the way.
func (t *Tree) spots(steps []paths.Step) ([]spot, error) {
	found := []spot{t.top}
	for _, s := range steps {
		var next []spot
		for _, at := range found {
			if next = t.follow(next, at, s); t.Err != nil {
				return nil, t.Err
			}
		}
		t.Hold(-spotSize * len(next))
		if found = next; len(found) == 0 {
			break
		}
	}
	return found, nil
}

// follow appends the spots that one step leads to.
func (t *Tree) follow(found []spot, from spot, s paths.Step) []spot {
	c := t.own(from)
	start, end := t.Reach(c, s)
	t.Charge(spotCost * (1 + end - start))
	t.Hold(spotSize * (end - start))
	found = slices.Grow(found, end-start)
	for at := start; at < end && t.Err == nil; at++ {
		if c.get(at) != (absent{}) {
			found = append(found, t.below(from, c, at))
		}
	}
	return found
}

// below is the spot of a member or an item of the container at another spot.
func (t *Tree) below(s spot, c container, at int) spot {
	below := spot{in: c, at: at, depth: s.depth + 1}
	if s.place == nil {
		return below
	}
	t.Hold(paths.PlaceSize)
	if o, ok := c.(*object); ok {
		below.place = s.place.Member(o.members[at].Key)
	} else {
		below.place = s.place.Item(at)
	}
	return below
}

// grow counts a change of the data's size before it is made.
func (t *Tree) grow(bytes int64, depth int) error {
	t.Size += bytes
	if t.Peak = max(t.Peak, t.Size); t.Size > t.room {
		return ErrTooLarge
	}
	if depth > paths.MaxDepth {
		return ErrTooDeep
	}
	return t.Err
}

// put writes a value, which must be immutable.
func (t *Tree) put(s spot, value any) error {
	was, is := t.measure(s.value()), t.measure(value)
	if err := t.grow(is.size-was.size, s.depth+is.depth); err != nil {
		return err
	}
	t.Hold(-was.held)
	s.in.set(s.at, value)
	return nil
}

// add appends a member to an object that does not have its key.
func (t *Tree) add(o *object, key string, value any, depth int) error {
	is := t.measure(value)
	if err := t.grow(is.size+memberText(key), depth+is.depth); err != nil {
		return err
	}
	t.Charge(meter.Lookup)
	t.Hold(2 * meter.Member) // half of it is room that append may leave
	o.held += 2 * meter.Member
	o.members = append(o.members, document.Member{Key: key, Value: value})
	if o.at != nil {
		t.Hold(meter.Entry)
		o.at[key] = len(o.members) - 1
	}
	return nil
}

// remove removes a member or an item. It invalidates the spots after it in an array.
func (t *Tree) remove(s spot) {
	was := t.measure(s.value())
	t.Size -= was.size
	t.Hold(-was.held)
	switch c := s.in.(type) {
	case *object:
		gone := &c.members[s.at]
		t.Charge(meter.Lookup)
		t.Size -= memberText(gone.Key)
		delete(c.lookup.at, gone.Key)
		gone.Value = absent{}
		c.gone++
		t.noteRemoval(s, c.gone == len(c.members))
	case *array:
		t.Charge(meter.Visit + meter.Word*(len(c.items)-s.at)/meter.BytesPerStep)
		t.Size -= itemText
		c.items = slices.Delete(c.items, s.at, s.at+1)
		t.noteRemoval(s, len(c.items) == 0)
	}
}

// Freeze ends the work on a tree and returns its data as an immutable value.
func (t *Tree) Freeze() any { return t.frozen(t.root.items[0]) }

// frozen converts a container of the tree to an immutable value.
func (t *Tree) frozen(value any) any {
	switch v := value.(type) {
	case *object:
		t.Charge(meter.Visit * len(v.members))
		kept := v.members[:0]
		for _, m := range v.members {
			if m.Value != (absent{}) {
				kept = append(kept, document.Member{Key: m.Key, Value: t.frozen(m.Value)})
			}
		}
		return kept
	case *array:
		t.Charge(meter.Visit * len(v.items))
		for i, item := range v.items {
			v.items[i] = t.frozen(item)
		}
		return v.items
	}
	return value
}

// Begin sets the event that the following changes belong to.
func (t *Tree) Begin(e history.Event) {
	if t.history != nil {
		event := e
		event.History = t.history
		t.event = &event
	}
}

// note adds a change to the history.
func (t *Tree) note(kind history.Kind, at, from *paths.Place) {
	if t.history != nil {
		t.history.Note(t.Meter, history.Change{Event: t.event, Kind: kind, At: at, From: from})
	}
}

// noteItem is note for the items of a list.
func (t *Tree) noteItem(kind history.Kind, at *paths.Place, index int) {
	if t.history != nil {
		t.history.Note(t.Meter, history.Change{Event: t.event, Kind: kind, At: at, Index: index})
	}
}

// noteRemoval records a removal from a container.
func (t *Tree) noteRemoval(s spot, emptied bool) {
	if t.history == nil {
		return
	}
	if _, isList := s.in.(*array); isList {
		t.noteItem(history.Removed, s.place.In, s.at)
	}
	if emptied {
		t.note(history.Made, s.place.In, nil)
	}
}
