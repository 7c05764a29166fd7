package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Pack implements revisions.Store.
func (s *Store) Pack(data []byte) []byte { return s.codec.pack(data) }

// addContents adds the contents that are new, each with the check that it passed, and returns the checks that are
// recorded by that.
func (a *appending) addContents(ctx context.Context, batch *pgx.Batch, known map[document.Digest]revisions.Content) (
	map[revisions.Pair]bool, error,
) {
	passed := make(map[document.Digest]revisions.Pair, len(a.commit.Checks))
	for _, check := range a.commit.Checks {
		if len(check.Findings) == 0 {
			passed[check.Content] = check.Pair
		}
	}
	var added []*revisions.Stored
	recorded := make(map[revisions.Pair]bool, len(passed))
	for _, doc := range a.commit.Diff.Added {
		if content, stored := known[doc.Digest]; stored {
			if content.Sealed == nil && doc.Sealed != nil {
				batch.Queue(stmt.AddSealed, named{"site": a.store.site, "digest": doc.Digest[:], "sealed": doc.Sealed})
			}
			continue
		}
		known[doc.Digest] = revisions.Content{Sealed: doc.Sealed}
		added = append(added, doc)
		if pair, ok := passed[doc.Digest]; ok {
			recorded[pair] = true
		}
	}
	// In the order of the index, pages are filled one after the other.
	slices.SortFunc(added, func(a, b *revisions.Stored) int { return bytes.Compare(a.Digest[:], b.Digest[:]) })
	err := a.addRows(ctx, batch, "contents", stmt.InsertContent, len(added), func(i int) ([]any, error) {
		var check []byte
		if pair, ok := passed[added[i].Digest]; ok {
			name := pair.Name()
			check = name[:]
		}
		body, packed := a.commit.Packed[added[i].Digest]
		if !packed {
			body = a.store.Pack(added[i].Data)
		}
		return []any{a.store.site, added[i].Digest[:], check, body, added[i].Sealed}, nil // of InsertContent
	})
	return recorded, err
}

// checkArchives checks that the archives of the commit that should be stored still are: a prune may have deleted them.
func (a *appending) checkArchives(known map[document.Digest]revisions.Content) error {
	for content, archive := range a.commit.Archives {
		if archive == nil && !known[content].Archived {
			return revisions.ErrStaleSnapshot
		}
	}
	return nil
}

// queueArchives adds the archives of the commit.
func (a *appending) queueArchives(batch *pgx.Batch) {
	for content, archive := range a.commit.Archives {
		if archive != nil {
			batch.Queue(stmt.AddArchive, named{"site": a.store.site, "content": content[:], "body": archive})
		}
	}
}

// addDocuments adds the new versions.
func (a *appending) addDocuments(ctx context.Context, batch *pgx.Batch) error {
	added := a.commit.Diff.Added
	return a.addRows(ctx, batch, "documents", stmt.InsertDocument, len(added), func(i int) ([]any, error) {
		return a.store.versionRow(added[i], a.texts.textOf(added[i]))
	})
}

// addRows adds rows to a table: a few with the batch, many by COPY. Rows have the arguments of the statement that
// inserts one, in their order; they are named like the columns.
func (a *appending) addRows(ctx context.Context, batch *pgx.Batch, table, insert string, n int,
	row func(i int) ([]any, error),
) error {
	statement := stmt.positional[insert]
	if n > maxInserted {
		_, err := a.conn.CopyFrom(ctx, pgx.Identifier{table}, statement.arguments, pgx.CopyFromSlice(n, row))
		return err
	}
	for i := range n {
		values, err := row(i)
		if err != nil {
			return err
		}
		batch.Queue(statement.sql, values...)
	}
	return nil
}

// versionRow returns the arguments of InsertDocument in their order, given the number of the document's text.
func (s *Store) versionRow(doc *revisions.Stored, text int64) ([]any, error) {
	notes, err := jsonOf(doc.Notes)
	if err != nil {
		return nil, fmt.Errorf("write the notes of %s: %w", doc.Identity, err)
	}
	traits := doc.Traits()
	var labels []byte
	if len(traits.Labels) > 0 {
		labels = document.Canonical(traits.Labels)
	}
	return []any{
		s.site, doc.ID, doc.Place, doc.Revision, doc.Bucket, doc.Schema, doc.Layer, doc.Name, doc.Digest[:],
		nullDigest(doc.Segment), doc.Metadata, notes, traits.Abstract, labels, traits.Encrypted,
		zeronull.Int8(text), zeronull.Text(doc.Path), lineOf(doc),
	}, nil
}
