package rendering

import (
	"errors"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/document/repr"
)

// action is one step of layering (spec/rendering.md §8.1).
type action struct {
	method string
	path   *path
	stored document.Mapping // for messages
}

// actionSize is the memory of an action, in bytes.
const actionSize = 64

func (r *run) action(stored document.Mapping) action {
	return action{method: text(stored.At("method")), path: r.actionPath(text(stored.At("path"))), stored: stored}
}

var (
	errMissing = errors.New("there is nothing at the path")
	errMethod  = errors.New("the method is not merge, replace or delete")
)

// layer applies a document's actions to its parent's data, from which the tree was made.
func (r *run) layer(t *tree, n *node) error {
	if !n.layered() {
		return nil
	}
	own, err := r.value(n)
	if err != nil {
		return err
	}
	for i, a := range n.actions {
		r.charge(changeCost)
		t.begin(event{node: n, number: i})
		if err := t.apply(a, own); err != nil {
			return r.actionFault(n, i, err)
		}
		if r.err != nil {
			return r.actionFault(n, i, r.err)
		}
	}
	return nil
}

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

// copy writes the child's value at a path to that path: merged with the parent's value, or replacing it
// (spec/rendering.md §8.2, §8.3).
func (t *tree) copy(p *path, own any, write func(s spot, value any, from *place) error) error {
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
	t.note(valueWritten, s.place, from)
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
		t.note(valueSpread, s.place, spots[0].place)
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
func (t *tree) update(s spot, over document.Mapping, from *place, write func(spot, any, *place) error) error {
	if len(over) == 0 {
		return nil
	}
	o, _ := t.own(s).(*object)
	for i := range over {
		key, value, read := over[i].Key, over[i].Value, from.key(over[i].Key)
		if at := t.seek(o, key); at != notFound {
			if err := write(t.below(s, o, at), value, read); err != nil {
				return err
			}
			continue
		}
		if err := t.add(o, key, value, s.depth+1); err != nil {
			return err
		}
		t.note(valueWritten, s.place.key(key), read)
	}
	return nil
}

// delete removes the values at a path (spec/rendering.md §8.4, R2).
func (t *tree) delete(p *path) error {
	if len(p.steps) == 0 {
		t.note(containerMade, t.top.place, nil)
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

// actionFault says why an action cannot be done.
func (r *run) actionFault(n *node, number int, cause error) error {
	a := n.actions[number]
	written := shorten(text(a.stored.At("path")))
	if limit := r.limitFault(n, cause, ", action %d (%s %s)", number+1, a.method, written); limit != nil {
		return limit
	}
	if errors.Is(cause, errMethod) {
		return r.in(actionOf(number), refuse("UnsupportedActionMethod", []*node{n},
			"Method in %s is invalid for document %s", repr.Of(a.stored), n.Identity))
	}
	parent := n.parent.origin()
	details := ""
	if !errors.Is(cause, errMissing) {
		details = ". Details: " + cause.Error()
	}
	return r.in(actionOf(number), refuse("MissingDocumentKey", []*node{n, parent},
		"Missing action path in %s needed for layering from either the data section of the parent %s or child %s document%s",
		repr.Of(a.stored), parent.Identity, n.Identity, details))
}

// origin is the document that the reference names as the parent: ancestors that only pass on inherited data are skipped
// (spec/rendering.md §8.4).
func (n *node) origin() *node {
	for n.layered() && len(n.substitutions) == 0 {
		n = n.parent
	}
	return n
}

// limitFault is the fault of data that gets too large, or of a spent budget, nil if the cause is another one. The part
// of the document that was worked on follows its name.
func (r *run) limitFault(n *node, cause error, part string, args ...any) error {
	switch {
	case r.err != nil:
		return r.check(n, fmt.Sprintf(part, args...))
	case errors.Is(cause, errTooLarge):
		return r.tooLarge(n)
	case errors.Is(cause, errTooDeep), errors.Is(cause, errTooMuchWork):
		return about(document.TooLarge("Document %s does not render: %w", n.Identity, cause), n)
	}
	return nil
}
