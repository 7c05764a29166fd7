-- Statements of the snapshot that a change is planned and judged by. Documents have the columns that scanDocument reads.
-- OFFSET 0 keeps the planner from choosing another plan because of old or missing statistics: see ofRevision.
--
-- A statement that selects live documents selects nothing if the site has the stamp :known: they are in memory.

-- name: BucketStates
SELECT k.bucket, coalesce(b.changed, 0), coalesce(b.stamp, 0), coalesce(b.reread, 0)
FROM unnest(:buckets::text[]) WITH ORDINALITY AS k (bucket, n)
LEFT JOIN buckets b ON b.site = :site AND b.bucket = k.bucket ORDER BY k.n;

-- name: ChangedBuckets
-- reads the documents of those buckets that are not as they are known, by the stamp of the revision that changed them
-- last, and by the mark of the last time that their texts were written again.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM (
	SELECT k.bucket FROM unnest(:buckets::text[], :stamps::bigint[], :rereads::bigint[]) AS k (bucket, stamp, reread)
	JOIN buckets b ON b.site = :site AND b.bucket = k.bucket AND (b.stamp <> k.stamp OR b.reread <> k.reread) OFFSET 0) k
CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.bucket = k.bucket AND d.until IS NULL OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
ORDER BY d.place;

-- name: KnownContents
SELECT digest, sealed, EXISTS (SELECT FROM archives a WHERE a.site = :site AND a.content = c.digest)
FROM contents c WHERE site = :site AND digest = ANY(:digests);

-- name: AllLive
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM documents d JOIN contents c ON c.site = :site AND c.digest = d.content
WHERE d.site = :site AND d.until IS NULL AND NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known)
ORDER BY d.place;

-- name: LiveSchemas
-- names the schema as a literal. From a literal Postgres can estimate the number of rows; for a parameter it would read
-- all documents if many share a few schemas.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM (SELECT d.* FROM documents d WHERE d.site = :site AND d.until IS NULL AND d.schema = 'deckhand/DataSchema/v1'
	OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
WHERE NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known) ORDER BY d.place;

-- name: LiveVersions
-- is LiveSchemas for the client versions.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM (SELECT d.* FROM documents d WHERE d.site = :site AND d.until IS NULL AND d.schema = 'purser/ClientVersions/v1'
	OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
WHERE NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known) ORDER BY d.place;

-- name: LiveOfKinds
-- compares schemas by BETWEEN, which Postgres estimates as selective. If many documents share a few schemas it would
-- read all, deleted ones too, for each schema that is asked for with =.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM unnest(:kinds::text[]) k
CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.schema BETWEEN k AND k AND d.until IS NULL OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
WHERE NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known) ORDER BY d.place;

-- name: LiveRegistered
-- selects the DataSchemas with the names.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM unnest(:names::text[]) k
CROSS JOIN LATERAL (
	SELECT d.* FROM documents d
	WHERE d.site = :site AND d.name = k AND d.fork IS NULL AND d.schema = 'deckhand/DataSchema/v1' OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
WHERE NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known) ORDER BY d.place;

-- name: LiveClaims
-- selects the documents with the identities, and the LayeringPolicy. It does not look up each identity if the site is
-- empty.
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM unnest(:schemas::text[], :layers::text[], :names::text[]) AS k (schema, layer, name)
CROSS JOIN LATERAL (
	SELECT d.* FROM documents d WHERE d.site = :site AND d.schema = k.schema AND d.layer = k.layer AND d.name = k.name
		AND d.until IS NULL OFFSET 0) d
WHERE (SELECT live FROM sites WHERE site = :site) > 0
	AND NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known)
UNION ALL
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM documents d WHERE d.site = :site AND d.until IS NULL AND d.schema LIKE 'deckhand/LayeringPolicy/%'
	AND NOT EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.stamp = :known);

-- name: LiveNoted
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM documents d WHERE d.site = :site AND d.until IS NULL AND d.notes IS NOT NULL;

-- name: LivePositions
SELECT d.id, d.place FROM documents d WHERE d.site = :site AND d.until IS NULL ORDER BY d.place;

-- name: LiveViolations
SELECT v.document, v.since, v.rule, v.client_versions, v.secret FROM violations v
WHERE v.site = :site AND v.until IS NULL;

-- name: FailingDocuments
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM documents d JOIN contents c ON c.site = :site AND c.digest = d.content
WHERE d.site = :site AND d.id IN (SELECT v.document FROM violations v WHERE v.site = :site AND v.until IS NULL);

-- name: NewestOccupied
SELECT bucket FROM occupancies WHERE site = :site AND until IS NULL ORDER BY bucket;

-- name: NewestFallback
SELECT d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM documents d JOIN contents c ON c.site = :site AND c.digest = d.content
WHERE d.site = :site AND d.schema LIKE 'deckhand/LayeringPolicy/%' ORDER BY d.since DESC LIMIT 1;

-- name: ChecksByContent
-- selects the checks that contents passed when they were stored.
SELECT c.passed, NULL::text FROM contents c
JOIN unnest(:contents::bytea[], :pairs::bytea[]) AS k (content, pair) ON c.digest = k.content AND c.passed = k.pair
WHERE c.site = :site;

-- name: ChecksByPair
SELECT pair, findings FROM checks WHERE site = :site AND pair = ANY(:pairs);

-- name: LivePolicies
-- selects the policies in force now by a range of schemas, because for LIKE Postgres would read an index of all versions.
-- They have the columns that scanPolicy reads.
SELECT d.place, d.since, coalesce(d.until, 0), d.schema, d.layer, d.name, d.content FROM documents d
WHERE d.site = :site AND d.until IS NULL
	AND d.schema >= 'deckhand/ValidationPolicy/' AND d.schema < 'deckhand/ValidationPolicy0'
ORDER BY d.place;
