package rendering

import (
	"errors"
	"fmt"

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
