package changes

import (
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/puppet"
	"purser/internal/rendering"
	"purser/internal/revisions"
)

// DocumentCache is a cache of rendered documents, keyed by everything that they were rendered from: the references to
// secrets instead of these. After a change, only documents that depend on it are rendered again. A Renderer that
// withholds does not ask for documents that depend on secrets. It is safe for concurrent use.
type DocumentCache struct {
	made   *rendering.Cache
	served *cache.Cache[servedKey, *revisions.Stored]

	derived *cache.Cache[derivedKey, any]
	types   *cache.Cache[derivedKey, *puppet.Type]
}

// NewDocumentCache returns an empty cache with a maximum size in bytes.
func NewDocumentCache(bytes int) *DocumentCache {
	const parts = 3 // served has the same texts as made, which it is quickly made from
	return &DocumentCache{
		rendering.NewCache(bytes - bytes/parts), cache.New[servedKey, *revisions.Stored](bytes / parts),
		cache.New[derivedKey, any](derivedSize), cache.New[derivedKey, *puppet.Type](typesSize),
	}
}

// servedKey identifies a rendered version of a document.
type servedKey struct {
	rendered            document.Digest
	id, place, revision int64
	bucket              string
}

func keyOf(doc *revisions.Stored, rendered rendering.Rendered) servedKey {
	return servedKey{rendered.Key, doc.ID, doc.Place, doc.Revision, doc.Bucket}
}

// options returns rendering options that use the cache.
func (c *DocumentCache) options(of rendering.Options) rendering.Options {
	if c != nil {
		of.Cache = c.made
	}
	return of
}

// known returns the cached rendered version of a document, nil if there is none.
func (c *DocumentCache) known(of *revisions.Stored, rendered rendering.Rendered) *revisions.Stored {
	if c == nil || rendered.Key.IsZero() || !rendered.Computed {
		return nil
	}
	doc, _ := c.served.Get(keyOf(of, rendered))
	return doc
}

// keep adds the rendered version of a document, unless rendering left the document unchanged.
func (c *DocumentCache) keep(of *revisions.Stored, rendered rendering.Rendered, doc *revisions.Stored) {
	if c == nil || rendered.Key.IsZero() || !rendered.Computed {
		return
	}
	c.served.Add(keyOf(of, rendered), doc, revisions.Size(doc.Document))
	c.made.Add(rendered, doc.Data)
}
