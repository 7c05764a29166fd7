package rendering

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// readAll reads the metadata of documents. Of those with one identity only the first counts.
func (r *run) readAll(documents []*document.Document) error {
	if r.hold(nodeSize * len(documents)); r.err != nil {
		return fmt.Errorf("read documents: %w", r.err)
	}
	r.nodes, r.sources = make([]*node, 0, len(documents)), make(sources, len(documents))
	all := make([]node, len(documents)) // beside each other in memory
	groups := make([]namesakes, 0, len(documents))
	for i, d := range documents {
		n := &all[i]
		n.Identity, n.document, n.index = d.Identity, d, i
		same := r.sources[n.nameKey()]
		if same == nil {
			groups = append(groups, namesakes{})
			same = &groups[len(groups)-1]
			r.sources[n.nameKey()] = same
		}
		if r.charge(4 * lookupCost); !same.add(n) {
			continue
		}
		var err error
		if n.metadata, err = r.metadataOf(n); err != nil {
			return err
		}
		if err := r.stopped(n, ""); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
	}
	return nil
}

// order relates the documents, and returns them sorted so that dependencies come first. Documents that cannot be
// related have a cause. Checks are made in Deckhand's order. With examine it also returns the problems that Examine
// reports.
func (r *run) order(examine bool) (order []*node, problems []*fault.Fault, err error) {
	if err := r.relate(); err != nil {
		return nil, nil, err
	}
	related := r.faults.mark()
	if order, err = r.sorted(); err == nil && examine {
		problems, err = r.findProblems(related)
	}
	for _, n := range order { // dependencies first
		for source := range r.takenFrom(n) {
			n.secret = n.secret || source.secret
		}
	}
	return order, problems, err
}

// relate finds the layers, parents, replacements and sources.
func (r *run) relate() error {
	r.unlink()
	if err := r.selectParents(r.newFamily(r.rankAll())); err != nil {
		return err
	}
	r.markReplaced()
	chooseSources(r.nodes)
	return nil
}

// unlink forgets all relations and faults.
func (r *run) unlink() {
	r.faults = faults{most: maxFaults}
	for _, n := range r.nodes {
		n.links = links{rank: -1, place: notFound, secret: n.encrypted}
	}
}

// layers are the layers of the LayeringPolicy that have documents, the most general first.
type layers []string

