package changes

import (
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/rendering"
)

// DocumentCache is a cache of rendered documents, keyed by everything that they were rendered from: the references to
// secrets instead of these. After a change, only documents that depend on it are rendered again. A Renderer that
// withholds does not ask for documents that depend on secrets. It is safe for concurrent use.
type DocumentCache struct {
	made *rendering.Cache

	derived *cache.Cache[derivedKey, any]
	types   *cache.Cache[derivedKey, any] // compiled types, so that they displace nothing else
}

// NewDocumentCache returns an empty cache with a maximum size in bytes.
func NewDocumentCache(bytes int) *DocumentCache {
	return &DocumentCache{
		rendering.NewCache(bytes), cache.New[derivedKey, any](derivedSize),
		cache.New[derivedKey, any](typesSize),
	}
}

// options returns rendering options that use the cache.
func (c *DocumentCache) options(of rendering.Options) rendering.Options {
	if c != nil {
		of.Cache = c.made
	}
	return of
}

// Bounds of the memory of what is derived from contents, and of compiled types of Puppet resources, in bytes.
const (
	derivedSize = 32 << 20
	typesSize   = 32 << 20
)

// derivedKey identifies what is derived from a content.
type derivedKey struct {
	site   string // if the content depends on a secret; else empty, because equal contents of all sites are one
	what   string // each has values of one type
	of     document.Digest
	secret bool // the content depends on a secret
}

// keyOf returns the key of what is derived from a content.
func (r Renderer) keyOf(what string, of document.Digest, secret bool) derivedKey {
	return derivedKey{r.ofSite(secret), what, of, secret}
}

// ofSite returns the site of what depends on a secret, and else an empty name. Sites share no cached outcome of
// secrets: a caller who guesses a secret of another site must not learn from the time of an answer that the guess is
// right.
func (r Renderer) ofSite(secret bool) string {
	if secret {
		return r.Site
	}
	return ""
}

// derived returns what was derived from a content, if it is remembered.
func derived[T any](c *DocumentCache, key derivedKey) (value T, known bool) {
	if c == nil {
		return value, false
	}
	found, known := c.cacheOf(key).Get(key)
	value, _ = found.(T)
	return value, known
}

// remember keeps what was derived from a content, with its size in bytes.
func (c *DocumentCache) remember(key derivedKey, value any, size int) {
	if c != nil && !key.of.IsZero() {
		c.cacheOf(key).Add(key, value, size)
	}
}

// cacheOf returns the cache for a key.
func (c *DocumentCache) cacheOf(key derivedKey) *cache.Cache[derivedKey, any] {
	if key.what == compiledType {
		return c.types
	}
	return c.derived
}
