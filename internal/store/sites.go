package store

import (
	"context"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/sites"
)

var _ sites.Store = (*Database)(nil)

// Settings implements sites.Store.
func (d *Database) Settings(ctx context.Context, name string) (settings sites.Settings, err error) {
	var found []lockedSettings
	_, err = d.query(ctx, into(&found, scanSettings), stmt.SettingsOf, named{"site": name})
	if err == nil {
		settings, err = existing(name, found)
	}
	return settings, err
}

// lockedSettings are settings of a site that may be being deleted.
type lockedSettings struct {
	sites.Settings

	deleted bool
}

func scanSettings(row pgx.CollectableRow) (s lockedSettings, err error) {
	err = row.Scan(&s.Labels, &s.Limits.Documents, &s.Limits.Changes, &s.Limits.Keep, &s.Archived, &s.deleted)
	return s, err
}

// existing returns the settings that were found of a site. Faults: NotFound, Gone.
func existing(name string, found []lockedSettings) (sites.Settings, error) {
	switch {
	case len(found) == 0:
		return sites.Settings{}, sites.Unknown(name, "")
	case found[0].deleted:
		return sites.Settings{}, sites.Deleted(name)
	}
	return found[0].Settings, nil
}

// FindSite implements sites.Store.
func (d *Database) FindSite(ctx context.Context, name string) (sites.Site, error) {
	var found []sites.Site
	gone := false
	_, err := d.query(ctx, into(&found, func(row pgx.CollectableRow) (sites.Site, error) {
		return scanSite(row, &gone)
	}), stmt.FindSite, named{"site": name})
	switch {
	case err != nil:
		return sites.Site{}, err
	case len(found) == 0:
		return sites.Site{}, sites.Unknown(name, "")
	case gone:
		return sites.Site{}, sites.Deleted(name)
	}
	return found[0], nil
}

// scanSite scans a site; further columns are scanned into destinations.
func scanSite(row pgx.CollectableRow, further ...any) (s sites.Site, err error) {
	err = row.Scan(append([]any{
		&s.Name, &s.Labels, &s.Limits.Documents, &s.Limits.Changes, &s.Limits.Keep, &s.Archived, &s.Revision, &s.Stamp,
		&s.Status, &s.Documents, &s.CreatedAt, &s.ChangedAt, &s.Upstreams,
	}, further...)...)
	if s.Revision == 0 {
		s.Stamp = 0 // that of the empty site, which is not a revision
	}
	return s, err
}

