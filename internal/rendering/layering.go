package rendering

import (
	"errors"
	"fmt"

	"purser/internal/document"
	"purser/internal/document/repr"
	"purser/internal/fault"
	"purser/internal/rendering/history"
	"purser/internal/rendering/pattern"
	"purser/internal/rendering/relations"
	"purser/internal/rendering/tree"
	"purser/internal/words"
)

// changeCost is the cost of beginning an action, or of writing to a destination, in steps.
const changeCost = 500

// layer applies a document's actions to its parent's data, from which the tree was made.
func (r *run) layer(t *tree.Tree, n *node) error {
	if !n.Layered() {
		return nil
	}
	own, err := r.value(n)
	if err != nil {
		return err
	}
	for i, a := range n.Actions {
		r.Charge(changeCost)
		t.Begin(history.Event{Number: i})
		if err := t.Apply(a, own); err != nil {
			return r.actionFault(n, i, err)
		}
		if r.Err != nil {
			return r.actionFault(n, i, r.Err)
		}
	}
	return nil
}

// actionFault says why an action cannot be done.
func (r *run) actionFault(n *node, number int, cause error) error {
	a := n.Actions[number]
	written := words.Excerpt(a.Written)
	if limit := r.limitFault(n, cause, ", action %d (%s %s)", number+1, a.Method, written); limit != nil {
		return limit
	}
	if errors.Is(cause, tree.ErrMethod) {
		return r.in(actionOf(number), relations.Refuse("UnsupportedActionMethod", []*relations.Node{n.Node},
			"Method in %s is invalid for document %s", repr.Of(a.Stored), n.Identity))
	}
	parent := n.Origin()
	details := ""
	if !errors.Is(cause, tree.ErrMissing) {
		details = ". Details: " + cause.Error()
	}
	return r.in(actionOf(number), relations.Refuse("MissingDocumentKey", []*relations.Node{n.Node, parent},
		"Missing action path in %s needed for layering from either the data section of the parent %s or child %s document%s",
		repr.Of(a.Stored), parent.Identity, n.Identity, details))
}

// limitFault is the fault of data that gets too large, or of a spent budget, nil if the cause is another one. The part
// of the document that was worked on follows its name.
func (r *run) limitFault(n *node, cause error, part string, args ...any) error {
	switch {
	case r.Err != nil:
		return r.stopped(n, fmt.Sprintf(part, args...))
	case errors.Is(cause, tree.ErrTooLarge):
		return r.tooLarge(n)
	case errors.Is(cause, tree.ErrTooDeep), errors.Is(cause, pattern.ErrTooMuchWork):
		return relations.About(document.TooLarge("Document %s does not render: %w", n.Identity, cause), n.Node)
	}
	return nil
}

// in says where in the first document a fault is, which the reference does not.
func (r *run) in(path string, f *fault.Fault) *fault.Fault {
	if !r.options.Compat {
		f.Messages[0].Path = path
	}
	return f
}

// actionOf returns the path of an action in a document's metadata.
func actionOf(number int) string {
	return fmt.Sprintf(".metadata.layeringDefinition.actions.%d", number)
}
