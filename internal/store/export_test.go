package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/validations"
)

// Setting returns a setting of the sessions of a store.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

// Statements are the texts of all statements.
var Statements = stmt

// SelectSites is the beginning of the statement that lists sites.
const SelectSites = selectSites

// Prepare returns the SQL that prepares a statement under its name.
func Prepare(name, text string) string { return "PREPARE " + name + " AS " + stmt.positional[text].sql }

// Execute returns the SQL that executes a prepared statement with arguments, which are written in SQL.
func Execute(name, text string, args map[string]string) string {
	var values []string
	for _, argument := range stmt.positional[text].arguments {
		values = append(values, args[argument])
	}
	return "EXECUTE " + name + "(" + strings.Join(values, ", ") + ")"
}

// Positional returns a statement with numbers for arguments.
func Positional(text string) string { return stmt.positional[text].sql }

// InOrder returns the arguments of a statement in the order of their numbers.
func InOrder(text string, args map[string]any) (values []any) {
	for _, argument := range stmt.positional[text].arguments {
		values = append(values, args[argument])
	}
	return values
}

// SelectionOf returns the statement that reads the documents of a revision that a selection asks for, and its arguments.
func (s *Store) SelectionOf(revision int64, selection queries.Selection) (sql string, args []any) {
	q := s.ofRevision(revision, selection)
	return q.sql.String(), q.args
}

// ListedOf returns the statement for the numbers of the revisions that a query asks for, and its arguments.
func (s *Store) ListedOf(query queries.Query) (sql string, args []any) {
	q := listed(s.site, query)
	return q.sql.String(), q.args
}

// AllKinds is Kinds by reading all documents.
func (s *Store) AllKinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	q := allKinds(s.site, revision, cleartext)
	found, err := s.collectKinds(ctx, q.sql.String(), q.args...)
	return found.documents, found.registered, err
}

// RangesOf returns the ranges of schemas that filters are looked up by.
func RangesOf(filters ...string) (from, to []string) { return rangesOf(filters) }

// AddResults adds results in one group, as AddResult does with concurrent ones. It returns the stamps of their
// revisions, and their errors.
func (s *Store) AddResults(ctx context.Context, about []revisions.About, results []validations.Result) (
	stamps []revisions.Stamp, errs []error, err error,
) {
	posts := make([]post, len(results))
	for i, result := range results {
		posts[i] = postOf(about[i], result)
	}
	done, err := s.addResults(ctx, posts)
	for _, one := range done {
		stamps, errs = append(stamps, one.stamp), append(errs, one.rejected)
	}
	return stamps, errs, err
}

// MaxLocked is how many rows a step of a prune may delete while it holds the site's counters.
const MaxLocked = maxLocked

// AfterStep has f called after each transaction of a prune, with the number of rows that it deleted while it held the
// site's counters. An error ends the prune, as if the server were killed.
func (s *Store) AfterStep(f func(locked int) error) { s.stepped = f }

// SplitSuccesses returns the bits of successes of a new revision, and the other results.
func SplitSuccesses(results []validations.Result) (bits int16, others []validations.Result) {
	return splitSuccesses(results)
}

// DeliveryKind is the kind of the jobs of River that are deliveries.
const DeliveryKind = deliveryKind

// Arguments returns the names of a statement's arguments.
func Arguments(text string) []string { return stmt.positional[text].arguments }

// OnNotice has f called with the notices of the sessions of all stores that are opened after it.
func OnNotice(f func(message string)) {
	onNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) { f(notice.Message) }
}

// Run runs a statement and returns the number of its rows.
func (s *Store) Run(ctx context.Context, text string, args map[string]any) (rows int64, err error) {
	tag, err := s.pool.Exec(ctx, text, named(args))
	return tag.RowsAffected(), err
}

// WithoutGrace has the deletion of a site end as soon as no transaction is as old as its mark.
func (s *Store) WithoutGrace() { s.grace = 0 }

// SiteTables are the tables that are emptied when a site is deleted.
func SiteTables() (names []string) {
	for _, table := range siteTables {
		names = append(names, table.name)
	}
	return names
}

// SitesOf returns the statement that selects sites, and its arguments.
func SitesOf(q sites.Query) (sql string, args []any, err error) { return sitesOf(q) }

// MovedColumns are the columns of the file of a site, by table.
func MovedColumns() map[string][]string {
	columns := map[string][]string{}
	for _, table := range movedTables() {
		columns[table.name] = table.columns
	}
	return columns
}
