package rendering

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// changeCost is the cost of beginning an action, or of writing to a destination, in steps.
const changeCost = 500

// applyActions applies a document's actions to its parent's data, from which the tree was made.
func (r *run) applyActions(t *tree, n *node) error {
	if !n.layered() {
		return nil
	}
	own, err := r.value(n)
	if err != nil {
		return err
	}
	for i, a := range n.actions {
		r.charge(changeCost)
		t.begin(event{number: i})
		err := t.apply(a, own)
		if ended := r.ended(n, err, ", action %d (%s %s)", i+1, a.method, words.Excerpt(a.written)); ended != nil {
			return ended
		}
		if err != nil {
			return &refusal{stage: acting, number: i, cause: err}
		}
	}
	return nil
}

// actionFault says why an action cannot be done.
func (r *run) actionFault(n *node, number int, cause error) *fault.Fault {
	if limit := limitFault(n, cause); limit != nil {
		return limit
	}
	a := n.actions[number]
	if errors.Is(cause, errMethod) {
		return r.atPath(actionOf(number), invalid("UnsupportedActionMethod", []*node{n},
			"Method in %s is invalid for document %s", document.Repr(a.stored), n.Identity))
	}
	parent := n.origin()
	details := ""
	if !errors.Is(cause, errMissing) {
		details = ". Details: " + cause.Error()
	}
	return r.atPath(actionOf(number), invalid("MissingDocumentKey", []*node{n, parent},
		"Missing action path in %s needed for layering from either the data section of the parent %s or child %s document%s",
		document.Repr(a.stored), parent.Identity, n.Identity, details))
}

// ended returns the error of an action or a substitution that ends the work on the document: the data of all documents
// gets too large, or a budget is spent. The part of the document that was worked on follows its name.
func (r *run) ended(n *node, cause error, part string, args ...any) error {
	if cause != nil {
		_ = r.check() // it may be the reason, as far as a pattern is concerned
	}
	switch {
	case r.err != nil:
		return r.stopped(n, fmt.Sprintf(part, args...))
	case errors.Is(cause, ErrTooLarge):
		return r.tooLarge(n)
	}
	return nil
}

// limitFault is the fault of data that is nested too deeply, and of a pattern that takes too long; nil if the cause is
// another one.
func limitFault(n *node, cause error) *fault.Fault {
	if errors.Is(cause, errTooDeep) || errors.Is(cause, errTooMuchWork) {
		return about(document.TooLarge("Document %s does not render: %w", n.Identity, cause), n)
	}
	return nil
}

// actionOf returns the path of an action in a document's metadata.
func actionOf(number int) string {
	return fmt.Sprintf(".metadata.layeringDefinition.actions.%d", number)
}

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
