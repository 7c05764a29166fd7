package store

import (
	"container/list"
	"context"
	"slices"
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

// Buckets implements revisions.Store.
func (c *Cached) Buckets(ctx context.Context, names []string) (revisions.State, error) {
	state, err := c.positions(ctx, names)
	if err != nil {
		return state, err
	}
	all := true
	for i := range state.Buckets {
		bucket := &state.Buckets[i]
		all = (bucket.Changed == 0 || c.fill(bucket, state.Epoch)) && all
	}
	if all {
		return state, nil
	}
	if state, err = c.buckets(ctx, names, c.fill); err != nil {
		return state, err
	}
	for _, bucket := range state.Buckets {
		c.put(state.Epoch, bucket.Changed, bucket.Name, bucket.Documents)
	}
	return state, nil
}

// Remember implements revisions.Store.
func (c *Cached) Remember(state revisions.State, documents []*revisions.Stored) {
	of := revisions.GroupByBucket(documents)
	for _, bucket := range state.Buckets {
		c.put(state.Epoch, bucket.Changed, bucket.Name, of[bucket.Name])
	}
}

// Append implements revisions.Store.
func (c *Cached) Append(ctx context.Context, change revisions.Change) error {
	err := c.Store.Append(ctx, change)
	if err != nil || change.Revision.Kind == revisions.Rollback { // which has not read the buckets
		return err
	}
	of := revisions.GroupByBucket(change.Result)
	for _, bucket := range change.Against.Buckets {
		changed := bucket.Changed
		if _, written := slices.BinarySearch(change.Revision.Buckets, bucket.Name); written {
			changed = change.Revision.ID
		}
		c.put(change.Against.Epoch, changed, bucket.Name, of[bucket.Name])
	}
	return nil
}

// fill gives a bucket its documents, if they are kept.
func (c *Cached) fill(bucket *revisions.Bucket, epoch int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[bucket.Name]
	if element == nil {
		return false
	}
	entry := element.Value.(*cacheEntry) //nolint:forcetypeassert // nothing else is put in
	if entry.epoch != epoch || entry.changed != bucket.Changed {
		return false
	}
	c.recent.MoveToFront(element)
	bucket.Documents = entry.documents
	return true
}

func (c *Cached) put(epoch, changed int64, bucket string, documents []*revisions.Stored) {
	if changed == 0 {
		return // such buckets are known without
	}
	const overhead = 512 // of a document's structures, roughly, and of an entry
	entry := &cacheEntry{bucket: bucket, epoch: epoch, changed: changed, documents: documents, size: overhead}
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
