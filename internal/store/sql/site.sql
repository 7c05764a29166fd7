-- The counters of a site are read in the order of headFields.

-- name: CannotWrite
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
	(SELECT version FROM schema_migrations LIMIT 1);

-- name: DatabaseSize
-- looks at the sizes of files only.
SELECT pg_database_size(current_database());

-- name: KnownDocuments
-- selects how many documents plans are made for, of all sites: below 0 if that was never looked for.
SELECT reltuples FROM pg_class WHERE oid = 'documents'::regclass;

-- name: SchemaVersion
SELECT version FROM schema_migrations LIMIT 1;

-- name: ReadHead
SELECT s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live, s.texts FROM sites s WHERE s.site = :site;

-- name: LockHead
-- is the first statement, so that no two transactions that change the site wait for each other's rows.
SELECT s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live, s.texts FROM sites s WHERE s.site = :site FOR UPDATE;

-- name: LockBase
-- is LockHead, with the stamp of a revision, 0 if it does not exist, the version of the schema, and whether the site is
-- archived.
SELECT s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live, s.texts,
	coalesce((SELECT r.stamp FROM revisions r WHERE r.site = :site AND r.revision = :revision), 0),
	(SELECT version FROM schema_migrations LIMIT 1), s.archived_at IS NOT NULL
FROM sites s WHERE s.site = :site FOR UPDATE;

-- name: HeadAndTime
-- adds the upstreams.
SELECT s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live, s.texts, now(), s.sources FROM sites s WHERE s.site = :site;

-- name: HeadAround
-- adds the stamp and the author of a revision, null if it does not exist, and its neighbours.
SELECT s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live, s.texts, o.stamp, o.author_id,
	coalesce((SELECT max(revision) FROM revisions r WHERE r.site = :site AND r.revision < :revision), 0),
	coalesce((SELECT min(revision) FROM revisions r WHERE r.site = :site AND r.revision > :revision), 0)
FROM sites s LEFT JOIN revisions o ON o.site = :site AND o.revision = :revision WHERE s.site = :site;

-- name: LatestRevision
SELECT head FROM sites WHERE site = :site;

-- name: LastPurge
SELECT purged_at, purged_by, purge_message FROM sites WHERE site = :site AND purged_at IS NOT NULL;

-- name: SourcesOf
SELECT sources FROM revisions WHERE site = :site AND revision = :revision;

-- name: UpstreamsNow
SELECT sources FROM sites WHERE site = :site;

-- name: BehindOf
-- selects how many of the next :most revisions have changed a bucket since a revision, and 1 if only others have; null if
-- the site has no such revision, and never had.
SELECT CASE WHEN s.head < :revision OR EXISTS (
		SELECT FROM revisions o WHERE o.site = :site AND o.revision = :revision AND o.stamp <> :stamp) THEN NULL
	WHEN coalesce(b.changed, 0) <= :revision THEN 0
	ELSE greatest(1, (SELECT count(*) FROM (
		SELECT r.buckets FROM revisions r WHERE r.site = :site AND r.revision > :revision ORDER BY r.revision LIMIT :most) found
		WHERE :bucket = ANY(found.buckets))) END
FROM sites s LEFT JOIN buckets b ON b.site = :site AND b.bucket = :bucket WHERE s.site = :site;

-- name: FactsOf
-- selects the stamp of a revision, what changes with the facts that its verdict is made from, and the time.
SELECT r.stamp, coalesce((SELECT max(x.id) FROM results x WHERE x.site = :site AND x.revision = :revision), 0),
	coalesce((SELECT max(w.id) FROM waivers w WHERE w.site = :site AND w.revision = :revision), 0),
	(SELECT count(*) FROM waivers w WHERE w.site = :site AND w.revision = :revision AND w.ended_at IS NOT NULL), now()
FROM revisions r WHERE r.site = :site AND r.revision = :revision;

-- name: HasRevision
SELECT revision FROM revisions WHERE site = :site AND revision = :revision AND stamp = :stamp;

-- name: NewestRevision
-- selects the columns that scanRevision reads.
SELECT r.revision, r.created_at, r.buckets, r.entries, r.kind, r.author, r.message, r.source, coalesce(r.origin, 0),
	r.outside > 0 OR r.secret_fails
		OR EXISTS (SELECT FROM entries f WHERE f.site = :site AND f.revision = r.revision AND f.rule IS NOT NULL),
	r.client_versions, r.stamp, r.secret_fails, r.secret_outside, r.inapplicable, r.sources,
	r.chain, r.chain_previous, r.chain_removed
FROM revisions r WHERE r.site = :site AND r.revision = (SELECT head FROM sites WHERE site = :site);
