package rendering

import (
	"errors"
	"slices"

	"purser/internal/document"
)

// action is one step of layering (spec/rendering.md §8.1).
type action struct {
	method string
	path   *path
	stored document.Mapping // for messages
}

func (r *run) action(stored document.Mapping) action {
	return action{method: text(stored.At("method")), path: r.actionPath(text(stored.At("path"))), stored: stored}
}

var (
	errMissing = errors.New("there is nothing at the path")
	errMethod  = errors.New("the method is not merge, replace or delete")
)

// layer applies a document's actions to its parent's data, of which the tree was made.
func (r *run) layer(t *tree, n *node) error {
	if !n.layered() {
		return nil
	}
	own, err := r.value(n)
	if err != nil {
		return err
	}
	for i, a := range n.actions {
		if err := r.check(n); err != nil {
			return err
		}
		t.begin(event{node: n, number: i})
		if err := t.apply(a, own); err != nil {
			return r.actionFault(n, a, err)
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
		return t.write(a.path, own, t.merge)
	case "replace":
		return t.write(a.path, own, t.put)
	case "delete":
		return t.delete(a.path)
	}
	return errMethod
}

// write brings what the child has at a path to that path: merged with what is there, or in its place
// (spec/rendering.md §8.2, §8.3).
func (t *tree) write(p *path, own any, bring func(s spot, value any) error) error {
	value, _ := t.first(own, p.steps)
	if bare(value) == nil {
		return errMissing
	}
	value = t.passed(value)
	spots := t.spots(p.steps)
	if len(spots) == 0 {
		created, err := t.create(p)
		if err != nil {
			return err
		}
		return t.put(created, value)
	}
	if err := bring(spots[0], value); err != nil {
		return err
	}
	return t.spread(spots)
}

// spread writes what stands at the first of some spots to all others.
func (t *tree) spread(spots []spot) error {
	if len(spots) == 1 {
		return nil
	}
	value := frozen(spots[0].value())
	spots[0].in.set(spots[0].at, value)
	for _, s := range spots[1:] {
		t.charge(1)
		if err := t.put(s, value); err != nil {
			return err
		}
	}
	return nil
}

// merge lays a value over what stands at a spot: mappings member by member, all else in its place.
func (t *tree) merge(s spot, value any) error {
	over, ok := bare(value).(document.Mapping)
	if !ok || !isMapping(s.value()) {
		return t.put(s, value)
	}
	if len(over) == 0 {
		return nil
	}
	o, _ := t.own(s).(*object)
	for i := range over {
		at := t.seek(o, over[i].Key)
		if at == notThere {
			if _, err := t.add(o, over[i].Key, over[i].Value, s.depth+1); err != nil {
				return err
			}
			continue
		}
		if err := t.merge(spot{o, at, s.depth + 1}, over[i].Value); err != nil {
			return err
		}
	}
	return nil
}

// delete takes out what a path leads to (spec/rendering.md §8.4, R2).
func (t *tree) delete(p *path) error {
	if len(p.steps) == 0 {
		return t.put(t.top(), t.blank(document.Mapping{}))
	}
	spots := t.spots(p.steps)
	if len(spots) == 0 || bare(spots[0].value()) == nil {
		return errMissing
	}
	for _, s := range slices.Backward(spots) { // for those behind it move up
		t.remove(s)
	}
	return nil
}

// actionFault says why an action cannot be done.
func (r *run) actionFault(n *node, a action, cause error) error {
	if limit := r.limitFault(n, cause); limit != nil {
		return limit
	}
	if errors.Is(cause, errMethod) {
		return refuse("UnsupportedActionMethod", []*node{n}, "Method in %s is invalid for document %s",
			repr(a.stored), n.Identity)
	}
	parent := n.parent.origin()
	details := ""
	if !errors.Is(cause, errMissing) {
		details = ". Details: " + cause.Error()
	}
	return refuse("MissingDocumentKey", []*node{n, parent},
		"Missing action path in %s needed for layering from either the data section of the parent %s or child %s document%s",
		repr(a.stored), parent.Identity, n.Identity, details)
}

// origin is the document that the reference names as a parent: where that only passes on what it got, the parent of it
// (spec/rendering.md §8.4).
func (n *node) origin() *node {
	for n.layered() && len(n.substitutions) == 0 {
		n = n.parent
	}
	return n
}

// limitFault is the fault of data that gets too large, nil if the cause is another one.
func (r *run) limitFault(n *node, cause error) error {
	switch {
	case errors.Is(cause, errTooLarge):
		return r.tooLarge(n)
	case errors.Is(cause, errTooDeep), errors.Is(cause, errTooMuchWork):
		return about(document.TooLarge("Document %s does not render: %w", n.Identity, cause), n)
	}
	return nil
}
