package revisions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"purser/internal/document"
)

// DeepDifference is what became of a bucket, down to its rendered documents. A document that moved is a deleted one in
// the one bucket and a created one in the other.
type DeepDifference struct {
	BucketDifference

	Documents []DocumentDifference
}

// DeepDiff tells how one revision becomes another, down to what its rendered documents say; 0 is the revision without
// any. Of the buckets the higher number is the newer one, as for Diff. Documents count as modified if what was
// submitted of them differs (spec/api.md §6.2), or, if all is asked for, if they are rendered differently. cleartext
// leaves encrypted documents out. Faults:
// NotFound, Gone, those of rendering.
func (s *Service) DeepDiff(ctx context.Context, before, after int64, all, cleartext bool) ([]DeepDifference, error) {
	found, err := s.compare(ctx, before, after)
	if err != nil {
		return nil, err
	}
	older, err := s.readable(ctx, renditionKey{found.Epoch, before, cleartext})
	if err != nil {
		return nil, err
	}
	newer, err := s.readable(ctx, renditionKey{found.Epoch, after, cleartext})
	if err != nil {
		return nil, err
	}
	var gone, come map[string][]*Stored
	if all {
		gone, come = GroupByBucket(notIn(older, newer)), GroupByBucket(notIn(newer, older))
	} else {
		gone, come = GroupByBucket(rendered(found.Gone, older)), GroupByBucket(rendered(found.Come, newer))
	}
	differences := []DeepDifference{}
	for _, bucket := range found.buckets(before, after) {
		documents := documentDifferences(gone[bucket.Bucket], come[bucket.Bucket])
		if !all {
			documents = pairedByName(documents)
		}
		differences = append(differences, DeepDifference{bucket, documents})
	}
	return differences, nil
}

// pairedByName makes of a document that was deleted, and one of its schema and name that was created in another layer,
// one that was modified (spec/api.md §6.2).
func pairedByName(differences []DocumentDifference) []DocumentDifference {
	deleted := map[document.Identity]*Stored{}
	for _, d := range differences {
		if d.Difference == Deleted {
			deleted[document.Identity{Schema: d.Schema, Name: d.Name}] = d.Before
		}
	}
	var paired []DocumentDifference
	used := map[*Stored]bool{}
	for _, d := range differences {
		before := deleted[document.Identity{Schema: d.Schema, Name: d.Name}]
		if d.Difference == Created && before != nil && !used[before] {
			used[before] = true
			d.Difference, d.Before = Modified, before
		}
		paired = append(paired, d)
	}
	return slices.DeleteFunc(paired, func(d DocumentDifference) bool { return d.Difference == Deleted && used[d.Before] })
}

// readable are the rendered documents of a revision, whether they pass their schemas or not; 0 has none.
func (s *Service) readable(ctx context.Context, key renditionKey) ([]*Stored, error) {
	if key.revision == 0 {
		return nil, nil
	}
	rendered, err := s.rendition(ctx, key)
	return rendered.documents, err
}

// rendered are the rendered forms of versions; those that nobody reads have none.
func rendered(versions, readable []*Stored) []*Stored {
	byID := make(map[int64]*Stored, len(readable))
	for _, doc := range readable {
		byID[doc.ID] = doc
	}
	var forms []*Stored
	for _, version := range versions {
		if form := byID[version.ID]; form != nil {
			forms = append(forms, form)
		}
	}
	return forms
}

// notIn are the rendered documents that others do not have, or not in the same bucket and saying the same. Their
// digests are those of what they say when they are rendered.
func notIn(documents, others []*Stored) []*Stored {
	byIdentity := make(map[document.Identity]*Stored, len(others))
	for _, doc := range others {
		byIdentity[doc.Identity] = doc
	}
	var different []*Stored
	for _, doc := range documents {
		other := byIdentity[doc.Identity]
		if other != nil && other.Bucket == doc.Bucket && bytes.Equal(other.Metadata, doc.Metadata) &&
			bytes.Equal(other.Data, doc.Data) {
			continue
		}
		same, text := *doc, *doc.Document
		text.Digest = sha256.Sum256(doc.Data)
		same.Document, same.Kept = &text, false
		different = append(different, &same)
	}
	return different
}

// GroupByBucket sorts documents by the bucket they are in, each list in the order of the whole.
func GroupByBucket(documents []*Stored) map[string][]*Stored {
	of := map[string][]*Stored{}
	for _, doc := range documents {
		of[doc.Bucket] = append(of[doc.Bucket], doc)
	}
	return of
}
