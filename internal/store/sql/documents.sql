-- Statements that read documents of revisions. Documents have the columns that scanDocument reads. For OFFSET 0 see
-- ofRevision, which makes the statement for a selection of documents.

-- name: FallbackPolicy
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM documents d JOIN contents c ON c.site = :site AND c.digest = d.content
WHERE d.site = :site AND d.schema LIKE 'deckhand/LayeringPolicy/%'
ORDER BY d.since > :revision, d.since DESC LIMIT 1;

-- name: VersionsByID
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body AS packed, c.sealed
FROM unnest(:ids::bigint[]) WITH ORDINALITY k (id, n)
JOIN revisions r ON r.site = :site AND r.revision = :revision AND r.stamp = :stamp
CROSS JOIN LATERAL (SELECT d.* FROM documents d WHERE d.site = :site AND d.id = k.id OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
ORDER BY k.n;

-- name: ContentsByDigest
SELECT digest, body FROM contents WHERE site = :site AND digest = ANY(:digests);

-- name: ArchiveOf
SELECT body FROM archives WHERE site = :site AND content = :content;

-- name: OutdatedSecrets
SELECT digest, body, sealed FROM contents
WHERE site = :site AND sealed IS NOT NULL AND digest > :after
	AND substring(sealed, 1, length(:prefix::bytea)) <> :prefix::bytea
ORDER BY digest LIMIT :limit;

-- name: CountSecrets
-- counts those of all sites.
SELECT count(*) FROM contents WHERE sealed IS NOT NULL;

-- name: SitesToReseal
-- selects the sites with documents, texts or webhooks that are sealed with older keys.
SELECT site FROM contents WHERE sealed IS NOT NULL AND substring(sealed, 1, length(:prefix::bytea)) <> :prefix::bytea
UNION
SELECT site FROM texts WHERE reference IS NOT NULL AND substring(body, 1, length(:prefix::bytea)) <> :prefix::bytea
UNION
SELECT site FROM webhooks WHERE substring(secret, 1, length(:prefix::bytea)) <> :prefix::bytea
	OR substring(previous, 1, length(:prefix::bytea)) <> :prefix::bytea;

-- name: ResealContent
UPDATE contents SET sealed = :new WHERE site = :site AND digest = :digest AND sealed = :old;

-- name: OccupiedBuckets
SELECT bucket FROM occupancies
WHERE site = :site AND since <= :revision AND (until IS NULL OR until > :revision) ORDER BY bucket;

-- name: StampsOf
SELECT n, (SELECT r.stamp FROM revisions r WHERE r.site = :site AND r.revision = n)
FROM unnest(:revisions::bigint[]) n WHERE n <> 0;

-- name: OnlyOlder
-- is a part of a comparison of two revisions: the closed versions at the older revision's nodes that ended before the
-- newer one. At each node there is at most one version of an identity, so only rows that changed in between are read,
-- however long the history.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM unnest(:nodes::bigint[]) n CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.until IS NOT NULL AND d.fork = n AND d.until > :older
		AND d.until <= :newer AND d.since <= :older OFFSET 0) d
ORDER BY place;

-- name: OnlyNewer
-- is the other part: the live versions added in between, and the closed ones at the newer revision's nodes after the
-- older one; at the newest revision all are live.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM buckets b CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.bucket = b.bucket AND d.until IS NULL AND d.since > :older
		AND d.since <= :newer OFFSET 0) d
WHERE b.site = :site AND b.changed > :older
UNION ALL
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM unnest(:nodes::bigint[]) n CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.until IS NOT NULL AND d.fork = n AND d.since > :older
		AND d.since <= :newer AND d.until > :newer OFFSET 0) d
WHERE :newer < (SELECT head FROM sites WHERE site = :site)
ORDER BY place;

-- name: OnlyTarget
-- is a part of the difference of the newest revision from the target of a rollback, with the contents of restored
-- documents.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM unnest(:nodes::bigint[]) n CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.until IS NOT NULL AND d.fork = n AND d.until > :target
		AND d.since <= :target OFFSET 0) d
JOIN contents c ON c.site = :site AND c.digest = d.content ORDER BY place;

