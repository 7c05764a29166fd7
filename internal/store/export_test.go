package store

import (
	"context"

	"purser/internal/queries"
	"purser/internal/validations"
)

// Setting returns a setting of the sessions of a store.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.site.Pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

// LiveVersions is the statement that each change reads the client versions with.
const LiveVersions = liveVersions

// FailuresOf is the statement that reads entries of a revision.
const FailuresOf = failuresOf

// LiveOfKinds is the statement that reads the documents of changed DataSchemas.
const LiveOfKinds = liveOfKinds

// BoundariesOf is the statement that reads a page of a document's history.
const BoundariesOf = allBoundaries

// SelectionOf returns the statement that reads the documents of a revision that a selection asks for, and its arguments.
func (s *Store) SelectionOf(revision int64, selection queries.Selection) (sql string, args []any) {
	q := s.ofRevision(revision, selection)
	return q.sql.String(), q.args
}

// RecentKinds is the statement that counts the documents of a recent revision by schema.
const RecentKinds = recentKinds

// AllKinds is Kinds by reading all documents.
func (s *Store) AllKinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	q := allKinds(s.site.Name, revision, cleartext)
	found, err := s.collectKinds(ctx, q.sql.String(), q.args...)
	return found.documents, found.registered, err
}

// RangesOf returns the ranges of schemas that filters are looked up by.
func RangesOf(filters ...string) (from, to []string) { return rangesOf(filters) }
