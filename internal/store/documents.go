package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// The columns of a document version, with and without its content.
const (
	documentColumns = `d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata,
		d.notes, d.text, d.path, d.line`
	documentFields = 16 // with the content's body and its sealed secret
)

// Documents implements queries.Store.
func (s *Store) Documents(ctx context.Context, revision int64, selection queries.Selection) (queries.Selected, error) {
	if kept, _ := s.live.Get(siteKey{s.site}); selection.Shared && selection.IsWhole() && kept.revision == revision {
		if same, err := s.has(ctx, revision, kept.stamp); err != nil || same {
			selected := selection.Of(kept.documents)
			selected.Revision, selected.Stamp = revision, kept.stamp
			return selected, err
		}
	}
	return s.selected(ctx, revision, selection)
}

// selected reads the documents of a revision that a selection asks for.
func (s *Store) selected(ctx context.Context, revision int64, selection queries.Selection) (
	selected queries.Selected, err error,
) {
	type found struct {
		outline queries.Outline
		doc     *revisions.Stored // packed; nil beyond MaxBytes
	}
	var stamp *revisions.Stamp
	query := s.ofRevision(revision, selection)
	rows, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (f found, err error) {
		var stored, sealed int
		var head []byte
		beside := []any{&stamp, &stored, &head, &sealed}
		id, content := len(beside), len(beside)+documentFields-2 // columns
		switch values := row.RawValues(); {
		case values[id] == nil: // there is no document
			err = row.Scan(append(beside, make([]any, documentFields)...)...)
		case values[content] == nil:
			err = row.Scan(append(append(beside, &f.outline.ID), make([]any, documentFields-1)...)...)
		default:
			if f.doc, err = scanPacked(prefixed(row, beside...)); err == nil {
				f.outline.ID = f.doc.ID
			}
		}
		f.outline.Size = unpackedSize(head, stored) + sealed
		return f, err
	}, query.sql.String(), query.args...)
	switch {
	case err != nil:
		return selected, err
	case stamp == nil:
		return selected, revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	selected.Revision, selected.Stamp = revision, *stamp
	size := 0 // of unpacked contents
	for i, row := range rows {
		switch size += row.outline.Size; {
		case row.outline.ID == 0:
		case row.doc == nil || i > 0 && selection.MaxBytes > 0 && size > selection.MaxBytes:
			selected.Rest = append(selected.Rest, row.outline)
		default:
			if err := s.unpack(row.doc); err != nil {
				return selected, err
			}
			selected.Documents = append(selected.Documents, row.doc)
		}
	}
	return selected, nil
}

// AllDocuments implements queries.Store. It caches them for changes of the newest revision, which need them too.
func (s *Store) AllDocuments(ctx context.Context, revision int64, stamp revisions.Stamp) (queries.Selected, error) {
	kept, _ := s.live.Get(siteKey{s.site})
	if kept.stamp == stamp {
		return queries.Selected{Documents: kept.documents, Revision: revision, Stamp: stamp}, nil
	}
	selected, err := s.Documents(ctx, revision, queries.Selection{Page: queries.Page{Limit: -1}})
	if err == nil && revision > kept.revision {
		s.keepRead(liveDocuments{selected.Stamp, revision, selected.Documents})
	}
	return selected, err
}

// Ranks implements queries.Store.
func (s *Store) Ranks(ctx context.Context, revision int64, selection queries.Selection) (map[int64]int, error) {
	var stamp *revisions.Stamp
	ranks := map[int64]int{}
	query := s.ranksOfRevision(revision, selection)
	_, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (none struct{}, err error) {
		var id *int64
		var rank int
		if err = row.Scan(&stamp, &id, &rank); id != nil {
			ranks[*id] = rank
		}
		return none, err
	}, query.sql.String(), query.args...)
	if err == nil && stamp == nil {
		err = revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	return ranks, err
}

