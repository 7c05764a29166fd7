package changes

import (
	"purser/internal/document"
	"purser/internal/puppet"
)

// Bounds of the memory of what is derived from contents, and of compiled types of Puppet resources, in bytes.
const (
	derivedSize = 32 << 20
	typesSize   = 32 << 20
)

// derivedKey identifies what is derived from a content.
type derivedKey struct {
	what   string // each has values of one type
	of     document.Digest
	secret bool // the content depends on a secret
}

// derived returns what was derived from a content, if it is remembered.
func derived[T any](c *DocumentCache, key derivedKey) (value T, known bool) {
	if c == nil {
		return value, false
	}
	found, known := c.derived.Get(key)
	value, _ = found.(T)
	return value, known
}

// remember keeps what was derived from a content, with its size in bytes.
func (c *DocumentCache) remember(key derivedKey, value any, size int) {
	if c != nil && !key.of.IsZero() {
		c.derived.Add(key, value, size)
	}
}

// typeOf returns the type that a document describes, if it is kept.
func (c *DocumentCache) typeOf(doc puppet.Document) (t *puppet.Type, known bool) {
	if c == nil {
		return nil, false
	}
	return c.types.Get(keyOfPuppet(ofType, doc))
}

// keepType keeps the type that a document describes. There is less room for types than for what is known about them.
func (c *DocumentCache) keepType(doc puppet.Document, t *puppet.Type) {
	const bytesPerByte = 10
	if c != nil && !doc.Key.IsZero() {
		c.types.Add(keyOfPuppet(ofType, doc), t, bytesPerByte*len(doc.Data))
	}
}
