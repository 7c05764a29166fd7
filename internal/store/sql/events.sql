-- Statements about events and the audit.

-- name: InsertEvent
INSERT INTO outbox (site, type, revision, subject, data, withheld)
VALUES (:site, :type, nullif(:revision::bigint, 0), :subject, :data, :withheld);

-- name: InsertPurgeEvent
INSERT INTO outbox (site, type, revision, subject, data, withheld)
SELECT :site, 'purser.site.purged', NULL, 'revisions', json_build_object('epoch', epoch), NULL
FROM sites WHERE site = :site;

-- name: InsertAudit
-- adds nothing to a site that is being deleted.
INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
	remote, request)
SELECT :site, :at, :user_id, :user_name, :project, :end_user, :rule, :method, :target, nullif(:revision::bigint, 0),
	:status, :error, :remote, :request
WHERE EXISTS (SELECT FROM sites WHERE site = :site AND deleted IS NULL);

-- name: SitesWithNews
-- selects the sites with events that are not numbered, and the positions of those of which some were numbered lately: no
-- transaction that numbers takes longer than that, so none is missed by a caller who asks often.
SELECT site, true, 0::bigint, NULL::timestamptz FROM outbox GROUP BY site
UNION ALL
SELECT site, false, newest, at FROM feeds WHERE at >= now() - interval '20 seconds';

-- name: SitesDue
-- selects sites with verdicts that are due, at most :limit.
SELECT DISTINCT site FROM verdicts WHERE due < now() LIMIT :limit;

-- name: FeedPosition
SELECT f.newest, nullif(f.at, '-infinity'), EXISTS (SELECT FROM outbox o WHERE o.site = :site)
		OR EXISTS (SELECT FROM verdicts v WHERE v.site = :site AND v.due < now())
FROM feeds f WHERE f.site = :site;

-- name: LockFeed
-- comes first: from then on the transaction sees one snapshot, and is the only one that numbers events. It selects the
-- newest event, the revision that is the newest at the end of the batch (the one before the first that is made later),
-- the time, and how many events are numbered in one transaction. That number bounds their deliveries too: of each event
-- there is one for each webhook.
WITH w AS (SELECT least(500, 2000 / greatest(1, count(*))) AS most FROM webhooks w WHERE w.site = :site AND w.enabled)
SELECT f.newest, nullif(f.at, '-infinity'), coalesce((SELECT revision - 1 FROM (
		SELECT id, type, revision FROM outbox WHERE site = :site ORDER BY id OFFSET (SELECT most FROM w)) later
		WHERE type = 'purser.revision.created' ORDER BY id LIMIT 1), s.head), now(), (SELECT most FROM w)
FROM feeds f JOIN sites s ON s.site = :site WHERE f.site = :site FOR UPDATE OF f;

-- name: OutboxBatch
SELECT id, 0::bigint, at, type, coalesce(revision, 0), subject, data, withheld FROM outbox WHERE site = :site
ORDER BY id LIMIT (SELECT least(500, 2000 / greatest(1, count(*))) FROM webhooks w WHERE w.site = :site AND w.enabled);

-- name: BatchVerdicts
-- selects the known verdicts on the revisions of OutboxBatch, and those that are due.
WITH w AS (SELECT least(500, 2000 / greatest(1, count(*))) AS most FROM webhooks w WHERE w.site = :site AND w.enabled)
SELECT revision, stamp, status, nullif(due, '-infinity') FROM verdicts WHERE site = :site AND revision = ANY(ARRAY(
	SELECT revision FROM outbox WHERE site = :site ORDER BY id LIMIT (SELECT most FROM w)))
UNION (
	SELECT revision, stamp, status, nullif(due, '-infinity') FROM verdicts WHERE site = :site AND due < now()
	ORDER BY due LIMIT (SELECT most FROM w));

-- name: InsertEvents
INSERT INTO events (site, number, at, type, revision, subject, data, withheld)
SELECT :site, :newest + n, at, type, nullif(revision, 0), subject, data, withheld
FROM unnest(:at::timestamptz[], :types::text[], :revisions::bigint[], :subjects::text[], :data::text[],
	:withheld::text[]) WITH ORDINALITY e (at, type, revision, subject, data, withheld, n);

-- name: DeleteOutbox
DELETE FROM outbox WHERE site = :site AND id = ANY(:ids);

-- name: AdvanceFeed
UPDATE feeds SET newest = :newest, at = :at WHERE site = :site;

-- name: SetSiteStatus
-- stores the verdict on the newest revision, unless it is stored already.
UPDATE feeds SET status = :status, judged = :judged, due = :due
WHERE site = :site AND (status, judged, due) IS DISTINCT FROM (:status, :judged::bigint, :due::timestamptz);

-- name: UpsertVerdicts
-- has the names of open work as lists in JSON: arrays in an array would have to have the same length.
INSERT INTO verdicts (site, revision, stamp, status, due, open, judged)
SELECT :site, v.revision, v.stamp, v.status, v.due, ARRAY(SELECT json_array_elements_text(v.open)), :judged
FROM unnest(:revisions::bigint[], :stamps::bigint[], :status::text[], :due::timestamptz[], :open::json[])
	v (revision, stamp, status, due, open)
ON CONFLICT (site, revision) DO UPDATE SET stamp = excluded.stamp, status = excluded.status, due = excluded.due,
	open = excluded.open, judged = excluded.judged;

-- name: DropVerdicts
-- deletes the verdicts of revisions that are deleted, or no longer the newest or tagged.
DELETE FROM verdicts v WHERE site = :site AND NOT EXISTS (
	SELECT FROM revisions r WHERE r.site = :site AND r.revision = v.revision AND r.stamp = v.stamp
		AND (r.revision = :newest OR EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision)));

-- name: FeedBounds
SELECT oldest, newest FROM feeds WHERE site = :site;

-- name: SelectEvents
SELECT number, at, type, coalesce(revision, 0), subject, data, withheld FROM (
	SELECT number, at, type, revision, subject, data, withheld,
		sum(octet_length(data) + coalesce(octet_length(withheld), 0)) OVER (ORDER BY number) AS size,
		row_number() OVER (ORDER BY number) AS n
	FROM (SELECT number, at, type, revision, subject, data, withheld FROM events
		WHERE site = :site AND number > :after AND number <= :last AND (:types::text[] IS NULL OR type = ANY(:types))
		ORDER BY number LIMIT :limit) e) e
WHERE n = 1 OR size <= :max_bytes ORDER BY number;

-- name: DeleteOldEvents
-- deletes the oldest events, up to the first that is not older than :age or is among the newest :keep, at most :limit.
WITH locked AS (SELECT newest FROM feeds WHERE site = :site FOR UPDATE),
oldest AS (
	SELECT e.number, e.at >= now() - :age::interval OR e.number > l.newest - :keep::bigint AS kept
	FROM locked l JOIN events e ON e.site = :site ORDER BY e.number LIMIT :limit),
gone AS (
	DELETE FROM events e USING oldest o WHERE e.site = :site AND e.number = o.number AND NOT o.kept
		AND NOT EXISTS (SELECT FROM oldest k WHERE k.kept AND k.number < o.number) RETURNING e.number)
UPDATE feeds SET oldest = oldest + (SELECT count(*) FROM gone) WHERE site = :site AND EXISTS (SELECT FROM gone)
RETURNING (SELECT count(*) FROM gone);
