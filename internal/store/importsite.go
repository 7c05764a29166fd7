package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/sitefile"
	"purser/internal/sites"
	"purser/internal/webhooks"
)

// Import says how a site is imported.
type Import struct {
	HasKey func(key uint32) bool // whether servers can open what the key has sealed
	// Audit is the entry of the audit of the default site, without its target; nil for none.
	Audit *revisions.AuditEvent
}

// siteImport is a transaction that imports a site.
type siteImport struct {
	*Database
	Import

	site string
	tx   pgx.Tx
	file *sitefile.Reader
}

// ImportSite adds a site with all rows of a file, in one transaction. The site does not exist, or is empty. Nobody else
// can change it until the end. Faults: Invalid for the file, Conflict, Gone, Unavailable.
func (d *Database) ImportSite(ctx context.Context, site string, r io.Reader, how Import) (
	moved []MovedTable, err error,
) {
	file, err := sitefile.NewReader(r)
	if err != nil {
		return nil, unusable("%w", err)
	}
	if err := d.checkManifest(file.Manifest, site, how.HasKey); err != nil {
		return nil, err
	}
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return nil, d.asFault(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	i := &siteImport{Database: d, Import: how, site: site, tx: tx, file: file}
	if moved, err = i.run(ctx); err != nil {
		return nil, d.asFault(err)
	}
	ctx = context.WithoutCancel(ctx) // or nobody would know whether it was committed
	if err := uncancelled(tx.Conn(), func() error { return tx.Commit(ctx) }); err != nil {
		return nil, d.asFault(err)
	}
	for _, table := range moved {
		if table.Name == "documents" {
			_, _ = d.analyze(ctx, table.Rows) // autovacuum does it later
		}
	}
	return moved, nil
}

// unusable is the fault of a file that cannot be imported.
func unusable(format string, args ...any) *fault.Fault {
	return fault.New(fault.Invalid, "SiteFile", "the file cannot be imported: %w", fmt.Errorf(format, args...))
}

// checkManifest checks that the file is for this database.
func (d *Database) checkManifest(m sitefile.Manifest, site string, hasKey func(uint32) bool) error {
	switch {
	case m.Site != site || !sites.IsName(site):
		return unusable("it is of the site %q, not of %q; a site keeps its name", m.Site, site)
	case m.Schema != d.version:
		return unusable("it was written from a database with version %d of the schema, this program knows version %d: use "+
			"the same version of purser-server for both databases, which is %s in the file, or upgrade one of them and "+
			"export again", m.Schema, d.version, m.By)
	case len(m.Tables) != len(movedTables()):
		return unusable("it has %d tables, %d were expected", len(m.Tables), len(movedTables()))
	}
	for i, table := range movedTables() {
		switch of := m.Tables[i]; {
		case of.Name != table.name:
			return unusable("it has the table %q where %s was expected", of.Name, table.name)
		case !slices.Equal(of.Columns, table.columns):
			return unusable("its table %s has the columns %q, not %q", of.Name, of.Columns, table.columns)
		case of.Rows < 0 || of.Newest < 0 || oneRow(table.name) && of.Rows != 1:
			return unusable("its table %s has %d rows, up to %d", of.Name, of.Rows, of.Newest)
		}
	}
	return lackOf(m.Keys, hasKey)
}

// oneRow reports whether a table has one row for each site.
func oneRow(table string) bool { return table == "sites" || table == "feeds" }

// lackOf returns a fault that names the missing ones among keys.
func lackOf(keys []uint32, has func(uint32) bool) error {
	var missing []string
	for _, key := range keys {
		if !has(key) {
			missing = append(missing, strconv.FormatUint(uint64(key), 10))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "KeysMissing", "secrets of the site are sealed with keys that this keyset does not "+
		"have: %s; name the keyset of the source with --secrets-keyset, and give it to the servers of this database: a "+
		"keyset cannot be added to another one", strings.Join(missing, ", "))
}

// run does the work of the transaction.
func (i *siteImport) run(ctx context.Context) (moved []MovedTable, err error) {
	if _, err := i.tx.Exec(ctx, unhurried); err != nil {
		return nil, err
	}
	if err := i.isVersion(ctx, i.tx); err != nil {
		return nil, err
	}
	if err := i.claim(ctx); err != nil {
		return nil, err
	}
	for n, table := range movedTables() {
		if table.numbered {
			if err := i.advance(ctx, table.name, i.file.Manifest.Tables[n].Newest); err != nil {
				return nil, err
			}
		}
	}
	for n, table := range movedTables() {
		one, err := i.copyIn(ctx, table, i.file.Manifest.Tables[n])
		if err != nil {
			return nil, err
		}
		moved = append(moved, one)
	}
	if err := i.file.Close(); err != nil {
		return nil, unusable("%w", err)
	}
	return moved, i.finish(ctx)
}

// claim locks the row of the site, which it adds if there is none. From then on nobody else changes or imports the
// site. Faults: Conflict if the site is not empty, Gone.
func (i *siteImport) claim(ctx context.Context) error {
	args := newSite(i.site, sites.Settings{Labels: map[string]string{}})
	added, err := i.tx.Exec(ctx, stmt.InsertSite, args)
	if err != nil {
		return fmt.Errorf("add the site: %w", err)
	}
	if added.RowsAffected() > 0 {
		if _, err := i.tx.Exec(ctx, stmt.InsertFeed, named{"site": i.site}); err != nil {
			return fmt.Errorf("add the feed of the site: %w", err)
		}
		return countSites(ctx, i.tx, sites.MaxSites) // finish does it once more
	}
	found, err := collectIn(ctx, i.tx, scanSettings, stmt.LockSettings, named{"site": i.site})
	if err != nil {
		return fmt.Errorf("look for the site: %w", err)
	}
	if _, err := existing(i.site, found); err != nil {
		return err
	}
	return i.isEmpty(ctx)
}

// isEmpty returns a fault if the site has or had anything but entries of the audit, as of requests that were refused.
func (i *siteImport) isEmpty(ctx context.Context) error {
	var head revisions.Head
	if err := i.tx.QueryRow(ctx, stmt.ReadHead, named{"site": i.site}).Scan(headFields(&head)...); err != nil {
		return fmt.Errorf("look for the site: %w", err)
	}
	way := "import it into another database"
	if i.site != sites.Default { // which cannot be deleted
		way += ", or archive and delete this site first"
	}
	const first = 1 // epoch
	if head.Revision > 0 || head.LastDocument > 0 || head.Epoch > first {
		return fault.New(fault.Conflict, "SiteNotEmpty", "the site %s is not empty: it has or had revisions; %s", i.site, way)
	}
	for _, table := range movedTables() {
		if oneRow(table.name) || table.name == "audit" {
			continue
		}
		of := table.rows(i.site)
		if table.name == "river_job" { // the finished ones too: they are listed by the id of the webhook
			of = strings.Replace(of, "finalized_at IS NULL AND ", "", 1)
		}
		var found bool
		if err := i.tx.QueryRow(ctx, "SELECT EXISTS (SELECT "+of+")").Scan(&found); err != nil {
			return fmt.Errorf("look for rows in %s: %w", table.name, err)
		}
		if found {
			return fault.New(fault.Conflict, "SiteNotEmpty", "the site %s is not empty: it has rows in %s; %s", i.site,
				table.name, way)
		}
	}
	return nil
}

// advance has the next ids of a table be above those of the file.
func (i *siteImport) advance(ctx context.Context, table string, newest int64) error {
	if _, err := i.tx.Exec(ctx, stmt.AdvanceIDs, named{"table": table, "newest": newest}); err != nil {
		return fmt.Errorf("advance the ids of %s: %w", table, err)
	}
	if table != "audit" {
		return nil
	}
	if _, err := i.tx.Exec(ctx, stmt.RenumberAudit, named{"site": i.site}); err != nil {
		return fmt.Errorf("renumber the audit: %w", err)
	}
	return nil
}

// staged reports whether the rows of a table are copied to a temporary one first: they change rows that are there, or
// get other ids.
func (t movedTable) staged() bool { return oneRow(t.name) || t.name == "river_job" }

// stage returns the statement that makes the temporary table.
func (t movedTable) stage() string {
	return "CREATE TEMPORARY TABLE moved_" + t.name + " ON COMMIT DROP AS SELECT ''::text AS site, " + list(t.columns) +
		" FROM " + t.name + " WITH NO DATA"
}

// copyIn copies the rows of a table. The file does not have their site.
func (i *siteImport) copyIn(ctx context.Context, table movedTable, want sitefile.Table) (moved MovedTable, err error) {
	name := table.name
	if table.staged() {
		name = "moved_" + name
		if _, err := i.tx.Exec(ctx, table.stage()); err != nil {
			return moved, fmt.Errorf("make a temporary table: %w", err)
		}
	}
	lines := sitefile.NewLines(i.file.Table(table.name), i.site)
	sql := "COPY " + name + " (site, " + list(table.columns) + ") FROM STDIN"
	tag, err := i.tx.Conn().PgConn().CopyFrom(ctx, lines, sql)
	bad, isBad := errors.AsType[*pgconn.PgError](err)
	switch {
	case ctx.Err() != nil:
		return moved, fmt.Errorf("copy %s: %w", table.name, context.Cause(ctx))
	case lines.Err() != nil:
		return moved, unusable("%w", lines.Err())
	case isBad && (strings.HasPrefix(bad.Code, "22") || strings.HasPrefix(bad.Code, "23")): // data, constraints
		return moved, unusable("its table %s has rows that do not fit: %v", table.name, err)
	case err != nil:
		return moved, fmt.Errorf("copy %s: %w", table.name, err)
	case lines.Count != want.Rows || tag.RowsAffected() != want.Rows:
		return moved, unusable("its table %s has %d rows, %d were expected", table.name, tag.RowsAffected(), want.Rows)
	}
	return MovedTable{table.name, want.Rows, lines.Bytes}, i.checkNewest(ctx, table, want)
}

// checkNewest checks that no id is above that for which the others were advanced.
func (i *siteImport) checkNewest(ctx context.Context, table movedTable, want sitefile.Table) error {
	if !table.numbered || table.name == "audit" { // whose entries of this database are later
		return nil
	}
	var newest int64
	if err := i.tx.QueryRow(ctx, "SELECT coalesce(max(id), 0) "+table.rows(i.site)).Scan(&newest); err != nil {
		return fmt.Errorf("look for the newest row of %s: %w", table.name, err)
	}
	if newest > want.Newest {
		return unusable("its table %s has ids up to %d, %d was expected", table.name, newest, want.Newest)
	}
	return nil
}

// finish has the counters of the site and its feed be those of the file, adds the deliveries, looks at the keys once
// more, and counts the sites.
//
// Servers may know a site of this name that was deleted since the export, from their caches. They must not take what
// comes now for that: texts are counted from a number at which nothing was cached. The time of the feed is that of the
// last statement, by which servers find it to have moved.
func (i *siteImport) finish(ctx context.Context) error {
	keys, err := sealedWith(ctx, i.tx, i.site)
	if err != nil {
		return err
	}
	if err := lackOf(keys, i.HasKey); err != nil {
		return err
	}
	if err := checkSites(ctx, i.tx, sites.MaxSites); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue("INSERT INTO river_job (args, attempt, created_at, kind, max_attempts, metadata, queue, scheduled_at, "+
		"state) SELECT args || jsonb_build_object('site', site), attempt, created_at, $1::text, $2::smallint, metadata, '"+
		river.QueueDefault+"', scheduled_at, 'retryable'::river_job_state FROM moved_river_job",
		deliveryKind, webhooks.MaxAttempts)
	if i.Audit != nil {
		batch.Queue(stmt.InsertAudit, auditEntry(sites.Default, i.entry()))
	}
	batch.Queue(i.update("sites", map[string]string{"texts": "texts + (random() * 1e12)::bigint"}))
	batch.Queue(i.update("feeds", map[string]string{"at": "clock_timestamp()"}))
	return i.tx.SendBatch(ctx, batch).Close()
}

// update returns the statement that gives the one row of a table the values of the file, or others.
func (i *siteImport) update(table string, others map[string]string) string {
	columns, _ := columnsOf(table)
	values := slices.Clone(columns)
	for n, column := range columns {
		if values[n] = list([]string{column}); others[column] != "" {
			values[n] = others[column]
		}
	}
	return "UPDATE " + table + " SET (" + list(columns) + ") = (SELECT " + strings.Join(values, ", ") + " FROM moved_" +
		table + ") WHERE site = '" + i.site + "'"
}

// entry returns the entry of the audit. Its target has a fragment, which no request has.
func (i *siteImport) entry() revisions.AuditEvent {
	event := *i.Audit
	said := url.Values{"imported": {i.file.Manifest.At.Format(time.RFC3339)}}
	for _, table := range i.file.Manifest.Tables {
		if table.Name == "revisions" || table.Name == "documents" {
			said.Set(table.Name, strconv.FormatInt(table.Rows, 10))
		}
	}
	event.Target = "/sites/" + i.site + "#" + said.Encode()
	return event
}