// SetSite implements sites.Store.
func (d *Database) SetSite(ctx context.Context, name string, settings sites.Settings, condition sites.Condition,
	most int, audit sites.Audit,
) (outcome sites.Outcome, err error) {
	err = d.withTx(ctx, d.deadlines.Write, func(ctx context.Context, tx pgx.Tx) (err error) {
		if outcome, err = d.setSite(ctx, tx, name, settings, condition); err != nil || outcome == sites.Unchanged {
			return err
		}
		batch := &pgx.Batch{}
		if outcome == sites.Made {
			if err := checkSites(ctx, tx, most); err != nil {
				return err
			}
			batch.Queue(stmt.InsertFeed, named{"site": name})
		}
		if event := audit(outcome); event != nil {
			batch.Queue(stmt.InsertAudit, auditEntry(sites.Default, *event))
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return 0, err
	}
	return outcome, nil
}

// setSite changes the row of a site, or adds one.
func (d *Database) setSite(ctx context.Context, tx pgx.Tx, name string, settings sites.Settings,
	condition sites.Condition,
) (sites.Outcome, error) {
	if settings.Labels == nil {
		settings.Labels = map[string]string{}
	}
	for { // another request may make the site after the first look
		found, err := collectIn(ctx, tx, scanSettings, stmt.LockSettings, named{"site": name})
		if err != nil {
			return 0, fmt.Errorf("look for the site: %w", err)
		}
		if len(found) > 0 {
			return d.changeSite(ctx, tx, name, found, settings, condition)
		}
		if err := condition.Check(name, nil); err != nil {
			return 0, err
		}
		added, err := tx.Exec(ctx, stmt.InsertSite, newSite(name, settings))
		if err != nil {
			return 0, fmt.Errorf("add the site: %w", err)
		}
		if added.RowsAffected() > 0 {
			return sites.Made, nil
		}
	}
}

// checkSites returns the fault TooMany if there are more than most sites with the one that was made. Nobody else makes
// one until the end of the transaction.
func checkSites(ctx context.Context, tx pgx.Tx, most int) error {
	if _, err := tx.Exec(ctx, stmt.LockMaking); err != nil {
		return fmt.Errorf("lock the making of sites: %w", err)
	}
	return countSites(ctx, tx, most)
}

// countSites is checkSites while others may make sites.
func countSites(ctx context.Context, tx pgx.Tx, most int) error {
	var tooMany bool
	if err := tx.QueryRow(ctx, stmt.TooManySites, named{"most": most}).Scan(&tooMany); err != nil {
		return fmt.Errorf("count the sites: %w", err)
	}
	if tooMany {
		return sites.TooMany(most)
	}
	return nil
}

// settingsArguments returns the arguments of UpdateSite. The labels must not be nil.
func settingsArguments(name string, settings sites.Settings) named {
	return named{
		"site": name, "labels": settings.Labels, "documents": settings.Limits.Documents,
		"changes": settings.Limits.Changes, "keep": settings.Limits.Keep, "archived": settings.Archived,
	}
}

// newSite returns the arguments of InsertSite.
func newSite(name string, settings sites.Settings) named {
	arguments := settingsArguments(name, settings)
	arguments["stamp"] = revisions.NewStamp()
	return arguments
}

// changeSite changes the row of a site that was locked.
func (d *Database) changeSite(ctx context.Context, tx pgx.Tx, name string, found []lockedSettings,
	settings sites.Settings, condition sites.Condition,
) (sites.Outcome, error) {
	was, err := existing(name, found)
	if err == nil {
		err = condition.Check(name, &was)
	}
	switch {
	case err != nil:
		return 0, err
	case reflect.DeepEqual(was, settings):
		return sites.Unchanged, nil
	}
	_, err = tx.Exec(ctx, stmt.UpdateSite, settingsArguments(name, settings))
	return sites.Changed, err
}

// DeleteSite implements sites.Store.
func (d *Database) DeleteSite(ctx context.Context, name string, condition sites.Condition,
	audit *revisions.AuditEvent,
) error {
	err := d.withTx(ctx, d.deadlines.Write, func(ctx context.Context, tx pgx.Tx) error {
		found, err := collectIn(ctx, tx, scanSettings, stmt.LockSettings, named{"site": name})
		if err != nil {
			return fmt.Errorf("look for the site: %w", err)
		}
		was, err := existing(name, found)
		if err == nil {
			err = condition.Check(name, &was)
		}
		if err == nil && !was.Archived {
			err = sites.NotArchived(name)
		}
		if err == nil {
			_, err = tx.Exec(ctx, stmt.MarkSite, named{"site": name, "audit": (*auditRecord)(audit)})
		}
		return err
	})
	if err == nil {
		select {
		case d.deleted <- struct{}{}:
		default: // RunDeletions has not looked since the last time
		}
	}
	return err
}

// SiteNames implements sites.Store.
func (d *Database) SiteNames(ctx context.Context) (names []string, err error) {
	_, err = d.query(ctx, into(&names, pgx.RowTo[string]), stmt.SiteNames, named{})
	return names, err
}

// SitesWithLabels returns the default site and the first of those that have labels, at most most, unless they are
// archived, and how many there are.
func (d *Database) SitesWithLabels(ctx context.Context, labels map[string]string, most int) (
	names []string, all int, err error,
) {
	_, err = d.query(ctx, into(&names, func(row pgx.CollectableRow) (name string, err error) {
		err = row.Scan(&name, &all)
		return name, err
	}), stmt.SitesWithLabels, named{"default": sites.Default, "labels": labels, "most": most})
	return names, all, err
}

// CountSites returns the number of sites by the verdict on the newest revision: success, failure, or unknown if there
// is none (yet). Archived ones count apart.
func (d *Database) CountSites(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{"success": 0, "failure": 0, "unknown": 0, "archived": 0}
	_, err := collect(ctx, d, func(row pgx.CollectableRow) (none struct{}, err error) {
		var status string
		var n int
		err = row.Scan(&status, &n)
		counts[status] = n
		return none, err
	}, stmt.CountSites, named{})
	return counts, err
}

// holds is the condition that the status of a feed is the verdict on the newest revision, and has not ended.
const holds = "s.head > 0 AND f.judged = s.head AND (f.due IS NULL OR f.due >= now())"

// selectSites and fromSites select the columns that scanSite reads, with that of the upstreams between them, of sites
// that are not being deleted. An empty list of labels is in all.
const selectSites = `SELECT s.site, s.labels, s.max_documents, s.max_changes, s.keep, s.archived_at IS NOT NULL, s.head,
		s.stamp, CASE WHEN ` + holds + ` THEN f.status ELSE '' END, s.live, s.created_at,
		greatest(s.changed_at, (SELECT r.created_at FROM revisions r WHERE r.site = s.site AND r.revision = s.head)), `

const fromSites = ` FROM sites s JOIN feeds f ON f.site = s.site WHERE s.deleted IS NULL`

// siteOrders are the orders of sites by their keys: %[1]s is the direction. Sites without a status come last.
var siteOrders = map[string]string{
	"":                " ORDER BY s.site %[1]s",
	sites.ByName:      " ORDER BY s.site %[1]s",
	sites.ByStatus:    " ORDER BY CASE WHEN " + holds + " THEN nullif(f.status, '') END %[1]s, s.site",
	sites.ByChange:    " ORDER BY 12 %[1]s, s.site",
	sites.ByDocuments: " ORDER BY s.live %[1]s, s.site",
}

// siteStatuses are the conditions for a status. It is not an argument, so that plans take few sites to have it, and
// read them in the order of the index.
var siteStatuses = map[string]string{
	"failure": " AND f.status = 'failure' AND " + holds,
	"success": " AND f.status = 'success' AND " + holds,
}

// behindOf is the condition that a site is behind an upstream in a site: its bucket was changed since there, or all
// revisions were deleted.
const behindOf = ` AND EXISTS (
	SELECT FROM jsonb_each(s.sources) f JOIN sites o ON o.site = $%[1]d
	LEFT JOIN buckets b ON b.site = $%[1]d AND b.bucket = f.value->>'bucket'
	WHERE f.value->>'site' = $%[1]d AND
		(b.changed > (f.value->>'revision')::bigint OR o.head < (f.value->>'revision')::bigint))`

// FindSites implements sites.Store. It asks for one more than is wanted, which shows whether there are more.
func (d *Database) FindSites(ctx context.Context, q sites.Query) (found []sites.Site, more bool, err error) {
	if q.Among != nil && len(q.Among) == 0 {
		return nil, false, nil
	}
	sql, args, err := sitesOf(q)
	if err != nil {
		return nil, false, err
	}
	scan := func(row pgx.CollectableRow) (sites.Site, error) { return scanSite(row) }
	if _, err = d.query(ctx, into(&found, scan), sql, args...); err != nil {
		return nil, false, err
	}
	if more = len(found) > q.Limit; more {
		found = found[:q.Limit]
	}
	return found, more, nil
}

// sitesOf returns the statement for a query. Like that of auditOf, it has only the conditions that are asked for.
func sitesOf(q sites.Query) (sql string, args []any, err error) {
	order, isOrder := siteOrders[q.Sort]
	if _, isStatus := siteStatuses[q.Status]; !isOrder || !isStatus && q.Status != "" {
		return "", nil, fmt.Errorf("sites of status %q cannot be sorted by %q", q.Status, q.Sort)
	}
	direction := "ASC"
	if q.Backwards {
		direction = "DESC"
	}
	upstreams := "NULL::jsonb"
	if q.Follows != "" {
		upstreams = "s.sources"
	}
	sql = selectSites + upstreams + fromSites + siteStatuses[q.Status]
	for _, condition := range []struct {
		wanted bool
		sql    string // with %[1]d for the number of its parameter
		value  any
	}{
		{len(q.Labels) > 0, " AND s.labels @> $%[1]d", q.Labels},
		{q.Archived != nil, " AND (s.archived_at IS NOT NULL) = $%[1]d", q.Archived},
		{q.Follows != "" && !q.Behind, " AND s.sources @@ ('$.*.site == ' || to_json($%[1]d::text))::jsonpath", q.Follows},
		{q.Behind, behindOf, q.Follows},
		{q.Among != nil, " AND s.site = ANY($%[1]d)", q.Among},
		{true, fmt.Sprintf(order, direction) + " OFFSET $%[1]d", q.Offset},
		{true, " LIMIT $%[1]d", q.Limit + 1},
	} {
		if condition.wanted {
			args = append(args, condition.value)
			sql += fmt.Sprintf(condition.sql, len(args))
		}
	}
	return sql, args, nil
}
