package rendering

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
)

// node is a document with its parsed metadata for rendering, and its results so far.
type node struct {
	document.Identity
	*declaration

	document *document.Document
	index    int             // in the input
	digest   document.Digest // see digestOf; zero until it is needed

	rank       int   // of its layer, from the top; -1 without a layer
	position   int   // among all with a layer: from the top layer down, then as in the input
	parent     *node // the document it inherits from
	replacedBy *node
	namesakes  *namesakes
	twin       *node // another one of its schema and name
	place      int   // in the graph; notFound until it is mentioned
	neededBy   *node // the last one that got an edge to it

	destinations [][]string // places that substitutions wrote to, those of its ancestors too

	secret   bool     // it is encrypted, or takes something from a document that is
	warned   bool     // there were warnings about how it was computed
	history  *history // nil unless a document is explained
	data     any      // its own data, later the rendered data
	read     bool     // data is set
	computed bool
	text     []byte          // the rendered data as JSON text where a cache had it, nil otherwise
	key      document.Digest // see setKey
	sizes
}

// declaration is the parsed metadata of a document for rendering (spec/rendering.md §2). It is never modified.
type declaration struct {
	abstract    bool
	control     bool
	replacement bool
	encrypted   bool

	labels        []label // by key, as metadata is canonical
	selector      []label
	actions       []action
	substitutions []substitution
}

// declarationSize is the memory of a declaration without its lists, in bytes.
const declarationSize = 128

// key identifies the source of a substitution.
type key struct{ schema, name string }

func (n *node) name() key { return key{n.Schema, n.Name} }

// brief names a document without its layer, as some of the reference's messages do.
func (n *node) brief() string { return fmt.Sprintf("[%s] %s", n.Schema, n.Name) }

// layered reports whether the document inherits its parent's data (spec/rendering.md §8 step 2).
func (n *node) layered() bool { return n.parent != nil && len(n.actions) > 0 && !n.control }

// changes reports whether there is anything to compute.
func (n *node) changes() bool { return n.layered() || len(n.substitutions) > 0 && !n.control }

// inherit marks the document as secret if it takes values from a secret document. Its dependencies must be marked
// before. The mark does not depend on the data of any document.
func (r *run) inherit(n *node) {
	if !n.changes() {
		return
	}
	if n.layered() && n.ancestor().secret {
		n.secret = true
	}
	for i := range n.substitutions {
		if source := r.sources.of(n.substitutions[i].source); source != nil && source.secret {
			n.secret = true
		}
	}
}

// returned reports whether services read the document (spec/rendering.md §7.4).
func (n *node) returned() bool { return !n.abstract && n.replacedBy == nil }

// ancestor is the document whose data is inherited: the parent, or the parent's replacement (spec/rendering.md §7.1).
func (n *node) ancestor() *node {
	if by := n.parent.replacedBy; by != nil && by != n {
		return by
	}
	return n.parent
}

// readAll reads the metadata of all documents.
func (r *run) readAll(documents []*document.Document) ([]*node, error) {
	nodes := make([]*node, 0, len(documents))
	all := make([]node, len(documents)) // beside each other in memory
	kin := make([]namesakes, 0, len(documents))
	r.sources = make(sources, len(documents))
	if r.hold(nodeSize * len(documents)); r.err != nil {
		return nil, fmt.Errorf("read documents: %w", r.err)
	}
	for i, d := range documents {
		n := &all[i]
		n.Identity, n.document, n.index = d.Identity, d, i
		same := r.sources[n.name()]
		if same == nil {
			kin = append(kin, namesakes{})
			same = &kin[len(kin)-1]
			r.sources[n.name()] = same
		}
		added, compared := same.add(n)
		if r.charge(4*lookupCost + visitCost*compared); !added {
			continue
		}
		if err := r.declare(n); err != nil {
			return nil, err
		}
		if err := r.check(n, ""); err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// declare parses a document's metadata.
func (r *run) declare(n *node) (err error) {
	if n.declaration, err = r.declarationOf(n); err != nil {
		return err
	}
	n.secret, n.rank, n.place = n.encrypted, -1, notFound
	if r.explaining {
		n.history = &history{}
	}
	return nil
}

// declarationOf returns a document's parsed metadata, from the cache if possible.
func (r *run) declarationOf(n *node) (*declaration, error) {
	if traits, decoded := n.document.Decoded(); decoded && traits.Plain {
		return r.plain(traits), nil
	}
	kept := r.options.Cache
	if kept != nil {
		n.digest = r.digestOf(n.document)
		if known, _ := kept.kept.Get(n.digest); known.declaration != nil {
			return known.declaration, nil
		}
	}
	value, size, err := r.parse(n.document.Metadata)
	if r.metadata += size; err != nil {
		return nil, fmt.Errorf("read metadata of document %s: %w", n.document.Identity, err)
	}
	metadata, _ := value.(document.Mapping)
	before := r.held
	d := r.declaration(metadata)
	if kept != nil && r.err == nil && !d.encrypted {
		size := declarationSize + r.held - before
		if r.held > before {
			size += len(n.document.Metadata) // the texts share its memory
		}
		for _, a := range d.actions {
			size += r.sizeOf(a.stored)
		}
		kept.kept.Add(n.digest, fact{declaration: d}, size)
	}
	return d, nil
}

// plain returns the declaration of a document whose traits determine it completely.
func (r *run) plain(traits document.Traits) *declaration {
	labels := r.labelsOf(traits.Labels)
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return &declaration{
		abstract: traits.Abstract, control: traits.Control, replacement: traits.Replacement, encrypted: traits.Encrypted,
		labels: labels,
	}
}

// declaration parses metadata.
func (r *run) declaration(metadata document.Mapping) *declaration {
	layering := mapping(metadata.At("layeringDefinition"))
	d := &declaration{
		abstract:    layering.At("abstract") == true,
		control:     strings.HasPrefix(text(metadata.At("schema")), "metadata/Control"),
		replacement: metadata.At("replacement") == true,
		encrypted:   metadata.At("storagePolicy") == "encrypted",
		labels:      r.labelsOf(metadata.At("labels")),
		selector:    r.labelsOf(layering.At("parentSelector")),
	}
	for _, item := range list(layering.At("actions")) {
		r.hold(actionSize)
		d.actions = append(d.actions, r.action(mapping(item)))
	}
	for _, item := range list(metadata.At("substitutions")) {
		d.substitutions = append(d.substitutions, r.substitution(mapping(item)))
	}
	return d
}

// value is the data of a document: the rendered one if it was computed, else its own.
func (r *run) value(n *node) (any, error) {
	if n.read {
		return n.data, nil
	}
	written := n.document.Data
	if n.text != nil {
		written = n.text
	}
	data, _, err := r.parse(written)
	if err != nil {
		return nil, fmt.Errorf("read data of document %s: %w", n.Identity, err)
	}
	if n.encrypted && !n.control && r.options.Resolve != nil {
		if data, err = r.decrypt(n, data); err != nil {
			return nil, err
		}
	}
	n.data, n.read = data, true
	return n.data, nil
}

func mapping(value any) document.Mapping {
	m, _ := value.(document.Mapping)
	return m
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

func text(value any) string {
	s, _ := value.(string)
	return s
}