// String lists the layers as messages do.
func (l layers) String() string {
	var shown []string
	for _, layer := range l[:min(maxShown, len(l))] {
		shown = append(shown, words.Excerpt(layer))
	}
	if len(l) > maxShown {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// rankAll reads the first LayeringPolicy, refuses documents in layers that it does not list, and gives the others their
// rank. Without a policy no parent is known.
func (r *run) rankAll() layers {
	policy := r.policy()
	if policy == nil {
		missing := r.keep(&r.faults, false, noPolicy)
		for _, n := range r.nodes {
			if n.Layer != "" && len(n.selector) > 0 {
				n.cause = missing
			}
		}
		return nil
	}
	declared := layers(policy.layers)
	r.charge(2 * lookupCost * (len(declared) + len(r.nodes)))
	order, listed := r.rank(declared), declared.String()
	for _, n := range r.nodes {
		if n.Layer == "" || n.rank < len(order) {
			continue
		}
		r.fail(n, n.secret, func() *fault.Fault {
			return invalid("InvalidDocumentLayer", []*node{n},
				"Invalid layer '%s' for document %s was not found in layerOrder: %s for provided LayeringPolicy: %s",
				n.Layer, n.brief(), listed, policy.Name)
		})
	}
	return order
}

// policy returns the first LayeringPolicy, nil if there is none.
func (r *run) policy() *node {
	if at := slices.IndexFunc(r.nodes, func(n *node) bool { return isPolicy(n.Schema) }); at >= 0 {
		return r.nodes[at]
	}
	return nil
}

func isPolicy(schema string) bool { return strings.HasPrefix(schema, "deckhand/LayeringPolicy/") }

// noPolicy returns the fault of documents without a LayeringPolicy.
func noPolicy() *fault.Fault {
	f := fault.New(fault.Conflict, "LayeringPolicyNotFound", "Required LayeringPolicy was not found for layering")
	f.Messages = []fault.Message{{Error: true, Message: f.Message + ": add one that lists the layers of the site, the " +
		"most general first, such as {schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: " +
		"layering-policy}, data: {layerOrder: [global, site]}}"}}
	return f
}

// rank numbers the layers that have documents, in their declared order, and gives documents in others the next number.
func (r *run) rank(declared layers) (order layers) {
	const unknown = -1
	ranks := map[string]int{}
	for _, n := range r.nodes {
		ranks[n.Layer] = unknown
	}
	delete(ranks, "")
	for _, layer := range declared {
		if rank, inhabited := ranks[layer]; inhabited && rank == unknown {
			ranks[layer] = len(order)
			order = append(order, layer)
		}
	}
	for _, n := range r.nodes {
		switch rank := ranks[n.Layer]; {
		case n.Layer == "":
		case rank == unknown:
			n.rank = len(order)
		default:
			n.rank = rank
		}
	}
	return order
}

// Why a replacement is refused, in Deckhand's words.
const (
	needsParent = "Document replacement requires that the document with `replacement: true` have a parent."
	needsName   = "Document replacement requires that both documents have the same `schema` and `metadata.name`."
	namesake    = "Non-replacement documents cannot have the same `schema` and `metadata.name` as their parent. Either " +
		"add `replacement: true` to the document or give the document a different name."
	twice = "More than one document with the same name and schema was found, but none has `replacement: true`. Ensure " +
		"that only 2 documents exist for each replacement and that one has `replacement: true` and the other " +
		"`replacement: false`."
	replacedTwice = "A replacement document cannot itself be replaced by another document."
)

// markReplaced checks the rules of replacements and sets the replacement of every document. Of two replacements
// in different layers the more specific one counts, in whatever order they are given. A replacement that fails
// leaves it unknown what the documents of its schema and name are.
func (r *run) markReplaced() {
	for _, n := range r.nodes {
		n.namesakes.original, n.namesakes.unknown = nil, nil
	}
	for _, n := range r.nodes {
		if n.cause == nil && n.namesakes.unknown == nil {
			r.replace(n)
		}
		if n.cause != nil && n.replacement {
			n.namesakes.unknown = n
		}
	}
	for _, n := range r.nodes {
		if n.replacedBy != nil && n.replacement && !n.abstract && n.namesakes.unknown == nil {
			r.notReplacing(n, replacedTwice, n.replacedBy)
		}
	}
	for _, n := range r.nodes {
		if unknown := n.namesakes.unknown; unknown != nil && n.cause == nil {
			n.cause, n.secret = unknown.cause, n.secret || unknown.secret
		}
	}
}

// replace marks the parent of a replacement, and checks other documents against theirs.
func (r *run) replace(n *node) {
	first := n.namesakes.original
	switch {
	case n.replacement && n.parent == nil:
		r.notReplacing(n, needsParent)
	case n.replacement && !n.isNamesake():
		r.notReplacing(n, needsName, n.parent)
	case n.replacement:
		n.replaceParent()
	case n.isNamesake():
		r.notReplacing(n, namesake, n.parent)
	case n.control:
	case first != nil:
		r.notReplacing(n, twice, first)
	default:
		n.namesakes.original = n
	}
}

// replaceParent makes the document the replacement of its parent, unless one of a higher rank is.
func (n *node) replaceParent() {
	if p := n.parent; p.replacedBy == nil || p.replacedBy.rank < n.rank {
		p.replacedBy = n
	}
}

func (r *run) notReplacing(n *node, reason string, others ...*node) {
	about := append([]*node{n}, others...)
	r.fail(n, slices.ContainsFunc(about, func(n *node) bool { return n.secret }), func() *fault.Fault {
		return invalidBecause("InvalidDocumentReplacement", reason, about, "Replacement document %s is invalid.", n.Identity)
	})
	n.namesakes.unknown = n
}

// namesakes are the documents of one schema and name, in whatever layers.
type namesakes struct {
	last     *node           // the others follow by twin
	original *node           // the first that is not a replacement
	source   *node           // that substitutions read
	layers   map[string]bool // of the documents, if these are many
	count    int
	unknown  *node // fails, so that it is unknown which of them replaces which; nil for none
}

// add adds a document, unless there is one in its layer: of those with one identity the first counts.
func (s *namesakes) add(n *node) (added bool) {
	const few = 16
	if s.count < few {
		for twin := s.last; twin != nil; twin = twin.twin {
			if twin.Layer == n.Layer {
				return false
			}
		}
	} else if !s.addLayer(n.Layer) {
		return false
	}
	n.namesakes, n.twin, s.last = s, s.last, n
	s.count++
	return true
}

// addLayer adds a layer to the set of layers, and reports whether it was not in it.
func (s *namesakes) addLayer(layer string) bool {
	if s.layers == nil {
		s.layers = make(map[string]bool, 2*s.count)
		for twin := s.last; twin != nil; twin = twin.twin {
			s.layers[twin.Layer] = true
		}
	}
	known := s.layers[layer]
	s.layers[layer] = true
	return !known
}

// sources are the documents that substitutions read, by schema and name.
type sources map[Key]*namesakes

// of is the document that a substitution reads, nil if there is none.
func (s sources) of(k Key) *node {
	if found := s[k]; found != nil {
		return found.source
	}
	return nil
}

// details says which documents are abstract, and so cannot be sources; "" if all are encrypted: their names are secret.
func (s *namesakes) details() string {
	if s == nil {
		return ""
	}
	for twin := s.last; twin != nil; twin = twin.twin {
		if twin.abstract && !twin.encrypted {
			return fmt.Sprintf(". Details: document %s is abstract, and only concrete documents are sources", twin.Identity)
		}
	}
	return ""
}

// chooseSources chooses the concrete documents, or their replacements. If two have the same schema and name, the one in
// the more specific layer counts, whatever their order in the input.
func chooseSources(nodes []*node) {
	for _, n := range nodes {
		n.namesakes.source = nil
	}
	for _, n := range nodes {
		if n.abstract {
			continue
		}
		source := n
		if n.replacedBy != nil {
			source = n.replacedBy
		}
		if known := n.namesakes.source; known == nil || known.rank < source.rank {
			n.namesakes.source = source
		}
	}
}

// Examine reports why documents are inconsistent, as far as their metadata and the LayeringPolicy show it: no
// LayeringPolicy, unknown layers, parents that are not found or cannot be parents, replacements of nothing, cycles, and
// substitution sources that do not exist.
func Examine(ctx context.Context, documents []*document.Document, options Options) ([]*fault.Fault, error) {
	r := newRun(ctx, documents, options)
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return nil, err
	}
	_, problems, err := r.order(true)
	return problems, err
}

// findProblems returns what Examine reports. Some faults are found already: those up to a mark before the orphans
// count, and the others after these.
func (r *run) findProblems(related mark) ([]*fault.Fault, error) {
	all, found := &faults{most: maxFaults}, r.faults.mark()
	all.appendOf(&r.faults, mark{}, related)
	r.charge(visitCost * len(r.nodes))
	for _, n := range r.nodes {
		if n.orphan {
			_ = r.keep(all, n.encrypted, func() *fault.Fault { return orphanFault(n) })
		}
	}
	all.appendOf(&r.faults, related, found)
	for _, n := range r.nodes {
		if !n.lacking && n.cause == nil || n.control {
			continue
		}
		if err := r.stopped(n, ""); err != nil {
			return nil, err
		}
		r.addMissing(all, n)
	}
	return all.all(), nil
}

// addMissing adds the faults of substitutions whose sources do not exist.
func (r *run) addMissing(all *faults, n *node) {
	noted := map[Key]bool{}
	r.charge(lookupCost * len(n.substitutions))
	for i := range n.substitutions {
		source := n.substitutions[i].source
		if r.sources.of(source) == nil && !noted[source] {
			noted[source] = true
			_ = r.keep(all, n.secret, func() *fault.Fault { return r.noSource(n, i) })
		}
	}
}
