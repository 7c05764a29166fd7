package rendering

import (
	"context"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// DefaultLimit is the default maximum size of all rendered data, in bytes. Real sites need 1 MB.
const DefaultLimit = 64 << 20

// Options configure a rendering.
type Options struct {
	// Limit bounds the size of the data of all documents together, roughly as JSON text in bytes; 0 means
	// DefaultLimit.
	Limit int64
	// Resolve returns the value of a reference in the data of an encrypted document; found is false if there is none
	// (spec/rendering.md §9). Without it references are not resolved.
	Resolve func(reference string) (value any, found bool)
	// Only chooses the documents to render; others are computed only if these need them. nil chooses all.
	Only func(*document.Document) bool
	// Lenient skips substitutions that fail, to render as much as possible of invalid documents (spec/rendering.md §1,
	// §8.5).
	Lenient bool
	// Compat leaves out warnings, and details of errors that the reference does not have.
	Compat bool
	// Withhold leaves out the data of documents that are Secret, so that neither data nor errors depend on a secret.
	Withhold bool
	// Cache holds results of earlier renderings for reuse, or is nil. It does not change the outcome.
	Cache *Cache
}

// Rendered is a document that services read (spec/rendering.md §7.4). All but its data is as it was submitted.
type Rendered struct {
	Index int // of the document in the input
	// Computed reports whether the data was computed by rendering. If not, Data is not set, and the document's own text
	// and digest are valid.
	Computed bool
	Data     any // immutable, and shared with other documents
	// Destinations are the paths in the data that substitutions wrote to, including those of its ancestors, or all of the
	// data if an ancestor is encrypted, except with Compat. Messages must not show values at or below them
	// (spec/rendering.md §0 R14).
	Destinations [][]string
	// Secret reports whether the document is encrypted, or takes values from one that is: by substitutions
	// (spec/rendering.md §9.3), or from its parent, which the reference allows. It does not depend on the data itself.
	Secret bool
	// Key is a digest of everything that computed data depends on; zero if that includes a secret, or without a Cache.
	Key document.Digest
	// Text is the computed data as JSON text where the Cache had it. Data is not set then.
	Text []byte

	kept *sizes // nil unless the Cache may keep the data
}

// Render computes the documents of one revision and returns those that services read, in the order of
// spec/rendering.md §7.3: first all documents with dependencies or dependents, then the others in the order of the
// input. If several documents have the same identity, only the first counts. Warnings are about selectors that select
// nothing and patterns that are not found: at most 50 that depend on no secret and 50 that do, each with the number of
// the rest.
//
// Faults: Invalid and Conflict if the documents do not fit together, TooLarge if a limit is exceeded. If the context
// ends, the error is its cause.
func Render(ctx context.Context, documents []*document.Document, options Options) (
	rendered []Rendered, warnings []fault.Message, err error,
) {
	r := newRun(ctx, documents, options)
	defer r.end()
	order, err := r.render(documents)
	if err != nil {
		return nil, nil, err
	}
	rendered = make([]Rendered, 0, len(order))
	for _, n := range order {
		if r.wants(n) {
			rendered = append(rendered, r.rendered(n))
		}
	}
	r.keepUnseen(order)
	return rendered, r.warnings.all(), nil
}

// wants reports whether a document is to be returned.
func (r *run) wants(n *node) bool {
	return n.returned() && (r.options.Only == nil || r.options.Only(n.document))
}

// rendered returns the outcome for a document.
func (r *run) rendered(n *node) Rendered {
	out := Rendered{Index: n.index, Computed: n.computed, Secret: n.secret, Key: n.key}
	if !n.computed {
		return out
	}
	out.Destinations, out.Text = n.destinations, n.text
	if n.text == nil {
		out.Data = n.data
	}
	if !n.key.IsZero() && !n.warned && !r.options.Lenient {
		out.kept = &n.sizes
	}
	return out
}

// run is one rendering.
type run struct {
	*engine

	options    Options
	sources    sources
	policies   map[*node]layers // the layers of the LayeringPolicies read so far
	explaining bool             // changes of values are recorded
	warnings   warnings
}

// newRun begins a rendering. It grants the request the work that documents of that size may cost.
func newRun(ctx context.Context, documents []*document.Document, options Options) *run {
	size := 0
	for _, d := range documents {
		size += len(d.Metadata) + len(d.Data)
	}
	budget.From(ctx).Grant(size)
	if options.Limit == 0 {
		options.Limit = DefaultLimit
	}
	return &run{
		engine: newEngine(newMeter(ctx, options.Limit)), options: options, policies: map[*node]layers{},
	}
}

// render computes documents in their order.
func (r *run) render(documents []*document.Document) ([]*node, error) {
	order, err := r.ordered(documents)
	if err != nil {
		return nil, err
	}
	if only := r.options.Only; only != nil {
		order = r.lineage(order, func(n *node) bool { return only(n.document) })
	}
	return order, r.computeAll(order)
}

// ordered reads documents and brings them into the order in which they can be computed.
func (r *run) ordered(documents []*document.Document) ([]*node, error) {
	nodes, err := r.readAll(documents)
	if err != nil {
		return nil, err
	}
	return r.plan(nodes)
}

func (r *run) computeAll(order []*node) error {
	for _, n := range order {
		if err := r.compute(n); err != nil {
			return err
		}
	}
	return nil
}

// plan links the documents to their dependencies, and returns them sorted so that dependencies come first.
// Checks are made in the order of spec/rendering.md §11.6.
func (r *run) plan(nodes []*node) ([]*node, error) {
	layers, err := r.layersOf(nodes)
	if err != nil {
		return nil, err
	}
	if err := newFamily(r.meter, layers, nodes).selectParents(); err != nil {
		return nil, err
	}
	if err := markReplaced(nodes); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.isOrphan() {
			r.warn(orphan(n))
		}
	}
	chooseSources(nodes)
	order, err := newGraph(r.meter, nodes, r.sources).order(nodes)
	for _, n := range order {
		r.inherit(n)
	}
	return order, err
}

