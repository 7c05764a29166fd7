package rendering

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

// Explanation says where the rendered data of one document comes from. Documents are identified by their index in the
// input.
type Explanation struct {
	Document int
	Parents  []int // the documents it inherits from, the nearest first
	Leaves   []Leaf
}

// Leaf is a scalar or an empty container in the rendered data.
type Leaf struct {
	Trail

	At     string   // its path in the data
	Parts  []string // of that path, as they are written in it
	Value  any
	Secret bool // some document on its way is encrypted
}

// Trail is the list of steps from where a leaf was written to the rendered document.
type Trail struct {
	Document int    // that it was written in
	Path     string // in the data of that document; "" for an empty container that the first step made
	Steps    []Step // the oldest first
	Omitted  int    // that are not among them
}

// Step is one event on the trail of a leaf.
type Step struct {
	Kind     StepKind
	Document int // in which it happened
	// For an action or a substitution: its position in the document's list, the path it reads, and the path it writes.
	Number   int
	From, To string
	// For a substitution: its source, the pattern of the part taken, and the pattern replaced by the value. Inserted is
	// the trail of that value, nil if it is a container.
	Source   int
	Part     string
	Pattern  string
	Inserted *Trail
}

// StepKind says how a step changed a leaf.
type StepKind uint8

// The kinds of steps.
const (
	Inherited   StepKind = iota // from the document's parent
	Merged                      // by an action of the document
	Replaced                    // by an action
	Deleted                     // by an action, which left an empty container
	Substituted                 // into the document
	Inserted                    // by a substitution, into a text
)

// String returns the word that the API uses.
func (k StepKind) String() string {
	switch k {
	case Inherited:
		return "inherit"
	case Merged:
		return "merge"
	case Replaced:
		return "replace"
	case Deleted:
		return "delete"
	case Substituted:
		return "substitute"
	case Inserted:
		return "insert"
	}
	return "unknown"
}

// Bounds of one explanation.
const (
	maxLeaves   = 10_000
	maxAllSteps = 50_000  // steps of all leaves
	maxNested   = 100     // steps of the values that were put into one leaf
	maxTexts    = 4 << 20 // bytes of paths, patterns and names
)

// Explain renders one document with its dependencies, and returns where every leaf at or below a path comes from; "."
// is the whole document. Other documents need not render. An identity without a layer means the document with the
// schema and name that services read, or else the most specific one.
//
// Faults: those of Render; NotFound if the document or the path does not exist, Invalid for a malformed path, TooLarge
// for more than 10,000 leaves, or more than 4 MiB of paths and names.
func Explain(ctx context.Context, documents []*document.Document, id document.Identity, at string, options Options) (
	*Explanation, error,
) {
	r := newRun(ctx, documents, options)
	defer r.end()
	asked := r.parsePath(at)
	if asked.broken != nil {
		return nil, fault.New(fault.Invalid, "HTTPInvalidParam", `The "path" parameter is invalid: %w`, asked.broken)
	}
	order, err := r.ordered(documents)
	if err != nil {
		return nil, err
	}
	explained, err := findDocument(order, id)
	if err != nil {
		return nil, err
	}
	order = r.lineage(order, func(n *node) bool { return n == explained })
	for _, n := range order {
		n.history = &history{}
	}
	if err := r.computeAll(order); err != nil {
		return nil, err
	}
	if explained.cause != nil {
		return nil, explained.cause
	}
	return r.explain(explained, asked)
}

// explain returns where the data of a rendered document comes from.
func (r *run) explain(n *node, asked *dataPath) (*Explanation, error) {
	data, err := r.value(n)
	if err != nil {
		return nil, err
	}
	explanation := &Explanation{Document: n.index}
	for heir := n; heir.layered(); {
		heir = heir.ancestor()
		explanation.Parents = append(explanation.Parents, heir.index)
	}
	if n.encrypted { // not even its keys are shown
		explanation.Leaves = []Leaf{{Trail: Trail{Document: n.index, Path: "."}, At: ".", Secret: true}}
		return explanation, nil
	}
	x := &explainer{run: r, node: n, texts: map[*dataPath]string{}, inserts: map[*change]bool{}}
	if err := x.follow(data, asked.steps, &place{}); err != nil {
		return nil, err
	}
	if err := x.stopped(); err != nil {
		return nil, err
	}
	if len(x.leaves) == 0 {
		return nil, x.nothing(data, asked)
	}
	explanation.Leaves = x.leaves
	return explanation, nil
}

