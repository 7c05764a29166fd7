package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
)

// What is read of a document version, with and without its content.
const (
	documentColumns = `d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata,
		d.notes`
	documentFields = 12 // with the content's body
	withContent    = `SELECT ` + documentColumns + `, c.body
		FROM documents d JOIN contents c ON c.site = d.site AND c.digest = d.content `
)

const (
	liveOfBuckets = withContent + `WHERE d.site = $1 AND d.bucket = ANY($2) AND d.until IS NULL ORDER BY d.place`

	liveOfKinds = withContent + `WHERE d.site = $1 AND d.schema = ANY($2) AND d.until IS NULL ORDER BY d.place`

	liveRegistered = withContent + `WHERE d.site = $1 AND d.schema = 'deckhand/DataSchema/v1' AND d.name = ANY($2)
		AND d.until IS NULL ORDER BY d.place`

	liveClaims = `SELECT ` + documentColumns + `, NULL::bytea FROM documents d
		JOIN unnest($2::text[], $3::text[], $4::text[]) AS k (schema, layer, name)
			ON d.schema = k.schema AND d.layer = k.layer AND d.name = k.name
		WHERE d.site = $1 AND d.until IS NULL
		UNION ALL
		SELECT ` + documentColumns + `, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.until IS NULL AND d.schema LIKE 'deckhand/LayeringPolicy/%'`

	liveNoted = `SELECT ` + documentColumns + `, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.until IS NULL AND d.notes IS NOT NULL`

	livePositions = `SELECT d.id, d.place FROM documents d WHERE d.site = $1 AND d.until IS NULL ORDER BY d.place`

	fallbackPolicy = withContent + `WHERE d.site = $1 AND d.schema LIKE 'deckhand/LayeringPolicy/%'
		ORDER BY d.since > $2, d.since DESC LIMIT 1`

	versionsByID = withContent + `WHERE d.site = $1 AND d.id = ANY($2)`
)

// Documents implements revisions.Store.
func (s *Store) Documents(ctx context.Context, revision int64, selection revisions.Selection) (
	revisions.Selected, error,
) {
	var selected revisions.Selected
	exists := false
	query := s.ofRevision(revision, selection)
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (*revisions.Stored, error) {
		const id = 2 // the column that tells whether there is a document
		if row.RawValues()[id] == nil {
			return nil, row.Scan(append([]any{&selected.Epoch, &exists}, make([]any, documentFields)...)...)
		}
		return s.scanDocument(prefixed{row, []any{&selected.Epoch, &exists}})
	}, query.sql.String(), query.args...)
	switch {
	case err != nil:
		return selected, err
	case !exists:
		return selected, revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	case found[0] != nil:
		selected.Documents = found
	}
	return selected, nil
}

// Noted implements revisions.Store.
func (s *Store) Noted(ctx context.Context) ([]*revisions.Stored, error) {
	return collect(ctx, s, s.scanDocument, liveNoted, s.site)
}

// Positions implements revisions.Store.
func (s *Store) Positions(ctx context.Context) ([]revisions.Position, error) {
	return collect(ctx, s, pgx.RowToStructByPos[revisions.Position], livePositions, s.site)
}

// FallbackPolicy implements revisions.Store.
func (s *Store) FallbackPolicy(ctx context.Context, revision int64) (*revisions.Stored, error) {
	found, err := collect(ctx, s, s.scanDocument, fallbackPolicy, s.site, revision)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// Versions implements revisions.Store.
func (s *Store) Versions(ctx context.Context, ids []int64) ([]*revisions.Stored, error) {
	return collect(ctx, s, s.scanDocument, versionsByID, s.site, ids)
}

// OfKinds implements revisions.Store.
func (s *Store) OfKinds(ctx context.Context, schemas []string) ([]*revisions.Stored, error) {
	return collect(ctx, s, s.scanDocument, liveOfKinds, s.site, schemas)
}

// Registered implements revisions.Store.
func (s *Store) Registered(ctx context.Context, names []string) ([]*revisions.Stored, error) {
	return collect(ctx, s, s.scanDocument, liveRegistered, s.site, names)
}

// Claims implements revisions.Store.
func (s *Store) Claims(ctx context.Context, identities []document.Identity) ([]*revisions.Stored, error) {
	schemas := make([]string, len(identities))
	layers := make([]string, len(identities))
	names := make([]string, len(identities))
	for i, id := range identities {
		schemas[i], layers[i], names[i] = id.Schema, id.Layer, id.Name
	}
	return collect(ctx, s, s.scanDocument, liveClaims, s.site, schemas, layers, names)
}

// scanDocument reads a row of documentColumns and a body, which is null where the content was not asked for.
func (s *Store) scanDocument(row pgx.CollectableRow) (*revisions.Stored, error) {
	doc := &revisions.Stored{Document: &document.Document{}}
	var content, segment, notes, body []byte
	err := row.Scan(&doc.ID, &doc.Place, &doc.Revision, &doc.Bucket, &doc.Schema, &doc.Layer, &doc.Name, &content,
		&segment, &doc.Metadata, &notes, &body)
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	copy(doc.Digest[:], content)
	copy(doc.Segment[:], segment)
	if notes != nil {
		if err := json.Unmarshal(notes, &doc.Notes); err != nil {
			return nil, fmt.Errorf("read the notes of %s: %w", doc.Identity, err)
		}
	}
	if doc.Data, err = s.body.unpack(body); err != nil {
		return nil, fmt.Errorf("read %s: %w", doc.Identity, err)
	}
	return doc, nil
}

const contentsByDigest = `SELECT digest, body FROM contents WHERE site = $1 AND digest = ANY($2)`

// Contents implements revisions.Store.
func (s *Store) Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error) {
	texts := make(map[document.Digest][]byte, len(digests))
	if len(digests) == 0 {
		return texts, nil
	}
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (c content, err error) {
		var digest, body []byte
		if err := row.Scan(&digest, &body); err != nil {
			return c, fmt.Errorf("read a content: %w", err)
		}
		copy(c.digest[:], digest)
		c.text, err = s.body.unpack(body)
		return c, err
	}, contentsByDigest, s.site, byteas(digests))
	for _, c := range found {
		texts[c.digest] = c.text
	}
	return texts, err
}

// content is what documents say, and its digest.
type content struct {
	digest document.Digest
	text   []byte
}

// byteas makes a bytea array of digests.
func byteas[D ~[32]byte](digests []D) [][]byte {
	list := make([][]byte, len(digests))
	for i := range digests {
		list[i] = digests[i][:]
	}
	return list
}
