package revisions

import (
	"bytes"
	"cmp"
	"slices"

	"purser/internal/document"
)

// Stored is a version of a document in the store. It is immutable.
type Stored struct {
	*document.Document

	ID       int64
	Place    int64 // orders the documents of a revision; all versions of an identity share one
	Bucket   string
	Revision int64 // in which this version was added
	Shared   bool  // a cache may return this very value again
	Tainted  bool  // rendered with a secret in its data
}

// sameVersion reports whether two versions of an identity have equal contents in the same bucket.
func sameVersion(a, b *Stored) bool {
	return a.Bucket == b.Bucket && a.Digest == b.Digest && bytes.Equal(a.Metadata, b.Metadata)
}

// with returns a copy of the version with another text.
func (d Stored) with(text document.Document) *Stored {
	d.Document = &text
	return &d
}

func byPlace(a, b *Stored) int { return cmp.Compare(a.Place, b.Place) }

// Contents returns the documents of versions, in their order.
func Contents(documents []*Stored) []*document.Document {
	contents := make([]*document.Document, len(documents))
	for i, doc := range documents {
		contents[i] = doc.Document
	}
	return contents
}

// Size estimates the memory of a document in bytes.
func Size(doc *document.Document) int {
	const overhead = 512 // of its structures and of the references to it
	return len(doc.Data) + len(doc.Metadata) + len(doc.Sealed) + len(doc.Secret) + overhead
}

// GroupByBucket groups documents by their buckets, each list in the order of the whole.
func GroupByBucket(documents []*Stored) map[string][]*Stored {
	of := map[string][]*Stored{}
	for _, doc := range documents {
		of[doc.Bucket] = append(of[doc.Bucket], doc)
	}
	return of
}

// ids returns the ids of documents as a set.
func ids(documents []*Stored) map[int64]bool {
	set := make(map[int64]bool, len(documents))
	for _, doc := range documents {
		set[doc.ID] = true
	}
	return set
}

// After returns documents in the order of their places as the diff leaves them.
func (d Diff) After(documents []*Stored) []*Stored {
	gone := ids(d.Removed)
	left := make([]*Stored, 0, len(documents)+len(d.Added))
	for _, doc := range documents {
		if !gone[doc.ID] {
			left = append(left, doc)
		}
	}
	left = append(left, d.Added...)
	slices.SortFunc(left, byPlace)
	return left
}
