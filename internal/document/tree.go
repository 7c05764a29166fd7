package document

import (
	"errors"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Tree holds the documents of a text as nodes of the YAML library, aliases not expanded.
type Tree struct {
	Documents []*yaml.Node // the top value of each
	Problem   string       // why the text cannot be read; "" if it can

	parser parser
}

// ParseTree reads a text with the YAML library alone. Errors are those of the budget, which counts the nodes until
// Release.
func ParseTree(meter *budget.Meter, text []byte) (*Tree, error) {
	t := &Tree{parser: parser{meter: meter}}
	err := t.parser.parse(text, func(node *yaml.Node) bool {
		t.Documents = append(t.Documents, node.Content...)
		return true
	})
	if problem, ok := errors.AsType[*syntaxError](err); ok {
		t.Documents, t.Problem = nil, problem.text
		return t, nil
	}
	return t, err
}

// Release gives back the memory of the nodes.
func (t *Tree) Release() { t.parser.release() }
