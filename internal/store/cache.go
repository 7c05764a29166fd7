package store

import (
	"container/list"
	"context"
	"sync"

	"purser/internal/revisions"
)

// Cached keeps the documents of buckets in memory, so that a PUT of mostly known documents reads none of them from the
// database. What a bucket holds after the revision that changed it last never changes, so an entry is right for as long
// as that revision is the bucket's last; which one that is, is always asked.
type Cached struct {
	*Store

	mu      sync.Mutex
	limit   int
	size    int
	entries map[string]*list.Element // by bucket
	recent  *list.List               // of *cacheEntry, the most recently used first
}

type cacheEntry struct {
	bucket         string
	epoch, changed int64
	documents      []*revisions.Stored
	size           int
}

// NewCached keeps up to limit bytes of documents.
func NewCached(store *Store, limit int) *Cached {
	return &Cached{Store: store, limit: limit, entries: map[string]*list.Element{}, recent: list.New()}
}

// Bucket implements revisions.Store.
func (c *Cached) Bucket(ctx context.Context, name string) (revisions.Bucket, error) {
	bucket, err := c.position(ctx, name)
	if err != nil || bucket.Changed == 0 {
		return bucket, err
	}
	if documents, ok := c.lookup(bucket); ok {
		bucket.Documents = documents
		return bucket, nil
	}
	bucket, err = c.Store.Bucket(ctx, name)
	if err == nil {
		c.put(bucket.Epoch, bucket.Changed, name, bucket.Documents)
	}
	return bucket, err
}

// Remember implements revisions.Store.
func (c *Cached) Remember(bucket revisions.Bucket, documents []*revisions.Stored) {
	c.put(bucket.Epoch, bucket.Changed, bucket.Name, documents)
}

// Append implements revisions.Store.
func (c *Cached) Append(ctx context.Context, change revisions.Change) error {
	err := c.Store.Append(ctx, change)
	if err == nil {
		c.put(change.Against.Epoch, change.Revision.ID, change.Against.Name, change.Result)
	}
	return err
}

func (c *Cached) lookup(bucket revisions.Bucket) ([]*revisions.Stored, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[bucket.Name]
	if element == nil {
		return nil, false
	}
	entry := element.Value.(*cacheEntry) //nolint:forcetypeassert // nothing else is put in
	if entry.epoch != bucket.Epoch || entry.changed != bucket.Changed {
		return nil, false
	}
	c.recent.MoveToFront(element)
	return entry.documents, true
}

func (c *Cached) put(epoch, changed int64, bucket string, documents []*revisions.Stored) {
	entry := &cacheEntry{bucket: bucket, epoch: epoch, changed: changed, documents: documents}
	const overhead = 512 // of a document's structures, roughly
	for _, doc := range documents {
		entry.size += len(doc.Data) + len(doc.Metadata) + overhead
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[bucket])
	if entry.size > c.limit {
		return
	}
	for _, doc := range documents {
		if !doc.Kept { // others may be reading those that were kept before
			doc.Kept = true
		}
	}
	c.entries[bucket] = c.recent.PushFront(entry)
	for c.size += entry.size; c.size > c.limit; {
		c.drop(c.recent.Back())
	}
}

func (c *Cached) drop(element *list.Element) {
	if element == nil {
		return
	}
	entry := c.recent.Remove(element).(*cacheEntry) //nolint:forcetypeassert // nothing else is put in
	delete(c.entries, entry.bucket)
	c.size -= entry.size
}
