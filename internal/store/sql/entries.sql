-- Statements that read the entries of a revision: the documents of its payload that fail or have notes, and then the
-- violations of other documents.

-- name: Failures
-- selects the entries of a revision from :from to before :to, :limit at most; without those that only have notes if
-- :failures_only is true, and without failures that depend on secrets if :open is true; only those about documents that
-- :document names, which have one of :names, unless it is empty. After the stored entries come the violations of
-- other documents, if any are asked for, at the end those that depend on secrets. :before and :after are the revision's
-- ancestors in the interval tree. The columns of stored entries and violations have the same types: only then are the
-- conditions used to read entries by index.
SELECT e.entry, e.document, CASE WHEN e.secret AND :open THEN NULL ELSE e.rule END AS rule,
	CASE WHEN e.secret AND :open THEN NULL ELSE e.client_versions END AS client_versions, e.notes
FROM (
	SELECT f.entry, f.document, f.rule, f.client_versions, f.notes, f.secret FROM entries f
	WHERE f.site = :site AND f.revision = :revision
	UNION ALL
	SELECT (r.entries - r.outside + row_number() OVER (ORDER BY v.secret, v.document) - 1)::integer,
		v.document, v.rule, v.client_versions, NULL, v.secret
	FROM revisions r CROSS JOIN LATERAL (
		SELECT v.document, v.rule, v.client_versions, v.secret FROM violations v
		WHERE v.site = :site AND v.until IS NULL AND v.since <= :revision
		UNION ALL
		SELECT v.document, v.rule, v.client_versions, v.secret FROM unnest(:before::bigint[]) n CROSS JOIN LATERAL (
			SELECT v.* FROM violations v
			WHERE v.site = :site AND v.until IS NOT NULL AND v.fork = n AND v.until > :revision OFFSET 0) v
		UNION ALL
		SELECT v.document, v.rule, v.client_versions, v.secret FROM unnest(:after::bigint[]) n CROSS JOIN LATERAL (
			SELECT v.* FROM violations v
			WHERE v.site = :site AND v.until IS NOT NULL AND v.fork = n AND v.since <= :revision OFFSET 0) v) v
	WHERE r.site = :site AND r.revision = :revision AND r.outside > 0
		AND (:to::bigint = 0 OR :to > r.entries - r.outside)
		AND v.document NOT IN (SELECT f.document FROM entries f WHERE f.site = :site AND f.revision = :revision)) e
WHERE e.entry >= :from::bigint AND (:to::bigint = 0 OR e.entry < :to) AND (e.rule IS NOT NULL OR NOT :failures_only)
	AND NOT (:open AND e.secret AND (:failures_only OR e.notes IS NULL))
	AND (:document::text = '' OR e.document IN (
		SELECT d.id FROM documents d WHERE d.site = :site AND d.name = ANY(:names)
			AND :document IN (d.name, d.schema || '/' || d.name, d.schema || '/' || d.layer || '/' || d.name)))
ORDER BY e.entry LIMIT nullif(:limit, 0);

-- name: FailedEntries
-- is Failures with the documents. TestStatements_common compares their common part.
SELECT f.entry, f.rule, f.client_versions, f.notes,
	d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, c.body, c.sealed
FROM (
	SELECT e.entry, e.document, CASE WHEN e.secret AND :open THEN NULL ELSE e.rule END AS rule,
		CASE WHEN e.secret AND :open THEN NULL ELSE e.client_versions END AS client_versions, e.notes
	FROM (
		SELECT f.entry, f.document, f.rule, f.client_versions, f.notes, f.secret FROM entries f
		WHERE f.site = :site AND f.revision = :revision
		UNION ALL
		SELECT (r.entries - r.outside + row_number() OVER (ORDER BY v.secret, v.document) - 1)::integer,
			v.document, v.rule, v.client_versions, NULL, v.secret
		FROM revisions r CROSS JOIN LATERAL (
			SELECT v.document, v.rule, v.client_versions, v.secret FROM violations v
			WHERE v.site = :site AND v.until IS NULL AND v.since <= :revision
			UNION ALL
			SELECT v.document, v.rule, v.client_versions, v.secret FROM unnest(:before::bigint[]) n CROSS JOIN LATERAL (
				SELECT v.* FROM violations v
				WHERE v.site = :site AND v.until IS NOT NULL AND v.fork = n AND v.until > :revision OFFSET 0) v
			UNION ALL
			SELECT v.document, v.rule, v.client_versions, v.secret FROM unnest(:after::bigint[]) n CROSS JOIN LATERAL (
				SELECT v.* FROM violations v
				WHERE v.site = :site AND v.until IS NOT NULL AND v.fork = n AND v.since <= :revision OFFSET 0) v) v
		WHERE r.site = :site AND r.revision = :revision AND r.outside > 0
			AND (:to::bigint = 0 OR :to > r.entries - r.outside)
			AND v.document NOT IN (SELECT f.document FROM entries f WHERE f.site = :site AND f.revision = :revision)) e
	WHERE e.entry >= :from::bigint AND (:to::bigint = 0 OR e.entry < :to) AND (e.rule IS NOT NULL OR NOT :failures_only)
		AND NOT (:open AND e.secret AND (:failures_only OR e.notes IS NULL))
		AND (:document::text = '' OR e.document IN (
			SELECT d.id FROM documents d WHERE d.site = :site AND d.name = ANY(:names)
				AND :document IN (d.name, d.schema || '/' || d.name, d.schema || '/' || d.layer || '/' || d.name)))
	ORDER BY e.entry LIMIT nullif(:limit, 0)) f
CROSS JOIN LATERAL (SELECT d.* FROM documents d WHERE d.site = :site AND d.id = f.document OFFSET 0) d
CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = :site AND digest = d.content OFFSET 0) c
ORDER BY f.entry;

-- name: StrayEntries
-- selects the first :limit entries of a revision with notes about stray keys, without contents; those of encrypted
-- documents are left out if :cleartext is true, and those about documents that
-- :document does not name, as in Failures.
SELECT f.entry, f.rule, f.client_versions, f.notes,
	d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata, d.notes, d.text,
	d.path, d.line, NULL::bytea, NULL::bytea
FROM entries f
CROSS JOIN LATERAL (SELECT d.* FROM documents d
	WHERE d.site = :site AND d.id = f.document AND NOT (d.encrypted AND :cleartext) OFFSET 0) d
WHERE f.site = :site AND f.revision = :revision AND f.notes LIKE '%"level":"Warning"%'
	AND (:document::text = '' OR f.document IN (
		SELECT d.id FROM documents d WHERE d.site = :site AND d.name = ANY(:names)
			AND :document IN (d.name, d.schema || '/' || d.name, d.schema || '/' || d.layer || '/' || d.name)))
ORDER BY f.entry LIMIT :limit;
