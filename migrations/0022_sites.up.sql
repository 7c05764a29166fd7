-- A database has many sites, each of which is a part of every table.

-- labels are what an operator selects sites by. max_documents, max_changes (a minute, of each server) and keep (revisions)
-- are limits of this site, null where the server's hold. archived_at is when changes ended, null if the site takes them.
-- deleted is the transaction that marked the site for deletion, whose rows go in steps, and deleted_audit the entry of the
-- audit to be made when the last one is gone.
ALTER TABLE sites
	ADD COLUMN labels jsonb NOT NULL DEFAULT '{}',
	ADD COLUMN max_documents bigint,
	ADD COLUMN max_changes integer,
	ADD COLUMN keep bigint,
	ADD COLUMN archived_at timestamptz,
	ADD COLUMN created_at timestamptz NOT NULL DEFAULT now(),
	ADD COLUMN changed_at timestamptz NOT NULL DEFAULT now(),
	ADD COLUMN deleted xid8,
	ADD COLUMN deleted_audit json;
UPDATE sites s SET created_at = r.created_at FROM (
	SELECT site, min(created_at) AS created_at FROM revisions GROUP BY site) r
WHERE r.site = s.site;
CREATE INDEX sites_deleted ON sites (site) WHERE deleted IS NOT NULL;

-- status is the verdict that was told last on the newest revision, which had the number judged: success or failure, empty
-- if there is none. due is when it changes because a result expires or a waiver ends; null if that does not happen.
-- at is when the newest event was numbered: one query finds the sites with news.
ALTER TABLE feeds
	ADD COLUMN status text NOT NULL DEFAULT '',
	ADD COLUMN judged bigint NOT NULL DEFAULT 0,
	ADD COLUMN due timestamptz,
	ADD COLUMN at timestamptz NOT NULL DEFAULT '-infinity';
UPDATE feeds f SET status = v.status, judged = v.revision, due = v.due FROM sites s JOIN verdicts v ON v.site = s.site AND v.revision = s.head
WHERE f.site = s.site;
UPDATE feeds f SET at = e.at FROM events e WHERE e.site = f.site AND e.number = f.newest;
CREATE INDEX feeds_status ON feeds (status, site);
CREATE INDEX feeds_at ON feeds (at);

-- One query finds the sites whose verdicts are due, and one those with open work.
CREATE INDEX verdicts_due ON verdicts (due) WHERE due IS NOT NULL;
CREATE INDEX verdicts_open ON verdicts (site) WHERE open <> '{}';

-- Autovacuum looks at each table as a whole: the rows of one site among many must not wait until a fifth of all is dead.
ALTER TABLE documents SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE contents SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE texts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE entries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE violations SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE checks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE results SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE revisions SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE audit SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
