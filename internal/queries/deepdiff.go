package queries

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/judging"
	"purser/internal/revisions"
)

// DeepDifference is the difference of a bucket, down to its rendered documents. A document that moved is a deleted one
// in the one bucket and a created one in the other.
type DeepDifference struct {
	revisions.BucketDifference

	Documents []revisions.DocumentDifference
}

// DeepDifferences are the differences of buckets, with a page of those of their documents.
type DeepDifferences struct {
	Buckets []DeepDifference
	Total   int // number of documents that differ
}

// DeepDiffOptions choose what DeepDiff compares. Without them it compares as the reference does (spec/api.md §6.2): the
// rendered forms of those documents whose submitted forms differ.
type DeepDiffOptions struct {
	All       bool // all documents that are rendered differently
	Submitted bool // the submitted forms, which needs no rendering
	Named     bool // which documents differ, without what they say where it need not be read
	Page      Page // of the documents, in the order of their buckets
}

// DeepDiff returns the difference of two revisions, down to their documents; 0 is the revision without any. Of buckets
// the higher number is the newer one, as for Diff. Faults: NotFound, Gone, those of rendering.
func (v View) DeepDiff(ctx context.Context, before, after int64, options DeepDiffOptions) (DeepDifferences, error) {
	var sides [2]side
	if !options.Submitted { // first of all: who waits for a rendering that others have begun holds nothing meanwhile
		var err error
		if sides, err = v.renderedSides(ctx, before, after); err != nil {
			return DeepDifferences{}, err
		}
	}
	found, err := v.compare(ctx, before, after)
	if err != nil {
		return DeepDifferences{}, err
	}
	for _, s := range sides {
		if s.Revision > 0 && s.Stamp != found.Stamps[s.Revision] {
			return DeepDifferences{}, replaced(s.Revision)
		}
	}
	gone, come := options.forms(found, sides[0].documents, sides[1].documents)
	differences := options.differences(bucketDifferences(found, before, after), gone, come)
	if options.Submitted && !options.Named {
		err = v.readTexts(ctx, differences.Buckets)
	}
	return differences, err
}

// side is a rendered revision that is compared; the zero side is one without documents.
type side struct {
	judging.RenderKey

	documents []*revisions.Stored // also such that violate their schemas
}

// renderedSides renders two revisions, both of which must exist or be 0.
func (v View) renderedSides(ctx context.Context, before, after int64) (sides [2]side, err error) {
	for i, revision := range []int64{before, after} {
		if revision == 0 {
			continue
		}
		stamp, err := v.Stamp(ctx, revision)
		if err != nil {
			return sides, err
		}
		sides[i].RenderKey = judging.RenderKey{Revision: revision, Stamp: stamp, Cleartext: !v.viewer.Encrypted}
	}
	for i, s := range sides {
		if s.Revision == 0 {
			continue
		}
		rendered, err := v.rendered(ctx, s.RenderKey)
		if err != nil {
			return sides, err
		}
		sides[i].documents = rendered.Documents
	}
	return sides, nil
}

// forms returns what is compared of the documents that only one of two revisions has.
func (o DeepDiffOptions) forms(found revisions.Comparison, older, newer []*revisions.Stored) (
	gone, come []*revisions.Stored,
) {
	switch {
	case o.Submitted:
		return found.Gone, found.Come
	case o.All:
		return notIn(older, newer), notIn(newer, older)
	}
	return formsOf(found.Gone, older), formsOf(found.Come, newer)
}

// differences returns a page of the differences between documents, by their buckets.
func (o DeepDiffOptions) differences(buckets []revisions.BucketDifference, gone, come []*revisions.Stored,
) DeepDifferences {
	all := DeepDifferences{Buckets: make([]DeepDifference, 0, len(buckets))}
	goneFrom, comeTo := revisions.GroupByBucket(gone), revisions.GroupByBucket(come)
	for _, bucket := range buckets {
		documents := revisions.DocumentDifferences(goneFrom[bucket.Bucket], comeTo[bucket.Bucket])
		if !o.All {
			documents = pairedByName(documents)
		}
		from, to := o.Page.window(all.Total, len(documents))
		all.Total += len(documents)
		all.Buckets = append(all.Buckets, DeepDifference{bucket, documents[from:to]})
	}
	return all
}

