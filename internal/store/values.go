package store

import (
	"github.com/jackc/pgx/v5"

	"purser/internal/document"
)

// nullDigest is a digest that is NULL in the database if it is zero, like the types of pgtype/zeronull.
type nullDigest document.Digest //nolint:recvcheck // a destination is a pointer, a parameter a value

// ScanBytes implements pgtype.BytesScanner.
func (d *nullDigest) ScanBytes(value []byte) error {
	*d = nullDigest{}
	copy(d[:], value)
	return nil
}

// BytesValue implements pgtype.BytesValuer.
func (d nullDigest) BytesValue() ([]byte, error) {
	if document.Digest(d).IsZero() {
		return nil, nil
	}
	return d[:], nil
}

// column returns a value of each element of a list, as an array for unnest.
func column[T, V any](list []T, value func(T) V) []V {
	values := make([]V, len(list))
	for i, element := range list {
		values[i] = value(element)
	}
	return values
}

// digestArray returns digests as a parameter, an array of bytea.
func digestArray[D ~[32]byte](digests []D) []nullDigest {
	return column(digests, func(d D) nullDigest { return nullDigest(d) })
}

// orEmpty returns an empty list for nil, which would be NULL in the database.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
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
