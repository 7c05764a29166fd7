package revisions

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"purser/internal/document"
)

// Difference says how an item differs between two revisions.
type Difference uint8

// The differences.
const (
	Unmodified Difference = iota
	Created
	Deleted
	Modified
	Moved // to another bucket; documents only
)

// String returns the word that the API uses.
func (d Difference) String() string {
	switch d {
	case Unmodified:
		return "unmodified"
	case Created:
		return "created"
	case Deleted:
		return "deleted"
	case Modified:
		return "modified"
	case Moved:
		return "moved"
	}
	return "unknown"
}

// BucketDifference is the difference of a bucket.
type BucketDifference struct {
	Bucket     string
	Difference Difference
}

// BucketDifferences returns the difference of each bucket that has documents on at least one of two sides, sorted by
// name. before and after are the sorted bucket names; removed and added are the documents that are only on one side.
func BucketDifferences(before, after []string, removed, added []*Stored) []BucketDifference {
	balance := map[string]map[contents]int{}
	count := func(documents []*Stored, step int) {
		for _, doc := range documents {
			if balance[doc.Bucket] == nil {
				balance[doc.Bucket] = map[contents]int{}
			}
			balance[doc.Bucket][contents{doc.Digest, string(doc.Metadata)}] += step
		}
	}
	count(removed, -1)
	count(added, +1)
	names := slices.Concat(before, after)
	slices.Sort(names)
	differences := []BucketDifference{}
	for _, name := range slices.Compact(names) {
		_, was := slices.BinarySearch(before, name)
		_, is := slices.BinarySearch(after, name)
		difference := BucketDifference{name, Unmodified}
		switch {
		case !was:
			difference.Difference = Created
		case !is:
			difference.Difference = Deleted
		case !balanced(balance[name]):
			difference.Difference = Modified
		}
		differences = append(differences, difference)
	}
	return differences
}

// contents is a document without its identity.
type contents struct {
	data     document.Digest
	metadata string
}

func balanced(balance map[contents]int) bool {
	for _, surplus := range balance {
		if surplus != 0 {
			return false
		}
	}
	return true
}

// DocumentDifference is the difference of a document. Before is nil for a created document, After for a deleted one.
type DocumentDifference struct {
	document.Identity

	Difference    Difference
	Before, After *Stored
}

// Bucket returns the document's bucket, or its last bucket if it was deleted.
func (d DocumentDifference) Bucket() string {
	if d.After != nil {
		return d.After.Bucket
	}
	return d.Before.Bucket
}

// IsSecret reports whether either version is or contains a secret, in which case no data is shown.
func (d DocumentDifference) IsSecret() bool {
	secret := func(doc *Stored) bool { return doc != nil && (doc.Tainted || doc.Traits().Encrypted) }
	return secret(d.Before) || secret(d.After)
}

// HiddenDiffer reports whether the document has differences in data that is not shown.
func (d DocumentDifference) HiddenDiffer() bool {
	if d.Before == nil || d.After == nil || !d.IsSecret() {
		return false
	}
	return d.Before.Digest != d.After.Digest || !bytes.Equal(d.Before.Data, d.After.Data)
}

// RenderedOnly returns the rendered documents that others lacks or has with another bucket or rendered content. Their
// digests are those of the rendered contents.
func RenderedOnly(documents, others []*Stored) []*Stored {
	byIdentity := make(map[document.Identity]*Stored, len(others))
	for _, doc := range others {
		byIdentity[doc.Identity] = doc
	}
	var different []*Stored
	for _, doc := range documents {
		other := byIdentity[doc.Identity]
		if other != nil && other.Bucket == doc.Bucket && bytes.Equal(other.Metadata, doc.Metadata) &&
			bytes.Equal(other.Data, doc.Data) { // without a look at them if they are the same memory
			continue
		}
		different = append(different, Altered(doc, func(text *document.Document) { text.Digest = sha256.Sum256(doc.Data) }))
	}
	return different
}

// Altered returns a copy of a version with a modified document. Caches never return the copy.
func Altered(doc *Stored, change func(*document.Document)) *Stored {
	same, text := *doc, *doc.Document
	change(&text)
	same.Document, same.Shared = &text, false
	return &same
}

// DocumentDifferences returns the documents that are only on one side or differ between the two, sorted by bucket and
// identity.
func DocumentDifferences(removed, added []*Stored) []DocumentDifference {
	byIdentity := map[document.Identity]*DocumentDifference{}
	of := func(doc *Stored) *DocumentDifference {
		if byIdentity[doc.Identity] == nil {
			byIdentity[doc.Identity] = &DocumentDifference{Identity: doc.Identity}
		}
		return byIdentity[doc.Identity]
	}
	for _, doc := range removed {
		of(doc).Before = doc
	}
	for _, doc := range added {
		of(doc).After = doc
	}
	differences := []DocumentDifference{}
	for _, d := range byIdentity {
		if d.Difference = differenceOf(d.Before, d.After); d.Difference != Unmodified {
			differences = append(differences, *d)
		}
	}
	slices.SortFunc(differences, func(a, b DocumentDifference) int {
		return cmp.Or(cmp.Compare(a.Bucket(), b.Bucket()), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Layer, b.Layer))
	})
	return differences
}

func differenceOf(before, after *Stored) Difference {
	switch {
	case before == nil:
		return Created
	case after == nil:
		return Deleted
	case before.Bucket != after.Bucket:
		return Moved
	case !SameVersion(before, after):
		return Modified
	}
	return Unmodified
}