// window returns the part of a list of n items that is on the page, where the list follows others of together before
// items.
func (p Page) window(before, n int) (from, to int) {
	from = min(max(p.Offset-before, 0), n)
	if to = n; p.Limit >= 0 {
		to = min(max(p.Offset+p.Limit-before, from), n)
	}
	return from, to
}

// readTexts sets the documents of differences as they were submitted; encrypted ones have no data.
func (v View) readTexts(ctx context.Context, of []DeepDifference) error {
	var sides []**revisions.Stored
	var digests []document.Digest
	for _, bucket := range of {
		for i := range bucket.Documents {
			for _, side := range []**revisions.Stored{&bucket.Documents[i].Before, &bucket.Documents[i].After} {
				if *side == nil {
					continue
				}
				sides = append(sides, side)
				if !(*side).Traits().Encrypted {
					digests = append(digests, (*side).Digest)
				}
			}
		}
	}
	texts, err := v.store.Contents(ctx, digests)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	for _, side := range sides {
		digest := (*side).Digest
		*side = altered(*side, func(text *document.Document) { text.Data = texts[digest] })
	}
	return nil
}

// pairedByName makes of a document that was deleted, and one of its schema and name that was created in another layer,
// one that was modified (spec/api.md §6.2).
func pairedByName(differences []revisions.DocumentDifference) []revisions.DocumentDifference {
	deleted := map[document.Identity]*revisions.Stored{}
	for _, d := range differences {
		if d.Difference == revisions.Deleted {
			deleted[document.Identity{Schema: d.Schema, Name: d.Name}] = d.Before
		}
	}
	var paired []revisions.DocumentDifference
	used := map[*revisions.Stored]bool{}
	for _, d := range differences {
		before := deleted[document.Identity{Schema: d.Schema, Name: d.Name}]
		if d.Difference == revisions.Created && before != nil && !used[before] {
			used[before] = true
			d.Difference, d.Before = revisions.Modified, before
		}
		paired = append(paired, d)
	}
	return slices.DeleteFunc(paired, func(d revisions.DocumentDifference) bool {
		return d.Difference == revisions.Deleted && used[d.Before]
	})
}

// formsOf returns the rendered forms of versions. Abstract and replaced documents have none.
func formsOf(versions, readable []*revisions.Stored) []*revisions.Stored {
	byID := make(map[int64]*revisions.Stored, len(readable))
	for _, doc := range readable {
		byID[doc.ID] = doc
	}
	var forms []*revisions.Stored
	for _, version := range versions {
		if form := byID[version.ID]; form != nil {
			forms = append(forms, form)
		}
	}
	return forms
}

// notIn returns the rendered documents that are missing in others, or that have another bucket or rendered content
// there. Their digests are those of the rendered contents.
func notIn(documents, others []*revisions.Stored) []*revisions.Stored {
	byIdentity := make(map[document.Identity]*revisions.Stored, len(others))
	for _, doc := range others {
		byIdentity[doc.Identity] = doc
	}
	var different []*revisions.Stored
	for _, doc := range documents {
		other := byIdentity[doc.Identity]
		if other != nil && other.Bucket == doc.Bucket && bytes.Equal(other.Metadata, doc.Metadata) &&
			bytes.Equal(other.Data, doc.Data) {
			continue
		}
		different = append(different, altered(doc, func(text *document.Document) { text.Digest = sha256.Sum256(doc.Data) }))
	}
	return different
}

// altered returns a copy of a version, which no cache returns, with what change does to its document.
func altered(doc *revisions.Stored, change func(*document.Document)) *revisions.Stored {
	same, text := *doc, *doc.Document
	change(&text)
	same.Document, same.Shared = &text, false
	return &same
}
