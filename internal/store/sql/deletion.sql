-- Statements of prunes and purges.
--
-- gaps are the numbers between remaining revisions. All existing revisions remain, or, if :keep is not null, the newest
-- :keep and those with tags. unneeded are the versions that no remaining revision needs. Each was valid only in a gap,
-- so its fork lies in that gap. LayeringPolicies that render remaining revisions stay: for each revision the newest one
-- written until then, even if it has been removed since, and the newest of all.

-- name: PrunableRevisions
-- selects the revisions before the newest :keep that no tag holds.
SELECT r.revision FROM revisions r
WHERE r.site = :site AND r.revision <= (
		SELECT n.revision FROM revisions n WHERE n.site = :site ORDER BY n.revision DESC OFFSET :keep LIMIT 1)
	AND NOT EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision)
ORDER BY r.revision;

-- name: CountPrunable
-- counts the revisions that PrunableRevisions selects, unless the site takes no changes.
SELECT count(*) FROM revisions r
WHERE r.site = :site AND r.revision <= (
		SELECT n.revision FROM revisions n WHERE n.site = :site ORDER BY n.revision DESC OFFSET :keep LIMIT 1)
	AND NOT EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision)
	AND EXISTS (SELECT FROM sites s WHERE s.site = :site AND s.archived_at IS NULL AND s.deleted IS NULL);

-- name: LockPrunable
-- locks the revisions in their order, as AddResults does: it waits for tags that are being set, and no others are until
-- the transaction ends.
SELECT r.revision FROM revisions r
WHERE r.site = :site AND r.revision <= (
		SELECT n.revision FROM revisions n WHERE n.site = :site ORDER BY n.revision DESC OFFSET :keep LIMIT 1)
	AND NOT EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision)
ORDER BY r.revision FOR UPDATE;

-- name: PruneRevisions
-- deletes locked revisions, except those that were tagged before they were locked.
DELETE FROM revisions r WHERE r.site = :site AND r.revision = ANY(:revisions)
	AND NOT EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision) RETURNING r.revision;

-- name: CountPrune
UPDATE sites SET prunes = prunes + 1 WHERE site = :site;

-- name: CountRevisions
SELECT count(*) FROM revisions WHERE site = :site;

-- name: CountUnneeded
-- counts the versions and the contents that a prune would delete, and their bytes, those of the versions with their
-- texts.
WITH gaps AS (
	SELECT n.after, n.before FROM (
		SELECT lag(r.revision, 1, 0::bigint) OVER (ORDER BY r.revision) AS after, r.revision AS before
		FROM revisions r WHERE r.site = :site AND (r.revision <= (
				SELECT n.revision FROM revisions n WHERE n.site = :site ORDER BY n.revision DESC OFFSET :keep LIMIT 1)
			AND NOT EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision)) IS NOT TRUE) n
	WHERE n.before > n.after + 1),
unneeded AS (
	SELECT d.id, d.bytes FROM gaps g CROSS JOIN LATERAL (
		SELECT d.id, pg_column_size(d.*) AS bytes FROM documents d WHERE d.site = :site AND d.until IS NOT NULL
			AND d.fork > g.after AND d.fork < g.before AND d.since > g.after AND d.until <= g.before
			AND (d.schema NOT LIKE 'deckhand/LayeringPolicy/%' OR g.before >= (
				SELECT min(p.since) FROM documents p
				WHERE p.site = :site AND p.schema LIKE 'deckhand/LayeringPolicy/%' AND p.since > d.since))
		OFFSET 0) d),
orphans AS (
	SELECT (pg_column_size(c.digest) + pg_column_size(c.body) + coalesce((SELECT pg_column_size(a.body) FROM archives a
		WHERE a.site = :site AND a.content = c.digest), 0))::bigint AS bytes
	FROM contents c WHERE c.site = :site AND NOT EXISTS (
		SELECT FROM documents d WHERE d.site = :site AND d.content = c.digest
			AND NOT EXISTS (SELECT FROM unneeded u WHERE u.id = d.id))),
unread AS (
	SELECT pg_column_size(t.body)::bigint AS bytes FROM texts t WHERE t.site = :site AND NOT EXISTS (
		SELECT FROM documents d WHERE d.site = :site AND d.text / 32 = t.block
			AND NOT EXISTS (SELECT FROM unneeded u WHERE u.id = d.id)))
