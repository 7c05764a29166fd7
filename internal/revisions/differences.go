package revisions

import (
	"cmp"
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
