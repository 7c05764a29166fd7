package revisions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"purser/internal/document"
)

// Difference is what became of something from one revision to another.
type Difference uint8

// The differences.
const (
	Unmodified Difference = iota
	Created
	Deleted
	Modified
	Moved // to another bucket; of documents only
)

// String gives the word that the API uses.
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

// BucketDifference is what became of a bucket.
type BucketDifference struct {
	Bucket     string
	Difference Difference
}

// Diff tells how the buckets differ that have documents in one of two revisions, sorted by name; 0 is the revision
// without any. The higher number is the newer one, whatever their order (spec/api.md §6.1). Faults: NotFound, Gone.
func (s *Service) Diff(ctx context.Context, a, b int64) ([]BucketDifference, error) {
	found, err := s.compare(ctx, a, b)
	if err != nil {
		return nil, err
	}
	return found.buckets(a, b), nil
}

// buckets tells what became of each bucket from the older of two revisions that were compared to the newer.
func (c Comparison) buckets(before, after int64) []BucketDifference {
	if before > after {
		return bucketDifferences(c.After, c.Before, c.Come, c.Gone)
	}
	return bucketDifferences(c.Before, c.After, c.Gone, c.Come)
}

// compare tells how two revisions differ, both of which must exist or be 0.
func (s *Service) compare(ctx context.Context, before, after int64) (Comparison, error) {
	found, err := s.Store.Compare(ctx, before, after)
	if err != nil {
		return found, fmt.Errorf("compare revisions: %w", err)
	}
	if len(found.Missing) > 0 {
		return found, s.absent(ctx, found.Missing[0])
	}
	return found, nil
}

// bucketDifferences tells what became of each bucket, from those that have documents before and after, and from what
// only one side has.
func bucketDifferences(before, after []string, gone, come []*Stored) []BucketDifference {
	balance := map[string]map[says]int{}
	weigh := func(documents []*Stored, step int) {
		for _, doc := range documents {
			if balance[doc.Bucket] == nil {
				balance[doc.Bucket] = map[says]int{}
			}
			balance[doc.Bucket][says{doc.Digest, string(doc.Metadata)}] += step
		}
	}
	weigh(gone, -1)
	weigh(come, +1)
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

// says is what a document says, whatever its identity is.
type says struct {
	data     document.Digest
	metadata string
}

func balanced(balance map[says]int) bool {
	for _, surplus := range balance {
		if surplus != 0 {
			return false
		}
	}
	return true
}

// DocumentDifference is what became of a document. Of one that was created there is no Before, of a deleted one no
// After.
type DocumentDifference struct {
	document.Identity

	Difference    Difference
	Before, After *Stored
}

// Bucket is where the document is, or was last.
func (d DocumentDifference) Bucket() string {
	if d.After != nil {
		return d.After.Bucket
	}
	return d.Before.Bucket
}

// documentDifferences tells what became of each document that only one side has, or that the sides have in different
// versions, sorted by bucket and identity.
func documentDifferences(gone, come []*Stored) []DocumentDifference {
	byIdentity := map[document.Identity]*DocumentDifference{}
	of := func(doc *Stored) *DocumentDifference {
		if byIdentity[doc.Identity] == nil {
			byIdentity[doc.Identity] = &DocumentDifference{Identity: doc.Identity}
		}
		return byIdentity[doc.Identity]
	}
	for _, doc := range gone {
		of(doc).Before = doc
	}
	for _, doc := range come {
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
	case !sameVersion(before, after):
		return Modified
	}
	return Unmodified
}