SELECT (SELECT count(*) FROM unneeded),
	(SELECT coalesce(sum(bytes), 0) FROM (SELECT bytes FROM unneeded UNION ALL SELECT bytes FROM unread) u)::bigint,
	count(*), coalesce(sum(bytes), 0)::bigint FROM orphans;

-- name: UnneededSecrets
-- selects the first encrypted document of versions that no remaining revision needs, and counts the others.
WITH gaps AS (
	SELECT n.after, n.before FROM (
		SELECT lag(r.revision, 1, 0::bigint) OVER (ORDER BY r.revision) AS after, r.revision AS before
		FROM revisions r WHERE r.site = :site AND (:keep::bigint IS NULL OR (r.revision <= (
				SELECT n.revision FROM revisions n WHERE n.site = :site ORDER BY n.revision DESC OFFSET :keep LIMIT 1)
			AND NOT EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision)) IS NOT TRUE)) n
	WHERE n.before > n.after + 1),
unneeded AS (
	SELECT d.id, d.encrypted FROM gaps g CROSS JOIN LATERAL (
		SELECT d.id, d.encrypted FROM documents d WHERE d.site = :site AND d.until IS NOT NULL
			AND d.fork > g.after AND d.fork < g.before AND d.since > g.after AND d.until <= g.before
			AND (d.schema NOT LIKE 'deckhand/LayeringPolicy/%' OR g.before >= (
				SELECT min(p.since) FROM documents p
				WHERE p.site = :site AND p.schema LIKE 'deckhand/LayeringPolicy/%' AND p.since > d.since))
		OFFSET 0) d)
SELECT d.schema, d.layer, d.name, count(*) OVER () - 1 FROM documents d
WHERE d.site = :site AND d.encrypted AND d.id = ANY(ARRAY(SELECT u.id FROM unneeded u WHERE u.encrypted))
GROUP BY d.schema, d.layer, d.name ORDER BY min(d.place) LIMIT 1;

-- name: SecretsAfter
-- selects the first encrypted document of versions with ids above :id, and counts the others.
SELECT d.schema, d.layer, d.name, count(*) OVER () - 1 FROM documents d
WHERE d.site = :site AND d.encrypted AND d.id > :id
GROUP BY d.schema, d.layer, d.name ORDER BY min(d.place) LIMIT 1;

-- name: SweepDocuments
-- deletes versions that no revision needs, at most :limit.
WITH gaps AS (
	SELECT n.after, n.before FROM (
		SELECT lag(r.revision, 1, 0::bigint) OVER (ORDER BY r.revision) AS after, r.revision AS before
		FROM revisions r WHERE r.site = :site) n
	WHERE n.before > n.after + 1),
unneeded AS (
	SELECT d.id FROM gaps g CROSS JOIN LATERAL (
		SELECT d.id FROM documents d WHERE d.site = :site AND d.until IS NOT NULL
			AND d.fork > g.after AND d.fork < g.before AND d.since > g.after AND d.until <= g.before
			AND (d.schema NOT LIKE 'deckhand/LayeringPolicy/%' OR g.before >= (
				SELECT min(p.since) FROM documents p
				WHERE p.site = :site AND p.schema LIKE 'deckhand/LayeringPolicy/%' AND p.since > d.since))
		OFFSET 0) d),
gone AS (
	DELETE FROM documents d WHERE d.site = :site AND d.id = ANY(ARRAY(SELECT u.id FROM unneeded u LIMIT :limit))
	RETURNING pg_column_size(d.*) AS bytes)
SELECT count(*), coalesce(sum(bytes), 0) FROM gone;

-- name: SweepTexts
-- deletes blocks of which no version has a text, at most :limit. A block has 32 texts: revisions.MaxTextsOfBlock.
WITH gone AS (
	DELETE FROM texts t WHERE t.site = :site AND t.block IN (
		SELECT t.block FROM texts t WHERE t.site = :site AND NOT EXISTS (
			SELECT FROM documents d WHERE d.site = :site AND d.text / 32 = t.block)
		LIMIT :limit)
	RETURNING pg_column_size(t.body) AS bytes)
SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone;

-- name: SweepEntries
-- deletes :limit entries of deleted revisions, and the remaining ones of the last of these revisions.
WITH gaps AS (
	SELECT n.after, n.before FROM (
		SELECT lag(r.revision, 1, 0::bigint) OVER (ORDER BY r.revision) AS after, r.revision AS before
		FROM revisions r WHERE r.site = :site) n
	WHERE n.before > n.after + 1),