-- name: OnlyNewest
-- is the other part, with the contents of DataSchemas. All versions of the newest revision are live.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, CASE WHEN d.schema = 'deckhand/DataSchema/v1' THEN c.body END, NULL::bytea
FROM buckets b CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.bucket = b.bucket AND d.until IS NULL
		AND d.since > :target OFFSET 0) d
JOIN contents c ON c.site = :site AND c.digest = d.content
WHERE b.site = :site AND b.changed > :target ORDER BY place;

-- name: Boundaries
-- selects a page of the boundaries of a document. shown is the first remaining revision that has a version or a later
-- state, gone the first one that does not have it any more: a version for which these are the same is in none. A version
-- follows another if its shown is the other's gone. A boundary has the number of the revision that made it; if a version
-- ended in a revision that was pruned together with its successors, the boundary has the first remaining one.
--
-- Each version has a boundary, except those in no revision, and older versions have older ones. A page therefore needs
-- only as many of the newest versions as it has boundaries up to its end, and the one before them. The versions are
-- sorted at each level, so that revisions are looked up for these alone.
WITH versions AS (
	SELECT d.id, d.since, d.until,
		(SELECT min(r.revision) FROM revisions r WHERE r.site = :site AND r.revision >= d.since) AS shown,
		(SELECT min(r.revision) FROM revisions r WHERE r.site = :site AND r.revision >= d.until) AS gone
	FROM (SELECT d.id, d.since, d.until FROM documents d
		WHERE d.site = :site AND d.name = :name AND d.schema = :schema AND d.layer = :layer
			AND NOT (d.encrypted AND :cleartext) ORDER BY d.since DESC OFFSET 0) d ORDER BY d.since DESC OFFSET 0),
newest AS (
	SELECT id, since, until, shown, gone FROM versions WHERE shown IS DISTINCT FROM gone
	ORDER BY since DESC LIMIT :offset::bigint + :limit::bigint + 1),
seen AS (
	SELECT id, since, until, shown, gone, lag(gone) OVER w AS before, lead(shown) OVER w AS after FROM newest
	WINDOW w AS (ORDER BY since)),
boundaries AS (
	SELECT id, since AS revision, since AS cause, false AS ends, before IS NOT DISTINCT FROM shown AS follows FROM seen
	UNION ALL
	SELECT id, gone, until, true, false FROM seen WHERE gone IS DISTINCT FROM after
	ORDER BY revision DESC OFFSET :offset LIMIT :limit)
SELECT d.found, d.revision, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''), coalesce(r.source, ''),
	d.ends, d.follows, d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata,
	d.notes, d.text, d.path, d.line, d.body,
	NULL::bytea
FROM (
	SELECT e.revision, e.cause, e.ends, e.follows, d.*, c.body, count(*) OVER () AS found, row_number() OVER newest AS n,
		sum(octet_length(d.metadata) + octet_length(c.body)) OVER newest AS size
	FROM boundaries e
	CROSS JOIN LATERAL (SELECT d.* FROM documents d WHERE d.site = :site AND d.id = e.id OFFSET 0) d
	CROSS JOIN LATERAL (SELECT body FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
	WINDOW newest AS (ORDER BY e.revision DESC)) d
LEFT JOIN LATERAL (SELECT created_at, author, message, source FROM revisions
	WHERE site = :site AND revision = d.cause OFFSET 0) r ON true
WHERE d.n <= 2 OR d.size <= :max_bytes
ORDER BY d.revision DESC;

-- name: Buckets
-- selects the buckets of a page with the revisions that changed them last, and how many live documents they have: null if
-- the live documents are known, or if the bucket has one of the stamps with which it was counted before. It counts by
-- index alone.
SELECT b.bucket, b.changed, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''), coalesce(r.source, ''), b.stamp, k.bucket IS NOT NULL,
	CASE WHEN k.bucket IS NULL AND NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known) THEN (
		SELECT count(*) FROM documents d WHERE d.site = :site AND d.bucket = b.bucket AND d.until IS NULL) END
FROM (SELECT bucket, changed, stamp FROM buckets WHERE site = :site ORDER BY bucket OFFSET :offset LIMIT :limit) b
LEFT JOIN unnest(:counted::text[], :stamps::bigint[]) AS k (bucket, stamp) ON k.bucket = b.bucket AND k.stamp = b.stamp
LEFT JOIN LATERAL (SELECT created_at, author, message, source FROM revisions
	WHERE site = :site AND revision = b.changed AND stamp = b.stamp OFFSET 0) r ON true
