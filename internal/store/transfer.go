package store

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/fault"
	"purser/internal/secrets"
	"purser/internal/sitefile"
	"purser/internal/sites"
	"purser/migrations"
)

// movedTable is a table as it is in the file of a site.
type movedTable struct {
	name, key string   // the key is besides the site; empty for tables with a row for each site
	columns   []string // but the site
	numbered  bool     // its ids are of a sequence
}

// Columns of tables that are not as in the schema. A site that is being deleted is not moved. Of the deliveries there
// are the pending ones, which get new ids.
var (
	unmovedColumns  = []string{"sites.site", "sites.deleted", "sites.deleted_audit"}
	deliveryColumns = []string{"args", "attempt", "created_at", "metadata", "scheduled_at"}
)

// movedTables returns the tables in the order of the file, in which rows come after those that they refer to.
var movedTables = sync.OnceValue(func() []movedTable {
	tables := []movedTable{{name: "sites"}}
	for _, table := range slices.Backward(siteTables) {
		tables = append(tables, movedTable{name: table.name, key: table.key})
	}
	for i, table := range tables {
		tables[i].columns, tables[i].numbered = columnsOf(table.name)
	}
	return tables
})

var columnLine = regexp.MustCompile(`(?m)^column (\w+)\.(\w+): (.*)$`)

// columnsOf returns the columns of a table that are moved, which are those of the schema.
func columnsOf(table string) (columns []string, numbered bool) {
	if table == "river_job" {
		return deliveryColumns, false
	}
	schema, err := migrations.FS.ReadFile(migrations.SchemaFile(migrations.Newest()))
	if err != nil {
		panic(err) // it is a part of the program
	}
	for _, line := range columnLine.FindAllStringSubmatch(string(schema), -1) {
		of, column := line[1], line[2]
		if of != table || column == "site" || slices.Contains(unmovedColumns, of+"."+column) {
			continue
		}
		columns = append(columns, column)
		numbered = numbered || strings.HasSuffix(line[3], " generated always")
	}
	return columns, numbered
}

// list returns columns for a statement.
func list(columns []string) string {
	quoted := make([]string, len(columns))
	for i, column := range columns {
		quoted[i] = pgx.Identifier{column}.Sanitize()
	}
	return strings.Join(quoted, ", ")
}

// rows returns the part of a statement that selects from the rows of a site. The site is in the text, because COPY
// takes no arguments: names of sites have no quotes.
func (t movedTable) rows(site string) string {
	if t.name == "river_job" {
		return "FROM river_job WHERE kind = '" + deliveryKind + "' AND finalized_at IS NULL AND coalesce(args->>'site', '" +
			sites.Default + "') = '" + site + "'"
	}
	return "FROM " + t.name + " WHERE site = '" + site + "'"
}

// copyOut returns the statement that copies the rows of a site out, in the order of their keys. Attempts that are being
// made, or were when a server was killed, are made again.
func (t movedTable) copyOut(site string) string {
	columns := list(t.columns)
	if t.name == "river_job" {
		columns = "args - 'site', least(attempt, max_attempts - 1), created_at, metadata, scheduled_at"
	}
	sql := "COPY (SELECT " + columns + " " + t.rows(site)
	if t.key != "" {
		sql += " ORDER BY " + t.key
	}
	return sql + ") TO STDOUT"
}

// MovedTable says what was moved of a table.
type MovedTable struct {
	Name        string
	Rows, Bytes int64
}

// Exported says what was exported.
type Exported struct {
	Archived bool // the site takes no changes
	Tables   []MovedTable
}

// unhurried are the settings of a transaction whose pace is that of a file. It still does not wait long for locks.
const unhurried = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; " +
	"SET LOCAL client_encoding = 'UTF8'; SET LOCAL extra_float_digits = 1"

// ExportSite writes the file of a site, of one snapshot. by names the program. Faults: NotFound, Gone, Unavailable.
func (d *Database) ExportSite(ctx context.Context, site string, w io.Writer, by string) (out Exported, err error) {
	if !sites.IsName(site) {
		return out, sites.Unknown(site, "")
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, d.pool, options, func(tx pgx.Tx) error {
		manifest, archived, err := d.manifest(ctx, tx, site)
		if err != nil {
			return err
		}
		manifest.By, out.Archived = by, archived
		file, err := sitefile.NewWriter(w, manifest)
		if err != nil {
			return err
		}
		for _, table := range movedTables() {
			counted := &counter{w: file}
			if err := file.Begin(table.name); err != nil {
				return err
			}
			tag, err := tx.Conn().PgConn().CopyTo(ctx, counted, table.copyOut(site))
			if err != nil {
				return fmt.Errorf("copy %s: %w", table.name, err)
			}
			out.Tables = append(out.Tables, MovedTable{table.name, tag.RowsAffected(), counted.bytes})
		}
		return file.Close()
	})
	return out, d.asFault(err)
}

// counter counts bytes that are written.
type counter struct {
	w     io.Writer
	bytes int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.bytes += int64(n)
	return n, err
}

// manifest returns the manifest of a site but the program's version, and whether the site is archived.
func (d *Database) manifest(ctx context.Context, tx pgx.Tx, site string) (
	m sitefile.Manifest, archived bool, err error,
) {
	if _, err := tx.Exec(ctx, unhurried); err != nil {
		return m, false, err
	}
	if err := d.isVersion(ctx, tx); err != nil {
		return m, false, err
	}
	found, err := collectIn(ctx, tx, scanSettings, stmt.SettingsOf, named{"site": site})
	if err != nil {
		return m, false, err
	}
	settings, err := existing(site, found)
	if err != nil {
		return m, false, err
	}
	m = sitefile.Manifest{Format: sitefile.Format, Site: site, Schema: d.version, At: time.Now().UTC()}
	if m.Keys, err = sealedWith(ctx, tx, site); err != nil {
		return m, false, err
	}
	for _, table := range movedTables() {
		counted, newest := sitefile.Table{Name: table.name, Columns: table.columns}, "0::bigint"
		if table.numbered {
			newest = "coalesce(max(id), 0)"
		}
		sql := "SELECT count(*), " + newest + " " + table.rows(site)
		if err := tx.QueryRow(ctx, sql).Scan(&counted.Rows, &counted.Newest); err != nil {
			return m, false, fmt.Errorf("count %s: %w", table.name, err)
		}
		m.Tables = append(m.Tables, counted)
	}
	return m, settings.Archived, nil
}

// isVersion returns a fault unless the database has the version of the schema that this program knows.
func (d *Database) isVersion(ctx context.Context, tx pgx.Tx) error {
	var version int
	err := tx.QueryRow(ctx, stmt.SchemaVersion, named{}).Scan(&version)
	switch {
	case HasCode(err, undefinedTable) || err == nil && version < d.version:
		return fault.New(fault.Unavailable, "DatabaseTooOld", "the database has version %d of the schema, this program "+
			"needs %d: run `purser-server migrate` first", version, d.version)
	case err != nil:
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	return d.checkVersion(version)
}

// sealedWith returns the ids of the keys that the secrets of a site are sealed with, in their order.
func sealedWith(ctx context.Context, tx pgx.Tx, site string) (keys []uint32, err error) {
	prefixes, err := collectIn(ctx, tx, pgx.RowTo[[]byte], stmt.SealedWith, named{"site": site})
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	keys = []uint32{}
	for _, prefix := range prefixes {
		if key, ok := secrets.KeyOf(prefix); ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
