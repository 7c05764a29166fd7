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

// DeepDiffOptions choose what DeepDiff compares. The zero value is as in the reference (spec/api.md §6.2): the rendered
// forms of those documents whose submitted forms differ.
type DeepDiffOptions struct {
	All       bool // all documents that are rendered differently
	Submitted bool // the submitted forms, which needs no rendering
	Named     bool // which documents differ, without what they say where it need not be read
}

// DeepDiff returns the difference of two revisions, down to their documents; 0 is the revision without any. Of buckets
// the higher number is the newer one, as for Diff. Faults: NotFound, Gone, those of rendering.
func (v View) DeepDiff(ctx context.Context, before, after int64, options DeepDiffOptions) ([]DeepDifference, error) {
	found, err := v.compare(ctx, before, after)
	if err != nil {
		return nil, err
	}
	var gone, come []*revisions.Stored
	switch {
	case !options.Submitted:
		gone, come, err = v.renderedForms(ctx, found, before, after, options.All)
	case options.Named:
		gone, come = found.Gone, found.Come
	default:
		gone, come, err = v.submittedForms(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	goneFrom, comeTo := revisions.GroupByBucket(gone), revisions.GroupByBucket(come)
	differences := []DeepDifference{}
	for _, bucket := range bucketDifferences(found, before, after) {
		documents := revisions.DocumentDifferences(goneFrom[bucket.Bucket], comeTo[bucket.Bucket])
		if !options.All {
			documents = pairedByName(documents)
		}
		differences = append(differences, DeepDifference{bucket, documents})
	}
	return differences, nil
}

// renderedForms returns the rendered documents that only one of two revisions has.
func (v View) renderedForms(ctx context.Context, found revisions.Comparison, before, after int64, all bool) (
	gone, come []*revisions.Stored, err error,
) {
	cleartext := !v.viewer.Encrypted
	older, err := v.readable(ctx, judging.RenderKey{Revision: before, Stamp: found.Stamps[before], Cleartext: cleartext})
	if err != nil {
		return nil, nil, err
	}
	newer, err := v.readable(ctx, judging.RenderKey{Revision: after, Stamp: found.Stamps[after], Cleartext: cleartext})
	switch {
	case err != nil:
		return nil, nil, err
	case all:
		return notIn(older, newer), notIn(newer, older), nil
	}
	return rendered(found.Gone, older), rendered(found.Come, newer), nil
}

// submittedForms returns the documents that only one of two revisions has, as they were submitted; encrypted ones have
// no data.
func (v View) submittedForms(ctx context.Context, found revisions.Comparison) (
	gone, come []*revisions.Stored, err error,
) {
	var digests []document.Digest
	for _, doc := range slices.Concat(found.Gone, found.Come) {
		if !doc.Traits().Encrypted {
			digests = append(digests, doc.Digest)
		}
	}
	texts, err := v.store.Contents(ctx, digests)
	if err != nil {
		return nil, nil, fmt.Errorf("read documents: %w", err)
	}
	with := func(documents []*revisions.Stored) []*revisions.Stored {
		list := make([]*revisions.Stored, len(documents))
		for i, doc := range documents {
			list[i] = altered(doc, func(text *document.Document) { text.Data = texts[doc.Digest] })
		}
		return list
	}
	return with(found.Gone), with(found.Come), nil
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

// readable returns the rendered documents of a revision, also those that violate their schemas; none for 0.
func (s *Service) readable(ctx context.Context, key judging.RenderKey) ([]*revisions.Stored, error) {
	if key.Revision == 0 {
		return nil, nil
	}
	rendered, err := s.rendered(ctx, key)
	return rendered.Documents, err
}

// rendered returns the rendered forms of versions. Abstract and replaced documents have none.
func rendered(versions, readable []*revisions.Stored) []*revisions.Stored {
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