// compute computes the final data of a document after its dependencies (spec/rendering.md §8).
func (r *run) compute(n *node) error {
	if err := r.check(n, ""); err != nil {
		return err
	}
	if n.secret && r.options.Withhold {
		return nil
	}
	if !n.changes() {
		return r.keep(n)
	}
	r.setKey(n)
	if r.takeMade(n) {
		return r.reserve(n, n.size)
	}
	warned := r.warnings.count
	base, err := r.base(n)
	if err != nil {
		return err
	}
	t := newTree(r.engine, base, n.history)
	if err := r.layer(t, n); err != nil {
		return err
	}
	if n.layered() {
		n.destinations = slices.Clip(n.ancestor().destinations)
		if n.ancestor().encrypted && !r.options.Compat {
			n.destinations = r.appendPlace(n.destinations, &path{}) // all of it
		}
	}
	for i := range n.substitutions {
		if err := r.substitute(t, n, i); err != nil {
			return err
		}
		for _, d := range n.substitutions[i].destinations {
			n.destinations = r.appendPlace(n.destinations, d.path)
		}
	}
	n.data, n.read, n.computed = t.freeze(), true, true
	n.sizes, n.warned = sizes{t.size, t.peak}, r.warnings.count > warned
	if err := r.check(n, ""); err != nil {
		return err
	}
	return r.reserve(n, t.size)
}

// keep leaves a document unchanged, except that a reference to a secret is resolved.
func (r *run) keep(n *node) error {
	if n.encrypted && r.options.Resolve != nil {
		value, err := r.value(n)
		if err != nil {
			return err
		}
		if n.computed {
			return r.reserve(n, r.measure(value).size)
		}
	}
	return r.reserve(n, int64(len(n.document.Data)))
}

// base is the data that a document's actions and substitutions begin with.
func (r *run) base(n *node) (any, error) {
	if n.layered() {
		return r.value(n.ancestor())
	}
	return r.value(n)
}

// appendPlace appends the place that a path leads to.
func (r *run) appendPlace(places [][]string, p *path) [][]string {
	if len(places) == cap(places) { // append copies it
		r.charge(copyCost * len(places))
		r.hold(listSize * (2*len(places) + 1))
	}
	r.charge(visitCost * len(p.steps))
	r.hold(wordSize * len(p.steps))
	return append(places, p.within())
}