// explainer collects the leaves of a document's data.
type explainer struct {
	*run

	node    *node
	leaves  []Leaf
	texts   map[*dataPath]string // of the paths of actions
	inserts map[*change]bool     // whether a change of a text inserted a secret
	steps   int                  // of all leaves
	nested  int                  // of the values that were put into the current leaf
	size    int                  // of texts, in bytes
}

// follow follows a path, and then collects all leaves below it.
func (x *explainer) follow(value any, steps []pathStep, at *place) error {
	if len(steps) == 0 {
		return x.collect(value, at)
	}
	from, to := x.reach(value, steps[0])
	x.charge(visitCost * (to - from))
	for i := from; i < to; i++ {
		if err := x.follow(item(value, i), steps[1:], at.at(value, i)); err != nil {
			return err
		}
	}
	return nil
}

// collect explains all leaves of a value.
func (x *explainer) collect(value any, at *place) error {
	if !isFilled(value) {
		return x.leaf(value, at)
	}
	members, items := contents(value)
	for i := range len(members) + len(items) {
		if err := x.collect(item(value, i), at.at(value, i)); err != nil {
			return err
		}
	}
	return nil
}

// leaf explains one leaf.
func (x *explainer) leaf(value any, at *place) error {
	if len(x.leaves) == maxLeaves || x.steps > maxAllSteps || x.size > maxTexts {
		return about(document.TooLarge("Document %s has more values at that path than are explained at once "+
			"(%d, of %d steps and 4 MiB together): ask for a part of them, with a longer path",
			x.node.Identity, maxLeaves, maxAllSteps), x.node)
	}
	steps := at.steps()
	hops, origin := x.way(x.node.at(slices.Clone(steps)))
	isSecret, depth := x.secrecy(hops, origin, len(steps))
	leaf := Leaf{Value: value, Secret: isSecret, At: x.text(steps[:depth])}
	if last := len(x.leaves) - 1; isSecret && last >= 0 && x.leaves[last].Secret && x.leaves[last].At == leaf.At {
		return x.stopped() // another part of one secret
	}
	for _, s := range steps[:depth] {
		leaf.Parts = append(leaf.Parts, s.String())
	}
	x.nested = 0
	leaf.Trail = x.trail(hops, origin)
	x.steps += len(leaf.Steps) + x.nested
	x.size += 2 * len(leaf.At)
	x.leaves = append(x.leaves, leaf)
	return x.stopped()
}

// stopped returns the error of a spent budget.
func (x *explainer) stopped() error {
	if x.err == nil {
		return nil
	}
	return x.run.stopped(x.node, ", explanation of value "+strconv.Itoa(len(x.leaves)))
}

// nothing returns the fault of a path that leads nowhere, which says how far it leads.
func (x *explainer) nothing(data any, asked *dataPath) error {
	there := 0
	for there < len(asked.steps) {
		value, _ := x.first(data, asked.steps[:there])
		_, isText := value.(string)
		if _, found := x.first(data, asked.steps[:there+1]); !found || isText { // no character is explained
			break
		}
		there++
	}
	return about(fault.New(fault.NotFound, "DocumentPathNotFound",
		"There is nothing at %s in the rendered data of document %s; it leads no further than %s",
		asked, x.node.Identity, pathText(asked.steps[:there])), x.node)
}

// findDocument returns the document with an identity. One without a layer means the document with the schema and name
// that services read, or else the most specific one. Fault: NotFound, which names documents that may have been meant.
func findDocument(nodes []*node, id document.Identity) (found *node, err error) {
	for _, n := range nodes {
		switch {
		case n.Schema != id.Schema || n.Name != id.Name || id.Layer != "" && n.Layer != id.Layer:
		case found == nil, n.returned() && !found.returned(), n.returned() == found.returned() && n.rank > found.rank:
			found = n
		}
	}
	if found == nil {
		return nil, noDocument(nodes, id)
	}
	return found, nil
}

// maxSimilar is how many documents are named that may have been meant.
const maxSimilar = 10

// noDocument says which documents could have been meant.
func noDocument(nodes []*node, id document.Identity) error {
	wanted := fmt.Sprintf("[%s] %s", id.Schema, id.Name)
	if id.Layer != "" {
		wanted = id.String()
	}
	var similar []string
	for _, n := range nodes {
		if (n.Name == id.Name || n.Schema == id.Schema) && len(similar) < maxSimilar {
			similar = append(similar, n.Identity.String())
		}
	}
	if similar == nil {
		return fault.New(fault.NotFound, "DocumentNotFound",
			"There is no document %s, and none of that schema or name", wanted)
	}
	return fault.New(fault.NotFound, "DocumentNotFound",
		"There is no document %s; of that schema or name there are, among others: %s", wanted, strings.Join(similar, ", "))
}
