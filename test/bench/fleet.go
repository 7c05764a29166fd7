package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// model and failingModel are sites whose rows are copied to other sites.
const model, failingModel = "model", "failing-model"

// below returns the path of a route of a site.
func below(site, path string) string { return "/sites/" + site + path }

// putIn puts a body into a bucket of a site.
func (c client) putIn(site, bucket string, body []byte) {
	c.send(http.MethodPut, below(site, documentsOf(bucket)), body, io.Discard)
}

// makeSite makes a site.
func (c client) makeSite(name string) {
	c.send(http.MethodPut, "/sites/"+name, []byte("{}"), io.Discard)
}

// makeModel makes a site of a number of documents, among them a DataSchema and a LayeringPolicy. If it fails, one of
// them is not what the DataSchema demands.
func (s *server) makeModel(name string, documents int, fails bool) {
	const others = 2
	site := newSite(small(), documents-others)
	if fails {
		site.documents[0] = strings.Replace(site.documents[0], "scheme: ", "scheme: no-", 1)
	}
	s.makeSite(name)
	s.putIn(name, "schemas", []byte(small().schema+layerOrder))
	s.putIn(name, "site", site.body())
}

// copied returns the name of copy i of a model.
func copied(i int) string { return fmt.Sprintf("site-%06d", i) }

// copySite adds sites from, from+1 … to-1, whose rows are those of a model, faster than requests could. Entries of the
// audit and the numbers of identity columns are the same, because every key begins with the site.
func (s *server) copySite(of string, from, to int) {
	const columns = `SELECT table_name::text, array_agg(quote_ident(column_name) ORDER BY ordinal_position)
		FROM information_schema.columns c WHERE table_schema = 'public' AND EXISTS (
			SELECT FROM information_schema.columns k
			WHERE k.table_schema = 'public' AND k.table_name = c.table_name AND k.column_name = 'site')
		GROUP BY table_name ORDER BY table_name = 'sites' DESC, table_name`
	rows, err := s.db.Query(s.ctx, columns)
	must("list the tables", err)
	type table struct {
		Name    string
		Columns []string
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	must("list the tables", err)
	for _, t := range tables {
		values := make([]string, len(t.Columns))
		for i, column := range t.Columns {
			switch column {
			case "site":
				column = "'site-' || lpad(i::text, 6, '0')"
			case "stamp": // it identifies a state
				column = "stamp + i + 1"
			}
			values[i] = column
		}
		s.unlogged(fmt.Sprintf(`INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE
			SELECT %s FROM generate_series($2::bigint, $3::bigint - 1) i CROSS JOIN %[1]s WHERE site = $1`,
			t.Name, strings.Join(t.Columns, ", "), strings.Join(values, ", ")), of, from, to)
	}
}

// unlogged executes a statement without checks of foreign keys, and without waiting for the disk.
func (s *server) unlogged(statement string, args ...any) {
	must("execute "+statement, pgx.BeginFunc(s.ctx, s.db, func(tx pgx.Tx) error {
		const quick = "SELECT set_config('synchronous_commit', 'off', true), " +
			"set_config('session_replication_role', 'replica', true)"
		if _, err := tx.Exec(s.ctx, quick); err != nil {
			return err //nolint:wrapcheck // must names it
		}
		_, err := tx.Exec(s.ctx, statement, args...)
		return err //nolint:wrapcheck // must names it
	}))
}

// fillFleet makes a number of sites of a number of documents each; one in fifty fails.
func (s *server) fillFleet(sites, documents int) {
	const oneFails = 50
	s.makeModel(model, documents, false)
	s.makeModel(failingModel, documents, true)
	s.settleFeeds()
	failing := max(1, sites/oneFails)
	s.copySite(failingModel, 0, failing)
	s.copySite(model, failing, sites)
	s.vacuum()
	s.exec("CHECKPOINT")
}

// settleFeeds waits until all events are numbered, which happens within a second of a change.
func (s *server) settleFeeds() {
	for s.number("SELECT count(*) FROM outbox") > 0 {
		time.Sleep(50 * time.Millisecond)
	}
}

// leftOf returns the number of rows of a site, in all tables.
func (s *server) leftOf(ctx context.Context, site string) (left int64) {
	const tables = `SELECT table_name::text FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'site'`
	rows, err := s.db.Query(ctx, tables)
	must("list the tables", err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must("list the tables", err)
	for _, name := range names {
		var n int64
		must("count", s.db.QueryRow(ctx, "SELECT count(*) FROM "+name+" WHERE site = $1", site).Scan(&n))
		left += n
	}
	return left
}
