package rendering

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"weak"

	"purser/internal/cache"
	"purser/internal/document"
)

// Cache keeps outcomes of renderings for later renderings of the same documents: data, refusals and warnings. The key
// of each is a digest of everything that it depends on. It is safe for concurrent use.
type Cache struct {
	kept facts
	// costly has facts that cost much for their size, so that cheap ones, however large, do not push them out.
	costly facts
	// digests has the digests of documents, which are shared by renderings and never change.
	digests *cache.Cache[weak.Pointer[document.Document], document.Digest]
}

// fact is either the parsed metadata of a document, by the document's digest, or the outcome for a document, by its
// key, or what its selector selects.
type fact struct {
	*metadata
	*made
	*choice
}

// NewCache returns an empty cache with a maximum size in bytes.
func NewCache(bytes int) *Cache {
	const dearPart, digestPart = 8, 16
	return &Cache{
		cache.New[document.Digest, fact](bytes - bytes/dearPart - bytes/digestPart),
		cache.New[document.Digest, fact](bytes / dearPart),
		cache.New[weak.Pointer[document.Document], document.Digest](bytes / digestPart),
	}
}

type facts = *cache.Cache[document.Digest, fact]

// keep keeps a fact that it cost so many steps to find.
func (c *Cache) keep(key document.Digest, f fact, size int, cost int64) {
	const dear = 2000 // steps for a byte; reading a text takes 25
	const overhead = 160
	if size += overhead; cost > int64(dear*size) {
		c.costly.Add(key, f, size)
		return
	}
	c.kept.Add(key, f, size)
}

// find returns a fact, the zero fact if it is not kept.
func (c *Cache) find(key document.Digest) fact {
	f, known := c.kept.Get(key)
	if !known {
		f, _ = c.costly.Get(key)
	}
	return f
}

// keepMade keeps what was made of a document.
func (c *Cache) keepMade(key document.Digest, m made) {
	size := len(m.text) + listSize*len(m.destinations) + m.memory()
	destinations := make([][]string, len(m.destinations))
	for i, place := range m.destinations {
		destinations[i] = make([]string, len(place))
		for j, part := range place {
			destinations[i][j] = strings.Clone(part) // which is a part of a larger text
			size += wordSize + len(part)
		}
	}
	m.destinations = destinations
	c.keep(key, fact{made: &m}, size, m.cost)
}

// digestOf returns the digest of the parts of a document that its rendering uses.
func (c *Cache) digestOf(d *document.Document) document.Digest {
	const size = 128 // of an entry
	at := weak.Make(d)
	digest, known := c.digests.Get(at)
	if !known {
		h := sha256.New()
		for _, part := range [][]byte{[]byte(d.Schema), d.Metadata, d.Data} {
			var length [8]byte
			binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
			h.Write(length[:])
			h.Write(part)
		}
		h.Sum(digest[:0])
		c.digests.Add(at, digest, size)
	}
	return digest
}

// digestOf returns the digest of a document, which the cache must keep.
func (r *run) digestOf(n *node) document.Digest {
	if n.digest.IsZero() {
		d := n.document
		r.charge(lookupCost + (len(d.Metadata)+len(d.Data))/bytesPerStep)
		n.digest = r.options.Cache.digestOf(d)
	}
	return n.digest
}

// setKey sets the digest of everything that a document's data is rendered from; its dependencies have their keys
// already, or are not computed. Instead of secrets it depends on the references to them. It stays zero without a cache.
func (r *run) setKey(n *node) {
	if r.options.Cache == nil {
		return
	}
	digest := r.digestOf(n)
	if !n.changes() && !r.mayBeReference(n) {
		n.key = digest
		return
	}
	r.charge(lookupCost * (2 + len(n.substitutions)))
	kind := "rendered" // longer than any length that the digest of a document begins with
	switch {
	case r.options.Compat:
		kind = "deckhand" // with all destinations
	case n.secret && r.options.Resolve == nil:
		kind = "unresolved"
	}
	parts := make([]byte, 0, len(kind)+len(n.key)*(2+len(n.substitutions)))
	parts = append(append(parts, kind...), digest[:]...)
	var from *node
	if n.layered() {
		from = n.ancestor()
	}
	parts = r.appendKey(parts, from)
	for i := range n.substitutions {
		parts = r.appendKey(parts, r.source(n, i))
	}
	n.key = sha256.Sum256(parts)
}

// appendKey appends the key of a document that another one depends on, nil for none.
func (r *run) appendKey(parts []byte, n *node) []byte {
	if n == nil {
		n = &node{}
	} else if n.key.IsZero() {
		r.setKey(n)
	}
	return append(parts, n.key[:]...)
}

// metadataOf returns a document's metadata for rendering, from the cache if possible.
func (r *run) metadataOf(n *node) (*metadata, error) {
	d, kept := n.document, r.options.Cache
	if traits, decoded := d.Decoded(); decoded && traits.Plain && !isPolicy(d.Schema) {
		return plainMetadata(r.meter, traits), nil
	}
	if kept != nil {
		if known := kept.find(r.digestOf(n)); known.metadata != nil {
			return known.metadata, nil
		}
	}
	begun := r.steps
	value, size, err := r.parseJSON(d.Metadata)
	if r.releaseAtEnd(size); err != nil {
		return nil, fmt.Errorf("read metadata of document %s: %w", d.Identity, err)
	}
	stored, _ := value.(document.Mapping)
	before := r.held
	m := readMetadata(r.memo, stored)
	if isPolicy(d.Schema) {
		m.layers = r.layersOf(d)
	}
	if kept != nil && r.err == nil {
		size := metadataSize + r.held - before
		if r.held > before {
			size += len(d.Metadata) // the texts share its memory
		}
		for _, a := range m.actions {
			size += r.memoryOf(a.stored)
		}
		kept.keep(n.digest, fact{metadata: m}, size, r.steps-begun)
	}
	return m, nil
}

// layersOf returns the layers that a LayeringPolicy lists, the most general first.
func (r *run) layersOf(policy *document.Document) (layers []string) {
	data, size, err := r.parseJSON(policy.Data)
	if r.releaseAtEnd(size); err != nil {
		return nil
	}
	for _, layer := range listOf(mappingOf(data).At("layerOrder")) {
		layers = append(layers, textOf(layer))
	}
	return layers
}

// useCached uses the outcome for a document in the cache, and reports whether there is one. It is not used if data of
// that size would be refused.
func (r *run) useCached(n *node) bool {
	if n.key.IsZero() {
		return false
	}
	r.charge(lookupCost)
	m := r.options.Cache.find(n.key).made
	if m == nil || m.peak > r.room {
		return false
	}
	n.made, n.computed = *m, len(m.refusals) == 0
	n.destinations = slices.Clip(n.destinations)
	return true
}

// mayKeep reports whether the outcome for a document may be kept: it is complete, and depends on nothing but the key.
func (r *run) mayKeep(n *node) bool {
	return n.done && !n.key.IsZero() && (!n.secret || !r.unresolved)
}

// cacheHidden keeps the outcomes for documents that were computed and that the caller does not get.
func (r *run) cacheHidden(order []*node, isHidden func(*node) bool) {
	for _, n := range order {
		if out := r.rendered(n); n.cause == nil && out.made != nil && isHidden(n) {
			r.charge(int(n.size))
			_ = out.JSON()
		}
	}
}