// Versions implements queries.Store.
func (s *Store) Versions(ctx context.Context, of queries.Selected, ids []int64, do func(*revisions.Stored) error) (
	found int, err error,
) {
	var packed []*revisions.Stored
	held, err := s.query(ctx, into(&packed, scanPacked), stmt.VersionsByID, named{
		"site": s.site, "ids": ids, "revision": of.Revision, "stamp": of.Stamp,
	})
	if err != nil {
		return 0, err
	}
	defer budget.NewMeter(ctx).Release(held)
	for _, doc := range packed {
		if err := s.unpack(doc); err != nil {
			return 0, err
		}
		if err := do(doc); err != nil {
			return 0, err
		}
	}
	return len(packed), nil
}

// Boundaries implements queries.Store.
func (s *Store) Boundaries(ctx context.Context, q queries.BoundaryQuery) (
	boundaries []queries.Boundary, cut bool, err error,
) {
	var found int // by the query, before its limit in bytes
	boundaries, err = collect(ctx, s.Database, func(row pgx.CollectableRow) (e queries.Boundary, err error) {
		e.Version, err = scanPacked(prefixed(row, &found, &e.Revision, (*zeronull.Timestamptz)(&e.At), &e.User, &e.Message,
			&e.Source, &e.Gone, &e.Follows))
		return e, err
	}, stmt.Boundaries, named{
		"site": s.site, "name": q.Document.Name, "schema": q.Document.Schema, "layer": q.Document.Layer,
		"cleartext": q.Cleartext, "offset": q.Offset, "limit": q.Limit, "max_bytes": q.MaxBytes,
	})
	size := 0
	for i, e := range boundaries {
		size += len(e.Version.Metadata) + unpackedSize(e.Version.Data, len(e.Version.Data))
		if i > 1 && size > q.MaxBytes {
			boundaries = boundaries[:i]
			break
		}
		if err := s.unpack(e.Version); err != nil {
			return nil, false, err
		}
	}
	return boundaries, len(boundaries) < found, err
}

// FallbackPolicy implements queries.Store.
func (s *Store) FallbackPolicy(ctx context.Context, revision int64) (*revisions.Stored, error) {
	return collectFirst(ctx, s.Database, s.scanDocument, stmt.FallbackPolicy, named{"site": s.site, "revision": revision})
}

// scanDocument reads a row of documentColumns, a body and a sealed secret, which are null where the content was not
// asked for.
func (s *Store) scanDocument(row pgx.CollectableRow) (*revisions.Stored, error) {
	doc, err := scanPacked(row)
	if err != nil {
		return nil, err
	}
	return doc, s.unpack(doc)
}

// scanPacked is scanDocument without unpacking the content.
func scanPacked(row pgx.CollectableRow) (*revisions.Stored, error) {
	doc := &revisions.Stored{Document: &document.Document{}}
	var notes []byte
	var line int64
	err := row.Scan(&doc.ID, &doc.Place, &doc.Revision, &doc.Bucket, &doc.Schema, &doc.Layer, &doc.Name,
		(*nullDigest)(&doc.Digest), (*nullDigest)(&doc.Segment), &doc.Metadata, &notes, (*zeronull.Int8)(&doc.Text),
		(*zeronull.Text)(&doc.Path), (*zeronull.Int8)(&line), &doc.Data, &doc.Sealed)
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	doc.Line = int(line)
	if notes != nil {
		if err := json.Unmarshal(notes, &doc.Notes); err != nil {
			return nil, fmt.Errorf("read the notes of %s: %w", doc.Identity, err)
		}
	}
	return doc, nil
}

// unpack decompresses the content of a document that is not shared yet.
func (s *Store) unpack(doc *revisions.Stored) (err error) {
	if doc.Data, err = s.codec.unpack(doc.Data); err != nil {
		return fmt.Errorf("read %s: %w", doc.Identity, err)
	}
	return nil
}