ORDER BY b.bucket;

-- name: CleartextBuckets
-- is Buckets without encrypted documents.
SELECT b.bucket, b.changed, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''), coalesce(r.source, ''), b.stamp, k.bucket IS NOT NULL,
	CASE WHEN k.bucket IS NULL AND NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known) THEN (
		SELECT count(*) FROM documents d WHERE d.site = :site AND d.bucket = b.bucket AND d.until IS NULL
			AND NOT d.encrypted) END
FROM (SELECT bucket, changed, stamp FROM buckets WHERE site = :site ORDER BY bucket OFFSET :offset LIMIT :limit) b
LEFT JOIN unnest(:counted::text[], :stamps::bigint[]) AS k (bucket, stamp) ON k.bucket = b.bucket AND k.stamp = b.stamp
LEFT JOIN LATERAL (SELECT created_at, author, message, source FROM revisions
	WHERE site = :site AND revision = b.changed AND stamp = b.stamp OFFSET 0) r ON true
ORDER BY b.bucket;

-- name: RecentKinds
-- selects the schemas of a revision's concrete documents, each with the number (:most_documents at most) and the first of
-- them; of a DataSchema also its name. It goes from one schema of live documents to the next (:most_kinds at most), also
-- to those of abstract documents only, in whose rows the number is 0. :before and :after are the revision's ancestors in
-- the interval tree.
WITH RECURSIVE k (schema, n) AS (
	(SELECT d.schema, 1 FROM documents d WHERE d.site = :site AND d.until IS NULL ORDER BY d.schema LIMIT 1)
	UNION ALL
	SELECT d.schema, k.n + 1 FROM k CROSS JOIN LATERAL (
		SELECT d.schema FROM documents d WHERE d.site = :site AND d.until IS NULL AND d.schema > k.schema
		ORDER BY d.schema LIMIT 1) d
	WHERE k.n < :most_kinds),
s AS (SELECT head, (SELECT r.stamp FROM revisions r WHERE r.site = :site AND r.revision = :revision) AS stamp
	FROM sites WHERE site = :site)
SELECT s.stamp, x.schema, x.name, coalesce(x.count, 0), x.identity FROM s LEFT JOIN (
	SELECT k.schema, NULL::text AS name, c.count, c.identity FROM k CROSS JOIN LATERAL (
		SELECT count(*), min(d.identity) AS identity FROM (
			SELECT ARRAY[d.layer, d.name] AS identity FROM documents d
			WHERE d.site = :site AND d.schema BETWEEN k.schema AND k.schema AND d.until IS NULL
				AND d.since <= :revision AND NOT d.abstract AND NOT (d.encrypted AND :cleartext)
			ORDER BY d.schema, d.layer, d.name LIMIT :most_documents) d) c
	WHERE k.schema <> 'deckhand/DataSchema/v1'
	UNION ALL
	SELECT d.schema, d.name, 1, NULL FROM documents d
	WHERE d.site = :site AND d.schema = 'deckhand/DataSchema/v1' AND d.until IS NULL
		AND d.since <= :revision AND NOT d.abstract AND NOT (d.encrypted AND :cleartext)
	UNION ALL
	SELECT d.schema, CASE WHEN d.schema = 'deckhand/DataSchema/v1' THEN d.name END, count(*),
		min(ARRAY[d.layer, d.name])
	FROM s CROSS JOIN LATERAL (
		SELECT d.* FROM unnest(:before::bigint[]) n CROSS JOIN LATERAL (
			SELECT d.* FROM documents d
			WHERE d.site = :site AND d.until IS NOT NULL AND d.fork = n AND d.until > :revision OFFSET 0) d
		WHERE n <= s.head
		UNION ALL
		SELECT d.* FROM unnest(:after::bigint[]) n CROSS JOIN LATERAL (
			SELECT d.* FROM documents d
			WHERE d.site = :site AND d.until IS NOT NULL AND d.fork = n AND d.since <= :revision OFFSET 0) d
		WHERE n <= s.head) d
	WHERE d.since <= :revision AND NOT d.abstract AND NOT (d.encrypted AND :cleartext)
	GROUP BY 1, 2) x ON true;
