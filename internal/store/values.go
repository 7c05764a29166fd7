package store

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"purser/internal/document"
)

// intoDigest returns a field of a row for a digest; NULL is the zero digest.
func intoDigest(to *document.Digest) pgtype.BytesScanner { return digestField{to} }

type digestField struct{ to *document.Digest }

// ScanBytes implements pgtype.BytesScanner.
func (f digestField) ScanBytes(text []byte) error {
	*f.to = document.Digest{}
	copy(f.to[:], text)
	return nil
}

// orNull returns a digest as a parameter; the zero digest is NULL.
func orNull(digest document.Digest) []byte {
	if digest.IsZero() {
		return nil
	}
	return digest[:]
}

// digestArray returns digests as a parameter, an array of bytea.
func digestArray[D ~[32]byte](digests []D) [][]byte {
	list := make([][]byte, len(digests))
	for i := range digests {
		list[i] = digests[i][:]
	}
	return list
}

// jsonText returns JSON text as a parameter; nil is NULL.
func jsonText(json []byte) *string {
	if json == nil {
		return nil
	}
	return new(string(json))
}

// utc returns a time of a row in utc; NULL is the zero time.
func utc(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// prefixed returns a row whose first columns are scanned into destinations of their own.
func prefixed(row pgx.CollectableRow, first ...any) pgx.CollectableRow {
	return prefixedRow{row, first}
}

type prefixedRow struct {
	pgx.CollectableRow

	first []any
}

// Scan implements pgx.CollectableRow.
func (p prefixedRow) Scan(dest ...any) error {
	return p.CollectableRow.Scan(append(p.first, dest...)...)
}
