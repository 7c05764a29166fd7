package queries

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
)

// DeepDifference is the difference of a bucket and of its rendered documents. A moved document is deleted in one bucket
// and created in the other.
type DeepDifference struct {
	revisions.BucketDifference

	Documents []revisions.DocumentDifference
}

// DeepDifferences are the differences of buckets, with a page of the differences of documents.
type DeepDifferences struct {
	Buckets []DeepDifference
	Total   int // number of documents that differ, on all pages
}

// DeepDiffOptions choose what DeepDiff compares. The zero value compares as Deckhand does: the rendered forms of
// documents whose submitted forms differ.
type DeepDiffOptions struct {
	All       bool // compare all documents that are rendered differently
	Submitted bool // compare the submitted forms, without rendering
	Named     bool // only name the documents that differ; their contents may be missing
	Page      Page // of the documents, in the order of their buckets
}

// DeepDiff returns the difference of two revisions and of their documents; 0 is the empty revision. For buckets the
// higher number is the newer one, as in Diff. Faults: NotFound, Gone, those of rendering.
func (v View) DeepDiff(ctx context.Context, before, after int64, options DeepDiffOptions) (DeepDifferences, error) {
	compared, err := v.sides(ctx, before, after, options.Submitted)
	if err != nil {
		return DeepDifferences{}, err
	}
	for _, s := range compared.sides {
		if s.err != nil {
			return DeepDifferences{}, s.err
		}
	}
	found := compared.found
	removed, added := options.forms(found, compared.sides[0].documents, compared.sides[1].documents)
	differences := options.differences(bucketDifferences(found, before, after), removed, added)
	if options.Submitted && !options.Named {
		err = v.readTexts(ctx, differences.Buckets)
	}
	return differences, err
}

// compared are two revisions with their difference as it was submitted.
type compared struct {
	sides [2]side // without documents if these are not to be rendered
	found revisions.Comparison
}

// side is a rendered revision to compare; the zero side has no documents.
type side struct {
	changes.RenderKey

	documents  []*revisions.Stored // including those that violate their schemas
	unrendered error               // why some documents do not render
	err        error               // unrendered, with all other errors of the revision
}

// sides compares two revisions, and renders them unless their submitted forms are to be compared.
func (v View) sides(ctx context.Context, before, after int64, submitted bool) (c compared, err error) {
	if !submitted { // first, so that a request waiting for a shared rendering holds no memory
		if c.sides, err = v.renderedSides(ctx, before, after); err != nil {
			return c, err
		}
	}
	if c.found, err = v.compare(ctx, before, after); err != nil {
		return c, err
	}
	for _, s := range c.sides {
		if s.Revision > 0 && s.Stamp != c.found.Stamps[s.Revision] {
			return c, replaced(s.Revision)
		}
	}
	return c, nil
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
		sides[i].RenderKey = changes.RenderKey{
			Site: v.renderer.Site, Revision: revision, Stamp: stamp, Cleartext: !v.viewer.Encrypted,
		}
	}
	for i, s := range sides {
		if s.Revision == 0 {
			continue
		}
		rendered, err := v.rendered(ctx, s.RenderKey)
		sides[i].documents, sides[i].unrendered, sides[i].err = rendered.Documents, err, err
		if err == nil && rendered.Unrendered != nil {
			sides[i].unrendered, sides[i].err = rendered.Unrendered, rendered.Fault
		}
	}
	return sides, nil
}

// forms returns the forms to compare of documents that only one of two revisions has.
func (o DeepDiffOptions) forms(found revisions.Comparison, older, newer []*revisions.Stored) (
	removed, added []*revisions.Stored,
) {
	switch {
	case o.Submitted:
		return found.Removed, found.Added
	case o.All:
		return revisions.RenderedOnly(older, newer), revisions.RenderedOnly(newer, older)
	}
	return formsOf(found.Removed, older), formsOf(found.Added, newer)
}

// differences returns a page of the differences between documents, by bucket.
func (o DeepDiffOptions) differences(buckets []revisions.BucketDifference, removed, added []*revisions.Stored,
) DeepDifferences {
	all := DeepDifferences{Buckets: make([]DeepDifference, 0, len(buckets))}
	removedFrom, addedTo := revisions.GroupByBucket(removed), revisions.GroupByBucket(added)
	for _, bucket := range buckets {
		documents := revisions.DocumentDifferences(removedFrom[bucket.Bucket], addedTo[bucket.Bucket])
		if !o.All {
			documents = pairedByName(documents)
		}
		from, to := o.Page.window(all.Total, len(documents))
		all.Total += len(documents)
		all.Buckets = append(all.Buckets, DeepDifference{bucket, documents[from:to]})
	}
	return all
}

// readTexts sets the submitted contents of documents in differences; encrypted ones get no data.
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
		*side = revisions.Altered(*side, func(text *document.Document) { text.Data = texts[digest] })
	}
	return nil
}

// pairedByName combines a deleted document with one created in another layer, with the same schema and name, into a
// modified one.
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

// Diff returns the differences of all buckets that have documents in at least one of two revisions, sorted by name; 0
// is the empty revision. The higher number is the newer one, regardless of their order. Faults: NotFound, Gone.
func (v View) Diff(ctx context.Context, a, b int64) ([]revisions.BucketDifference, error) {
	found, err := v.compare(ctx, a, b)
	if err != nil {
		return nil, err
	}
	return bucketDifferences(found, a, b), nil
}

// bucketDifferences returns the differences of buckets from the older to the newer of two compared revisions.
func bucketDifferences(c revisions.Comparison, before, after int64) []revisions.BucketDifference {
	if before > after {
		return revisions.BucketDifferences(c.After, c.Before, c.Added, c.Removed)
	}
	return revisions.BucketDifferences(c.Before, c.After, c.Removed, c.Added)
}

// compare returns the difference of two revisions, both of which must exist or be 0. It omits encrypted documents if
// the viewer may not see them.
func (v View) compare(ctx context.Context, before, after int64) (revisions.Comparison, error) {
	found, err := v.store.Compare(ctx, before, after)
	if err != nil {
		return found, fmt.Errorf("compare revisions: %w", err)
	}
	if len(found.Missing) > 0 {
		return found, revisions.Absent(ctx, v.store, found.Missing[0])
	}
	found.Removed, found.Added = revisions.Visible(v.viewer, found.Removed), revisions.Visible(v.viewer, found.Added)
	return found, nil
}
