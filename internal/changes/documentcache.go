package changes

import (
	"purser/internal/cache"
	"purser/internal/puppet"
	"purser/internal/rendering"
)

// DocumentCache is a cache of rendered documents, keyed by everything that they were rendered from: the references to
// secrets instead of these. After a change, only documents that depend on it are rendered again. A Renderer that
// withholds does not ask for documents that depend on secrets. It is safe for concurrent use.
type DocumentCache struct {
	made *rendering.Cache

	derived *cache.Cache[derivedKey, any]
	types   *cache.Cache[derivedKey, *puppet.Type]
}

// NewDocumentCache returns an empty cache with a maximum size in bytes.
func NewDocumentCache(bytes int) *DocumentCache {
	return &DocumentCache{
		rendering.NewCache(bytes), cache.New[derivedKey, any](derivedSize),
		cache.New[derivedKey, *puppet.Type](typesSize),
	}
}

// options returns rendering options that use the cache.
func (c *DocumentCache) options(of rendering.Options) rendering.Options {
	if c != nil {
		of.Cache = c.made
	}
	return of
}
