package rendering

import (
	"context"

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
	// Resolve returns the value of a reference in the data of an encrypted document; found is false if there is none.
	// Without it references are not resolved.
	Resolve func(reference string) (value any, found bool)
	// Only chooses the documents to render; others are computed only if these need them. nil chooses all.
	Only func(*document.Document) bool
	// Compat leaves out warnings, and details of errors that Deckhand does not have.
	Compat bool
	// Withhold leaves out the data of documents that are Secret, so that neither data nor errors depend on a secret.
	Withhold bool
	// Examine also returns the Problems of the documents.
	Examine bool
	// Cache holds results of earlier renderings for reuse, or is nil. It does not change the outcome. With a Cache, a
	// reference always has the same value; one that is not found now may be found later.
	Cache *Cache
	// Changed reports whether a document is new. The request's budget pays for these; nil is for none.
	Changed func(*document.Document) bool
}

// Rendered is a document that services read. All but its data is as it was submitted.
type Rendered struct {
	Index int // of the document in the input
	// Computed reports whether the data was computed by rendering. If not, Data is not set, and the document's own text
	// and digest are valid.
	Computed bool
	Data     any // immutable, and shared with other documents; not set if the Cache had it as text, see JSON
	// Destinations are the paths in the data that substitutions wrote to, including those of its ancestors, or all of the
	// data if an ancestor is encrypted, except with Compat. Messages must not show values at or below them.
	Destinations [][]string
	// Secret reports whether the document is encrypted, or takes values from one that is: by substitutions, or from its
	// parent, which Deckhand allows. It does not depend on the data itself.
	Secret bool
	// Key is a digest of everything that computed data depends on, of references instead of secrets; zero without a Cache.
	Key document.Digest

	text  []byte // the data where the Cache had it
	made  *made  // nil unless the Cache may keep the data
	cache *Cache
}

// JSON returns computed data as JSON text, which the Cache keeps. It is safe for concurrent use on several documents.
func (r Rendered) JSON() []byte {
	if r.text != nil {
		return r.text
	}
	text := document.AppendJSON(nil, r.Data)
	if r.made != nil {
		m := *r.made
		m.text = text
		r.cache.keepMade(r.Key, m)
	}
	return text
}

// Outcome is the outcome of a rendering.
type Outcome struct {
	// Documents are those that services read, in Deckhand's order: first all documents with
	// dependencies or dependents, then the others in the order of the input.
	Documents []Rendered
	// Faults are the reasons why other documents do not render, in the order in which Deckhand finds them: at most
	// 200 that depend on no secret and 200 that do, each with the number of the rest.
	Faults []*fault.Fault
	// Unrendered are the other documents that services would read, in the order in which they would be rendered.
	Unrendered []Unrendered
	// Warnings are about selectors that select nothing and patterns that are not found: at most 50 that depend on no
	// secret and 50 that do, each with the number of the rest.
	Warnings []fault.Message
	// Problems are what Examine reports, if the Options ask for it.
	Problems []*fault.Fault
}

// Unrendered is a document that does not render.
type Unrendered struct {
	Index  int          // of the document in the input
	Cause  *fault.Fault // among the Faults, or of type MoreErrors
	Failed bool         // the fault is about this document, not about one that it depends on
	Secret bool         // as in Rendered
}

// Render computes the documents of one revision. If several documents have the same identity, only the first counts.
// A fault of a document does not affect the others, except those that depend on it: they are not rendered, and have no
// faults of their own.
//
// The faults of documents are Invalid, Conflict and, of data that is nested too deeply or takes too much work,
// TooLarge. The error is a fault TooLarge if a limit on all documents, or the request's budget, is exceeded, and
// Unavailable if documents that were there before take too much work at once: the Cache keeps what was computed until
// then. If the context ends, it is its cause.
func Render(ctx context.Context, documents []*document.Document, options Options) (Outcome, error) {
	r := newRun(ctx, documents, options)
	defer r.end()
	order, err := r.render(documents)
	if err != nil {
		r.cacheHidden(order, func(*node) bool { return true })
		return Outcome{}, err
	}
	out := Outcome{
		Documents: make([]Rendered, 0, len(order)), Faults: r.faults.all(), Warnings: r.warned(), Problems: r.problems,
	}
	for _, n := range order {
		switch {
		case !r.wants(n):
		case n.cause != nil:
			out.Unrendered = append(out.Unrendered, Unrendered{n.index, n.cause, n.failed, n.secret})
		default:
			out.Documents = append(out.Documents, r.rendered(n))
		}
	}
	r.cacheHidden(order, func(n *node) bool { return !r.wants(n) })
	return out, nil
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
	out.Destinations, out.text = n.destinations, n.text
	if n.text == nil {
		out.Data = n.data
		if r.mayKeep(n) {
			out.made, out.cache = &n.made, r.options.Cache
		}
	}
	return out
}

// run is one rendering.
type run struct {
	*memo

	options Options
	request *budget.Budget
	paid    *budget.Meter // of what the request pays for
	room    int64         // bytes of the limit that are left

	nodes    []*node // in the order of the input
	sources  sources
	faults   faults
	warnings faults
	problems []*fault.Fault // see Outcome
	// unresolved is set once a secret was not found. Nothing that depends on secrets is kept then.
	unresolved bool
	size       int64 // of all documents, in bytes
	total      int64 // steps that computing them takes or took
	excessive  *node // a document of the change that takes more than ordinary ones, nil for none
}

// newRun begins a rendering.
func newRun(ctx context.Context, documents []*document.Document, options Options) *run {
	if options.Limit == 0 {
		options.Limit = DefaultLimit
	}
	size := 0
	for _, d := range documents {
		size += len(d.Metadata) + len(d.Data)
	}
	request, paid := budget.From(ctx), budget.NewMeter(ctx)
	shared := paid
	if options.Cache == nil {
		request.Grant(size)
	} else {
		request.GrantMemory(size)
		shared = paid.ForOthers(size).ForAll(size)
	}
	return &run{
		memo: newMemo(newMeter(shared)), options: options, request: request, paid: paid, room: options.Limit,
		size: int64(size), warnings: faults{most: maxWarnings},
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
	if err := r.computeAll(order); err != nil {
		return order, err
	}
	return order, r.checkTotal()
}

// ordered reads documents and brings them into the order in which they can be computed.
func (r *run) ordered(documents []*document.Document) ([]*node, error) {
	if err := r.readAll(documents); err != nil {
		return nil, err
	}
	order, problems, err := r.order(r.options.Examine)
	if err != nil {
		return nil, err
	}
	r.problems = problems
	for _, n := range r.nodes {
		if n.orphan && n.cause == nil {
			r.warn(n.encrypted, func() *fault.Fault { return orphanFault(n) })
		}
	}
	return order, nil
}
