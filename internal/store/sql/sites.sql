-- Statements about sites themselves. Over all sites are SiteNames, SitesWithLabels, CountSites,
-- TooManySites and MarkedSites.

-- name: SettingsOf
SELECT labels, max_documents, max_changes, keep, archived_at IS NOT NULL, deleted IS NOT NULL FROM sites
WHERE site = :site;

-- name: LockSettings
SELECT labels, max_documents, max_changes, keep, archived_at IS NOT NULL, deleted IS NOT NULL FROM sites
WHERE site = :site FOR UPDATE;

-- name: FindSite
-- selects the columns that scanSite reads, and whether the site is being deleted.
SELECT s.site, s.labels, s.max_documents, s.max_changes, s.keep, s.archived_at IS NOT NULL, s.head, s.stamp,
	CASE WHEN s.head > 0 AND f.judged = s.head AND (f.due IS NULL OR f.due >= now()) THEN f.status ELSE '' END, s.live, s.created_at,
	greatest(s.changed_at, r.created_at), s.sources, s.deleted IS NOT NULL
FROM sites s LEFT JOIN feeds f ON f.site = :site LEFT JOIN revisions r ON r.site = :site AND r.revision = s.head
WHERE s.site = :site;

-- name: SiteNames
SELECT site FROM sites WHERE deleted IS NULL ORDER BY site;

-- name: SitesWithLabels
-- selects the default site and those that have labels, unless they are archived, and how many there are.
SELECT site, count(*) OVER () FROM sites
WHERE deleted IS NULL AND archived_at IS NULL AND (site = :default OR labels @> :labels)
ORDER BY site <> :default, site LIMIT :most;

-- name: CountSites
-- counts the sites by the verdict on the newest revision, which is unknown if there is none (yet); archived ones apart.
SELECT CASE WHEN s.archived_at IS NOT NULL THEN 'archived'
	WHEN f.judged = s.head AND (f.due IS NULL OR f.due >= now()) AND f.status <> '' THEN f.status ELSE 'unknown' END AS status,
	count(*)
FROM sites s JOIN feeds f ON f.site = s.site WHERE s.deleted IS NULL GROUP BY 1;

-- name: InsertSite
-- makes a site unless there is one of the name. Its epoch is that with which the first site began.
INSERT INTO sites (site, epoch, head, documents, stamp, labels, max_documents, max_changes, keep, archived_at)
SELECT :site, 1, 0, 0, :stamp, :labels, :documents, :changes, :keep, CASE WHEN :archived::boolean THEN now() END
ON CONFLICT (site) DO NOTHING;

-- name: LockMaking
-- waits until no other transaction is about to make a site, so that the sites can be counted. It is the last lock of a
-- transaction: who makes a site may wait for another one that makes the same. The number is any that nobody else locks.
SELECT pg_advisory_xact_lock(4515017);

-- name: TooManySites
-- selects whether there are more than :most sites, with the one that the transaction has made.
SELECT count(*) > :most::bigint FROM sites;

-- name: InsertFeed
INSERT INTO feeds (site, newest, oldest) VALUES (:site, 0, 1);

-- name: UpdateSite
UPDATE sites SET labels = :labels, max_documents = :documents, max_changes = :changes, keep = :keep,
	archived_at = CASE WHEN :archived::boolean THEN coalesce(archived_at, now()) END, changed_at = now()
WHERE site = :site;

-- name: MarkSite
-- begins the deletion of a site: its rows go in steps. What they were is counted in deleted_audit.
UPDATE sites SET deleted = pg_current_xact_id(), changed_at = now(),
	deleted_audit = json_build_object('audit', :audit::json, 'documents', live)
WHERE site = :site;

-- name: MarkedSites
-- is answered by an index that is empty while no site is being deleted.
SELECT site FROM sites WHERE deleted IS NOT NULL ORDER BY site;

-- name: LockMarked
-- locks a site that is being deleted unless another server does it. It selects what was deleted, and whether nobody can
-- write to the site any more: no transaction is as old as the mark, and no call that began before it is under way.
SELECT deleted_audit, deleted < pg_snapshot_xmin(pg_current_snapshot()) AND changed_at < now() - :grace::interval
FROM sites WHERE site = :site AND deleted IS NOT NULL FOR UPDATE SKIP LOCKED;

-- name: CountDeleted
UPDATE sites SET deleted_audit = :audit WHERE site = :site;

-- name: DeleteSite
DELETE FROM sites WHERE site = :site;