gone AS (
	DELETE FROM entries f WHERE f.site = :site AND f.revision = ANY(ARRAY(
		SELECT f.revision FROM gaps g CROSS JOIN LATERAL (SELECT f.revision FROM entries f
			WHERE f.site = :site AND f.revision > g.after AND f.revision < g.before OFFSET 0) f LIMIT :limit))
	RETURNING 0)
SELECT count(*), 0::bigint FROM gone;

-- name: SweepViolations
-- deletes violations that no revision needs, at most :limit.
WITH gaps AS (
	SELECT n.after, n.before FROM (
		SELECT lag(r.revision, 1, 0::bigint) OVER (ORDER BY r.revision) AS after, r.revision AS before
		FROM revisions r WHERE r.site = :site) n
	WHERE n.before > n.after + 1),
gone AS (
	DELETE FROM violations v USING (
		SELECT v.since, v.document FROM gaps g CROSS JOIN LATERAL (
			SELECT v.since, v.document FROM violations v WHERE v.site = :site AND v.until IS NOT NULL
				AND v.fork > g.after AND v.fork < g.before AND v.since > g.after AND v.until <= g.before
			OFFSET 0) v LIMIT :limit) u
	WHERE v.site = :site AND v.since = u.since AND v.document = u.document
	RETURNING 0)
SELECT count(*), 0::bigint FROM gone;

-- name: SweepOccupancies
DELETE FROM occupancies o WHERE o.site = :site AND o.until <= (
	SELECT min(r.revision) FROM revisions r WHERE r.site = :site AND r.revision >= o.since);

-- name: Orphans
-- selects contents that no version has, at most :limit.
SELECT c.digest, (pg_column_size(c.digest) + pg_column_size(c.body) + coalesce((SELECT pg_column_size(a.body)
	FROM archives a WHERE a.site = :site AND a.content = c.digest), 0))::bigint AS bytes
FROM contents c
WHERE c.site = :site AND NOT EXISTS (SELECT FROM documents d WHERE d.site = :site AND d.content = c.digest)
LIMIT :limit;

-- name: PruneContents
-- deletes contents that no version has which came after :since, up to :last. The upper bound is the last one there is:
-- without it, plans would be for reading a third of all versions.
WITH gone AS (
	DELETE FROM contents c WHERE c.site = :site AND c.digest = ANY(:digests) AND NOT EXISTS (
		SELECT FROM documents d WHERE d.site = :site AND d.id > :since AND d.id <= :last AND d.content = c.digest)
	RETURNING pg_column_size(c.digest) + pg_column_size(c.body) + coalesce((SELECT pg_column_size(a.body)
		FROM archives a WHERE a.site = :site AND a.content = c.digest), 0) AS bytes)
SELECT count(*), coalesce(sum(bytes), 0) FROM gone;

-- name: FailedChecks
-- selects the checks in entries of revisions after :after, up to :last: the stored ones, and violations that began.
SELECT d.content, f.rule, f.client_versions FROM (
	SELECT document, rule, client_versions FROM entries
	WHERE site = :site AND revision > :after AND revision <= :last AND rule IS NOT NULL
	UNION
	SELECT document, rule, client_versions FROM violations WHERE site = :site AND since > :after AND since <= :last) f
JOIN documents d ON d.site = :site AND d.id = f.document
GROUP BY d.content, f.rule, f.client_versions;

-- name: OtherChecks
SELECT c.pair, coalesce(pg_column_size(c.findings), 0)::bigint FROM checks c
WHERE c.site = :site AND NOT EXISTS (SELECT FROM unnest(:kept::bytea[]) k WHERE k = c.pair) LIMIT :limit;

-- name: PruneChecks
DELETE FROM checks c WHERE c.site = :site AND c.pair = ANY(:pairs) AND c.pair <> ALL(:kept);

-- name: ResetSite
UPDATE sites SET epoch = epoch + 1, head = 0, documents = 0, live = 0, settled = 0, stamp = :stamp, purged_at = now(),
	purged_by = :user, purge_message = :message, sources = NULL
WHERE site = :site;

-- name: LockRevisions
-- waits for tags and results that are being written.
SELECT FROM revisions WHERE site = :site ORDER BY revision FOR UPDATE;
