package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
)

var (
	contentColumns = []string{"site", "digest", "passed", "body", "sealed"}
	versionColumns = []string{
		"site", "id", "place", "since", "bucket", "schema", "layer", "name", "content", "segment", "metadata", "notes",
		"abstract", "labels", "encrypted",
	}
)

// copyContents adds the contents that are new, with the check that each of them passed. It returns the checks that are
// recorded by that.
func (s *Store) copyContents(ctx context.Context, tx pgx.Tx, change revisions.Change, known map[document.Digest]bool) (
	map[revisions.Pair]bool, error,
) {
	passed := make(map[document.Digest]revisions.Pair, len(change.Checks))
	for _, check := range change.Checks {
		if len(check.Findings) == 0 {
			passed[check.Content] = check.Pair
		}
	}
	var added []*revisions.Stored
	recorded := make(map[revisions.Pair]bool, len(passed))
	for _, doc := range change.Added {
		if known[doc.Digest] {
			continue
		}
		known[doc.Digest] = true
		added = append(added, doc)
		if pair, ok := passed[doc.Digest]; ok {
			recorded[pair] = true
		}
	}
	if len(added) == 0 {
		return recorded, nil
	}
	// In the order of the index, pages are filled one after the other.
	slices.SortFunc(added, func(a, b *revisions.Stored) int { return bytes.Compare(a.Digest[:], b.Digest[:]) })
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"contents"}, contentColumns, pgx.CopyFromSlice(len(added),
		func(i int) ([]any, error) {
			var check []byte
			if pair, ok := passed[added[i].Digest]; ok {
				name := pair.Name()
				check = name[:]
			}
			return []any{s.site, added[i].Digest[:], check, s.body.pack(added[i].Data), added[i].Sealed}, nil
		}))
	return recorded, err //nolint:wrapcheck // wrapped by the caller
}

// copyDocuments adds the new versions.
func (s *Store) copyDocuments(ctx context.Context, tx pgx.Tx, change revisions.Change) error {
	if len(change.Added) == 0 {
		return nil
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"documents"}, versionColumns, pgx.CopyFromSlice(len(change.Added),
		func(i int) ([]any, error) {
			return s.versionRow(change.Added[i])
		}))
	return err //nolint:wrapcheck // wrapped by the caller
}

func (s *Store) versionRow(doc *revisions.Stored) ([]any, error) {
	var segment, notes, labels []byte
	if !doc.Segment.IsZero() {
		segment = doc.Segment[:]
	}
	if len(doc.Notes) > 0 {
		var err error
		if notes, err = json.Marshal(doc.Notes); err != nil {
			return nil, fmt.Errorf("write the notes of %s: %w", doc.Identity, err)
		}
	}
	traits := doc.Traits()
	if len(traits.Labels) > 0 {
		labels = document.Canonical(traits.Labels)
	}
	return []any{
		s.site, doc.ID, doc.Place, doc.Revision, doc.Bucket, doc.Schema, doc.Layer, doc.Name, doc.Digest[:], segment,
		doc.Metadata, notes, traits.Abstract, labels, traits.Encrypted,
	}, nil
}
