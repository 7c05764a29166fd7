package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// version is a row of a document.
type version struct {
	id, place, since            int64
	bucket, schema, layer, name string
	content, segment, notes     []byte
	metadata, body              []byte
}

// Queries by key, with the columns that the server reads. For comparisons, it does not read contents.
const (
	versionColumns = `d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata,
		d.notes`

	versionByKey = `SELECT ` + versionColumns + `, c.body FROM documents d
		JOIN contents c ON c.site = d.site AND c.digest = d.content WHERE d.site = $1 AND d.id = $2`

	versionsByKeys = `SELECT ` + versionColumns + `, NULL::bytea FROM documents d WHERE d.site = $1 AND d.id = ANY($2)`

	liveOfBucket = `SELECT ` + versionColumns + `, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.bucket = $2 AND d.until IS NULL ORDER BY d.place`
)

// selected reads rows through the bench's own connections.
func (w *wide) selected(ctx context.Context, sql string, key any) (found []version, err error) {
	rows, err := w.db.Query(ctx, sql, "default", key)
	if err != nil {
		return nil, fmt.Errorf("select: %w", err)
	}
	var v version
	_, err = pgx.ForEachRow(rows, []any{
		&v.id, &v.place, &v.since, &v.bucket, &v.schema, &v.layer, &v.name, &v.content, &v.segment, &v.metadata, &v.notes,
		&v.body,
	}, func() error {
		found = append(found, v)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("select: %w", err)
	}
	return found, nil
}

// keyed reads live documents of a wide site, each in turn.
type keyed struct {
	*wide

	documents []version
	next      int
}

func (w *wide) keyed(ctx context.Context, bucket string) (*keyed, error) {
	found, err := w.selected(ctx, liveOfBucket, bucket)
	return &keyed{wide: w, documents: found}, err
}

func (k *keyed) another() version {
	k.next++
	return k.documents[k.next%len(k.documents)]
}

// byKey reads a document's newest version.
func (k *keyed) byKey(ctx context.Context) func() error {
	return func() error {
		found, err := k.selected(ctx, versionByKey, k.another().id)
		return single(len(found), err)
	}
}

func single(found int, err error) error {
	if err == nil && found != 1 {
		err = fmt.Errorf("%w: %d documents", errOther, found)
	}
	return err
}
