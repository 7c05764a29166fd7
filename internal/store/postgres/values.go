package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"purser/internal/document"
)

// IntoDigest returns a field of a row for a digest; NULL is the zero digest.
func IntoDigest(to *document.Digest) pgtype.BytesScanner { return digestField{to} }

type digestField struct{ to *document.Digest }

// ScanBytes implements pgtype.BytesScanner.
func (f digestField) ScanBytes(text []byte) error {
	*f.to = document.Digest{}
	copy(f.to[:], text)
	return nil
}

// OrNull returns a digest as a parameter; the zero digest is NULL.
func OrNull(digest document.Digest) []byte {
	if digest.IsZero() {
		return nil
	}
	return digest[:]
}

// Digests returns digests as a parameter, an array of bytea.
func Digests[D ~[32]byte](digests []D) [][]byte {
	list := make([][]byte, len(digests))
	for i := range digests {
		list[i] = digests[i][:]
	}
	return list
}

// Text returns JSON text as a parameter; nil is NULL.
func Text(json []byte) *string {
	if json == nil {
		return nil
	}
	return new(string(json))
}

// UTC returns a time of a row in UTC; NULL is the zero time.
func UTC(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// Prefixed returns a row whose first columns are scanned into destinations of their own.
func Prefixed(row pgx.CollectableRow, first ...any) pgx.CollectableRow { return prefixed{row, first} }

type prefixed struct {
	pgx.CollectableRow

	first []any
}

// Scan implements pgx.CollectableRow.
func (p prefixed) Scan(dest ...any) error {
	return p.CollectableRow.Scan(append(p.first, dest...)...) //nolint:wrapcheck // wrapped by the caller
}
