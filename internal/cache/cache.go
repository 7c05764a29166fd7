// Package cache keeps values in memory up to a number of bytes. The least recently used go first.
//
// Cache.Do also shares work: goroutines that ask for the same missing key at once wait for one computation.
package cache

import (
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// entryOverhead is the approximate memory of an entry besides its value: a map slot, a list element and a key.
const entryOverhead = 128

// Cache is a cache bounded in bytes. It is safe for concurrent use. Values are shared by its callers and must not be
// changed.
type Cache[K comparable, V any] struct {
	mu       sync.Mutex
	maxBytes int
	bytes    int
	entries  *simplelru.LRU[K, entry[V]]
	calls    map[K]*call[V]
}

type entry[V any] struct {
	value V
	bytes int
}

// New returns an empty cache for values of up to maxBytes together. With 0 it keeps nothing.
func New[K comparable, V any](maxBytes int) *Cache[K, V] {
	c := &Cache[K, V]{maxBytes: maxBytes, calls: map[K]*call[V]{}}
	entries, err := simplelru.NewLRU(math.MaxInt, func(_ K, gone entry[V]) { c.bytes -= gone.bytes })
	if err != nil {
		panic(fmt.Sprintf("cache: %v", err)) // only for a size below one
	}
	c.entries = entries
	return c
}

// Get returns the value of a key, which becomes the most recently used.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries.Get(key)
	return found.value, ok
}

// Add keeps a value of a size in bytes, in place of the one that the key had. A value larger than the
// cache is not kept, nor is one of a negative size.
func (c *Cache[K, V]) Add(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, value, size)
}

// Fits reports whether Add keeps a value of a size in bytes.
func (c *Cache[K, V]) Fits(size int) bool { return size >= 0 && size <= c.maxBytes-entryOverhead }

// Remove forgets a key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
}

// Clear forgets all keys.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Purge()
}

// Bytes returns the size of all values that are kept, with an overhead for each.
func (c *Cache[K, V]) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *Cache[K, V]) add(key K, value V, size int) {
	c.entries.Remove(key) // its size, too: LRU.Add would replace the value silently
	if !c.Fits(size) {
		return
	}
	added := entry[V]{value, size + entryOverhead}
	c.entries.Add(key, added)
	for c.bytes += added.bytes; c.bytes > c.maxBytes; {
		c.entries.RemoveOldest()
	}
}
