package document

import (
	"errors"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Tree holds the documents of a text as nodes of the YAML library, with aliases unexpanded.
type Tree struct {
	Documents []*yaml.Node // the top value of each
	Problem   string       // why the text is invalid, without any part of it; "" if it is valid
	Line      int          // of the problem, from 1; 0 if unknown

	parser parser
}

// ParseTree parses a text with the YAML library. Errors come from the budget, which holds the memory of the nodes until
// Release.
func ParseTree(meter *budget.Meter, text []byte) (*Tree, error) {
	t := &Tree{parser: parser{meter: meter}}
	err := t.parser.parse(text, func(node *yaml.Node) bool {
		t.Documents = append(t.Documents, node.Content...)
		return true
	})
	if problem, ok := errors.AsType[*syntaxError](err); ok {
		t.Documents, t.Problem, t.Line = nil, string(problem.rule), problem.line
		return t, nil
	}
	return t, err
}

// Release releases the memory of the nodes in the budget.
func (t *Tree) Release() { t.parser.release() }
