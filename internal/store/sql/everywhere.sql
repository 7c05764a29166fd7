-- Statements about the work and the waivers of all sites, or of many. None of them is for one site.

-- name: OfferedWork
-- counts the work that SelectWork would select, in all sites that take changes. The first column, which is there without
-- any work too, is the time until there may be more although nothing happens, null if that will not be.
WITH work AS (
	SELECT w.site, w.revision, w.name, max(w.judged) AS judged FROM (
		SELECT v.site, v.revision, n.name, v.judged
		FROM verdicts v JOIN revisions r USING (site, revision, stamp) JOIN sites s USING (site)
		CROSS JOIN LATERAL unnest(v.open) n (name)
		WHERE v.open <> '{}' AND n.name = ANY(:names::text[])
			AND (v.revision = s.head OR EXISTS (SELECT FROM tags t WHERE t.site = v.site AND t.revision = v.revision))
			AND NOT EXISTS (SELECT FROM outbox o WHERE o.site = v.site AND o.type = 'purser.validation.posted'
				AND o.revision = v.revision AND o.subject = 'revisions/' || v.revision || '/validations/' || n.name)
		UNION ALL
		SELECT c.site, c.revision, c.validation, NULL FROM claims c
		WHERE c.ended_at IS NULL AND c.requested_at IS NOT NULL AND c.validation = ANY(:names)) w
	GROUP BY w.site, w.revision, w.name),
offers AS (
	SELECT w.site, w.name, count(*) AS works
	FROM work w JOIN sites s ON s.site = w.site AND s.archived_at IS NULL AND s.deleted IS NULL
	LEFT JOIN claims c ON c.site = w.site AND c.revision = w.revision AND c.validation = w.name
	WHERE c.ended_at < w.judged OR c.ended_at IS NULL AND (c.held AND c.expires_at >= now()) IS NOT TRUE
	GROUP BY w.site, w.name)
SELECT extract(epoch FROM next.at - now())::float8, coalesce(o.site, ''), coalesce(o.name, ''), coalesce(o.works, 0)
FROM (SELECT least(
		(SELECT min(c.expires_at) FROM claims c WHERE c.ended_at IS NULL AND c.held AND c.expires_at >= now()
			AND c.validation = ANY(:names)),
		(SELECT min(greatest(v.due, now() + interval '1 second')) FROM verdicts v WHERE v.due IS NOT NULL)) AS at) next
LEFT JOIN offers o ON true;

-- name: WorkOfSites
-- selects a page of the work of :sites that take changes, or of all such sites if that is null, in their order, and of each
-- what ListWork selects.
SELECT s.site, w.revision, w.stamp, w.name, CASE WHEN c.ended_at IS NULL AND c.held THEN
		CASE WHEN c.expires_at >= now() THEN 'claimed' ELSE 'lapsed' END ELSE 'open' END,
	coalesce(c.attempt, 0), coalesce(c.tokens[1]::text, ''), coalesce(c.worker, ''),
	coalesce(nullif(c.user_name, ''), c.user_id, ''), c.since, c.expires_at, coalesce(c.progress, ''), c.requested_at,
	coalesce(c.reason, '')
FROM sites s CROSS JOIN LATERAL (
	SELECT r.revision, r.stamp, n.name
	FROM verdicts v JOIN revisions r ON r.site = v.site AND r.revision = v.revision AND r.stamp = v.stamp
	CROSS JOIN LATERAL unnest(v.open) n (name)
	WHERE v.site = s.site AND v.open <> '{}'
		AND (r.revision = s.head OR EXISTS (SELECT FROM tags t WHERE t.site = s.site AND t.revision = r.revision))
		AND NOT EXISTS (SELECT FROM outbox o WHERE o.site = s.site AND o.type = 'purser.validation.posted'
			AND o.revision = v.revision AND o.subject = 'revisions/' || v.revision || '/validations/' || n.name)
		AND NOT EXISTS (SELECT FROM claims c WHERE c.site = s.site AND c.revision = v.revision
			AND c.validation = n.name AND c.ended_at >= v.judged)
	UNION
	SELECT c.revision, r.stamp, c.validation
	FROM claims c JOIN revisions r ON r.site = c.site AND r.revision = c.revision
	WHERE c.site = s.site AND c.ended_at IS NULL AND (c.requested_at IS NOT NULL OR c.held AND c.expires_at >= now())) w
LEFT JOIN claims c ON c.site = s.site AND c.revision = w.revision AND c.validation = w.name
WHERE s.archived_at IS NULL AND s.deleted IS NULL AND (:sites::text[] IS NULL OR s.site = ANY(:sites))
ORDER BY s.site, w.revision DESC, w.name OFFSET :offset LIMIT :limit;

-- name: WaiversOfSites
-- selects a page of the waivers of :sites, or of all sites if that is null, in the order of AllWaivers.
SELECT now(), w.id, w.revision, w.validation, coalesce(nullif(w.user_name, ''), w.user_id), w.reason, w.created_at,
	w.until, w.ended_at, w.ended_by, coalesce(w.carried_from, 0), w.site
FROM waivers w JOIN sites s USING (site)
WHERE s.deleted IS NULL AND (:sites::text[] IS NULL OR w.site = ANY(:sites))
	AND (NOT :active::boolean OR w.ended_at IS NULL AND w.until > now())
ORDER BY coalesce(w.ended_at, w.until), w.site, w.id OFFSET :offset LIMIT :limit;
