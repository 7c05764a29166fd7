-- Statements of a transaction that appends a revision.

-- name: CloseDocument
-- ends a version if the head has the expected stamp. The condition that it is live is written so that no index over
-- live versions matches, which a plan made for few versions might use.
UPDATE documents SET until = :until, fork = :fork WHERE site = :site AND id = :id AND coalesce(until, 0) = 0
	AND (SELECT s.stamp FROM sites s WHERE s.site = :site) = :stamp::bigint
RETURNING 1, encrypted::integer;

-- name: CloseDocuments
-- is CloseDocument for many, and counts them. It is not for few: a plan made while the table is small reads all versions.
WITH closed AS (
	UPDATE documents d SET until = :until, fork = n.fork
	FROM unnest(:ids::bigint[], :forks::bigint[]) AS n (id, fork)
	WHERE d.site = :site AND d.id = n.id AND coalesce(d.until, 0) = 0
		AND (SELECT s.stamp FROM sites s WHERE s.site = :site) = :stamp::bigint
	RETURNING d.encrypted)
SELECT count(*), count(*) FILTER (WHERE encrypted) FROM closed;

-- name: InsertContent
-- has its arguments in the order of the rows of addContents.
INSERT INTO contents (site, digest, passed, body, sealed) VALUES (:site, :digest, :passed, :body, :sealed);

-- name: InsertDocument
-- has its arguments in the order of versionRow.
INSERT INTO documents (site, id, place, since, bucket, schema, layer, name, content, segment, metadata, notes, abstract,
	labels, encrypted, text, path, line)
VALUES (:site, :id, :place, :since, :bucket, :schema, :layer, :name, :content, :segment, :metadata, :notes, :abstract,
	:labels, :encrypted, :text, :path, :line);

-- name: InsertTexts
WITH counted AS (UPDATE sites SET texts = :last WHERE site = :site)
INSERT INTO texts (site, block, body, reference)
SELECT :site, * FROM unnest(:blocks::bigint[], :bodies::bytea[], :references::text[]);

-- name: RereadDocuments
-- gives live versions another text, or another place in their files, and marks their buckets with :mark. :texts has null for
-- those that keep theirs.
WITH reread AS (
	UPDATE documents d SET segment = n.segment, text = coalesce(n.text, d.text), path = n.path, line = n.line
	FROM unnest(:ids::bigint[], :segments::bytea[], :texts::bigint[], :paths::text[], :lines::integer[])
		AS n (id, segment, text, path, line)
	WHERE d.site = :site AND d.id = n.id RETURNING d.bucket)
UPDATE buckets b SET reread = :mark WHERE b.site = :site AND b.bucket IN (SELECT r.bucket FROM reread r);

-- name: AddSealed
-- adds the secret of a reference if it is missing.
UPDATE contents SET sealed = :sealed WHERE site = :site AND digest = :digest AND sealed IS NULL;

-- name: AddArchive
INSERT INTO archives (site, content, body) VALUES (:site, :content, :body) ON CONFLICT DO NOTHING;

-- name: InsertChecks
INSERT INTO checks (site, pair, findings)
SELECT :site, * FROM unnest(:pairs::bytea[], :findings::text[]) ON CONFLICT DO NOTHING;

-- name: InsertEntries
INSERT INTO entries (site, revision, entry, document, rule, client_versions, notes, secret)
SELECT :site, :revision, * FROM unnest(:entries::integer[], :documents::bigint[], :rules::bytea[], :versions::bytea[],
	:notes::text[], :secret::boolean[]);

-- name: InsertViolations
INSERT INTO violations (site, since, document, rule, client_versions, secret)
SELECT :site, :since, * FROM unnest(:documents::bigint[], :rules::bytea[], :versions::bytea[], :secret::boolean[]);

-- name: EndViolations
UPDATE violations v SET until = :until, fork = n.fork
FROM unnest(:documents::bigint[], :forks::bigint[]) AS n (id, fork)
WHERE v.site = :site AND v.document = n.id AND v.until IS NULL;

-- name: ChainOf
SELECT chain FROM revisions WHERE site = :site AND revision = :revision;

-- name: VersionsAt
-- selects what VersionsDigest is made from, of all documents of a revision, in the order of ByIdentity. It reads all
-- versions of the site.
SELECT d.schema, d.name, d.layer, d.bucket, d.metadata, d.content FROM documents d
WHERE d.site = :site AND d.since <= :revision AND (d.until IS NULL OR d.until > :revision)
ORDER BY d.schema COLLATE "C", d.name COLLATE "C", d.layer COLLATE "C";

-- name: InsertRevision
INSERT INTO revisions (site, revision, created_at, buckets, entries, outside, kind, author, message, source,
	source_commit, origin, client_versions, stamp, succeeded, secret_fails, secret_outside, inapplicable, author_id,
	sources, chain, chain_previous, chain_removed)
VALUES (:site, :revision, :created_at, :buckets, :entries, :outside, :kind, :author, :message, :source,
	:source_commit, :origin, :client_versions, :stamp, :succeeded, :secret_fails, :secret_outside, :inapplicable,
	:author_id, :sources, :chain, :chain_previous, :chain_removed);

-- name: ChangeBuckets
INSERT INTO buckets (site, bucket, changed, stamp) SELECT :site, b, :changed, :stamp FROM unnest(:buckets::text[]) b
ON CONFLICT (site, bucket) DO UPDATE SET changed = excluded.changed, stamp = excluded.stamp;

-- name: OpenBuckets
INSERT INTO occupancies (site, bucket, since) SELECT :site, b, :since FROM unnest(:buckets::text[]) b;

-- name: EmptyBuckets
UPDATE occupancies SET until = :until WHERE site = :site AND bucket = ANY(:buckets) AND until IS NULL;

-- name: AdvanceHead
-- also sets settled, from which earlier versions of the server see that they must plan again.
UPDATE sites SET head = head + 1, documents = documents + :added, live = live + :more, settled = head + 1,
	stamp = :stamp, sources = :sources
WHERE site = :site;

-- name: Refollow
-- sets the upstreams without a revision. Changes that were planned before are planned again: see queueTexts.
UPDATE sites SET sources = :sources, texts = texts + 1 WHERE site = :site;
