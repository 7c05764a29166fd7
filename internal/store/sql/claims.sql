-- Statements about work and claims to it.
--
-- work are the results that revisions lack: of the newest and of tagged revisions, the names that the feed has stored
-- with the verdict, without those of which a result was posted since, whose event is then in the outbox; and of any
-- revision those that somebody has asked for. A result ends a row of claims; the work of the row is open again if the
-- verdict is newer than that, because the result has expired. Rows are read by index: few of them are work.
--
-- This is stated twice, each time in two statements whose text is the same. SelectWork and ClaimWork look at some names of
-- many revisions. ListWork and CountWork are for all names: what verdicts lack is work as it is in the revisions that are
-- whole: no result was posted since, and all claims have ended.

-- name: SelectWork
-- selects claimable work of the validations with :names in order, the newest revision first, :each of each name at most.
-- The first column, which is there without any work too, is the time until there may be more although nothing happens,
-- null if that will not be.
WITH work AS (
	SELECT w.revision, w.stamp, w.name, max(w.judged) AS judged FROM (
		SELECT r.revision, r.stamp, n.name, v.judged
		FROM verdicts v
		JOIN revisions r ON r.site = :site AND r.revision = v.revision AND r.stamp = v.stamp
		CROSS JOIN LATERAL unnest(v.open) n (name)
		WHERE v.site = :site AND (r.revision = (SELECT head FROM sites WHERE site = :site)
				OR EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision))
			AND NOT EXISTS (SELECT FROM outbox o WHERE o.site = :site AND o.type = 'purser.validation.posted'
				AND o.revision = v.revision AND o.subject = 'revisions/' || v.revision || '/validations/' || n.name)
		UNION ALL
		SELECT c.revision, r.stamp, c.validation, NULL
		FROM claims c JOIN revisions r ON r.site = :site AND r.revision = c.revision
		WHERE c.site = :site AND c.ended_at IS NULL AND c.requested_at IS NOT NULL) w
	WHERE w.name = ANY(:names::text[])
	GROUP BY w.revision, w.stamp, w.name),
stated AS (
	SELECT w.revision, w.stamp, w.name, CASE WHEN c.ended_at IS NULL AND c.held THEN
			CASE WHEN c.expires_at >= now() THEN 'claimed' ELSE 'lapsed' END ELSE 'open' END AS state,
		c.attempt, c.tokens[1]::text AS token, c.worker, coalesce(nullif(c.user_name, ''), c.user_id) AS user_name, c.since,
		c.expires_at, c.progress, c.requested_at, c.reason
	FROM work w LEFT JOIN LATERAL (SELECT c.* FROM claims c
		WHERE c.site = :site AND c.revision = w.revision AND c.validation = w.name OFFSET 0) c ON true
	WHERE c.ended_at IS NULL OR c.ended_at < w.judged),
ranked AS (
	SELECT s.*, row_number() OVER (PARTITION BY s.name ORDER BY s.revision DESC) AS n FROM stated s
	WHERE s.state <> 'claimed')
SELECT extract(epoch FROM next.at - now())::float8, coalesce(w.revision, 0), coalesce(w.stamp, 0), coalesce(w.name, ''),
	coalesce(w.state, ''), coalesce(w.attempt, 0), coalesce(w.token, ''), coalesce(w.worker, ''),
	coalesce(w.user_name, ''), w.since, w.expires_at, coalesce(w.progress, ''), w.requested_at, coalesce(w.reason, '')
FROM (SELECT least(
		(SELECT min(c.expires_at) FROM claims c WHERE c.site = :site AND c.ended_at IS NULL AND c.held
			AND c.expires_at >= now() AND c.validation = ANY(:names)),
		(SELECT min(greatest(v.due, now() + interval '100 milliseconds')) FROM verdicts v
			WHERE v.site = :site AND v.due IS NOT NULL)) AS at) next
LEFT JOIN ranked w ON w.n <= :each::bigint
ORDER BY w.revision DESC, w.name;

-- name: ListWork
-- selects a page of the work in order, with that which workers hold. Of whole revisions it counts the names, and reads
-- those of the page.
WITH judged AS (
	SELECT r.revision, r.stamp, v.open, v.judged
	FROM verdicts v JOIN revisions r ON r.site = :site AND r.revision = v.revision AND r.stamp = v.stamp
	WHERE v.site = :site AND (r.revision = (SELECT head FROM sites WHERE site = :site)
		OR EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision))),
gone AS (
	SELECT o.revision, substr(o.subject, length('revisions/' || o.revision || '/validations/') + 1) AS name
	FROM outbox o WHERE o.site = :site AND o.type = 'purser.validation.posted'
	UNION ALL
	SELECT c.revision, c.validation FROM judged j CROSS JOIN LATERAL (SELECT c.* FROM claims c
		WHERE c.site = :site AND c.revision = j.revision AND c.ended_at >= j.judged OFFSET 0) c),
whole AS (
	SELECT j.* FROM judged j WHERE j.revision NOT IN (SELECT revision FROM gone)
		AND j.revision NOT IN (SELECT c.revision FROM claims c WHERE c.site = :site AND c.ended_at IS NULL)),
work AS (
	SELECT j.revision, j.stamp, n.name FROM judged j CROSS JOIN LATERAL unnest(j.open) n (name)
	WHERE j.revision NOT IN (SELECT revision FROM whole) AND (j.revision, n.name) NOT IN (SELECT revision, name FROM gone)
	UNION
	SELECT c.revision, r.stamp, c.validation FROM claims c JOIN revisions r ON r.site = :site AND r.revision = c.revision
	WHERE c.site = :site AND c.ended_at IS NULL AND (c.requested_at IS NOT NULL OR c.held AND c.expires_at >= now())),
page AS (
	SELECT min(revision) AS oldest, max(revision) AS newest, min(upto - n) AS before FROM (
		SELECT revision, n, sum(n) OVER (ORDER BY revision DESC) AS upto FROM (
			SELECT revision, cardinality(open) AS n FROM whole
			UNION ALL
			SELECT revision, count(*) FROM work GROUP BY revision) s) s
	WHERE upto > :offset::bigint AND upto - n - :offset < :limit::bigint)
SELECT w.revision, w.stamp, w.name, CASE WHEN c.ended_at IS NULL AND c.held THEN
		CASE WHEN c.expires_at >= now() THEN 'claimed' ELSE 'lapsed' END ELSE 'open' END,
	coalesce(c.attempt, 0), coalesce(c.tokens[1]::text, ''), coalesce(c.worker, ''),
	coalesce(nullif(c.user_name, ''), c.user_id, ''), c.since, c.expires_at, coalesce(c.progress, ''), c.requested_at,
	coalesce(c.reason, '')
FROM (
	SELECT w.* FROM page p JOIN work w ON w.revision BETWEEN p.oldest AND p.newest
	UNION ALL
	SELECT j.revision, j.stamp, n.name FROM page p JOIN whole j ON j.revision BETWEEN p.oldest AND p.newest
	CROSS JOIN LATERAL unnest(j.open) n (name)
	ORDER BY revision DESC, name OFFSET :offset - (SELECT before FROM page) LIMIT :limit) w
LEFT JOIN LATERAL (SELECT c.* FROM claims c
	WHERE c.site = :site AND c.revision = w.revision AND c.validation = w.name OFFSET 0) c ON true
ORDER BY w.revision DESC, w.name;

-- name: ClaimWork
-- claims work that was selected for workers, as far as it is still claimable and nobody has claimed it since: of an
-- insert that meets a row the last token must be the one that was selected, and the row must have ended when this
-- statement saw it end. It gives the place, the attempt and the end of each claim made.
WITH asked AS (
	SELECT a.* FROM json_to_recordset(:claims) a (n int, revision bigint, stamp bigint, name text, token uuid, before uuid,
		worker text, user_id text, user_name text, timeout bigint, progress text, event json, audit json)),
work AS (
	SELECT w.revision, w.stamp, w.name, max(w.judged) AS judged FROM (
		SELECT r.revision, r.stamp, n.name, v.judged
		FROM verdicts v
		JOIN revisions r ON r.site = :site AND r.revision = v.revision AND r.stamp = v.stamp
		CROSS JOIN LATERAL unnest(v.open) n (name)
		WHERE v.site = :site AND (r.revision = (SELECT head FROM sites WHERE site = :site)
				OR EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision))
			AND NOT EXISTS (SELECT FROM outbox o WHERE o.site = :site AND o.type = 'purser.validation.posted'
				AND o.revision = v.revision AND o.subject = 'revisions/' || v.revision || '/validations/' || n.name)
			AND v.revision = ANY(ARRAY(SELECT revision FROM asked))
		UNION ALL
		SELECT c.revision, r.stamp, c.validation, NULL
		FROM claims c JOIN revisions r ON r.site = :site AND r.revision = c.revision
		WHERE c.site = :site AND c.ended_at IS NULL AND c.requested_at IS NOT NULL) w
	WHERE (w.revision, w.name) IN (SELECT revision, name FROM asked)
	GROUP BY w.revision, w.stamp, w.name),
found AS (
	SELECT a.*, c.tokens, c.ended_at
	FROM asked a JOIN work w ON w.revision = a.revision AND w.stamp = a.stamp AND w.name = a.name
	LEFT JOIN LATERAL (SELECT c.* FROM claims c
		WHERE c.site = :site AND c.revision = a.revision AND c.validation = a.name OFFSET 0) c ON true
	WHERE c.tokens[1] IS NOT DISTINCT FROM a.before AND (c.validation IS NULL OR c.ended_at < w.judged
		OR c.ended_at IS NULL AND (NOT c.held OR c.expires_at < now()))),
made AS (
	INSERT INTO claims (site, revision, validation, tokens, held, worker, user_id, user_name, attempt, since, expires_at,
		timeout, progress, ended_at)
	SELECT :site, revision, name, (array_prepend(token, tokens))[1:16], true, worker, user_id, user_name, 1, now(),
		now() + timeout * interval '1 millisecond', timeout, progress, ended_at
	FROM found ORDER BY revision, name
	ON CONFLICT (site, revision, validation) DO UPDATE SET tokens = excluded.tokens, held = true,
		worker = excluded.worker, user_id = excluded.user_id, user_name = excluded.user_name,
		attempt = claims.attempt + 1, since = excluded.since, expires_at = excluded.expires_at,
		timeout = excluded.timeout, progress = excluded.progress, ended_at = NULL
	WHERE claims.tokens[1] IS NOT DISTINCT FROM excluded.tokens[2]
		AND claims.ended_at IS NOT DISTINCT FROM excluded.ended_at AND (NOT claims.held OR claims.expires_at < now())
	RETURNING revision, validation, attempt, since, expires_at),
granted AS (
	SELECT f.*, m.attempt, m.since, m.expires_at FROM found f
	JOIN made m ON m.revision = f.revision AND m.validation = f.name),
events AS (
	INSERT INTO outbox (site, type, revision, subject, data, withheld)
	SELECT :site, e.type, g.revision, e.subject, e.data, NULL FROM granted g CROSS JOIN LATERAL json_to_record(g.event)
		e (type text, subject text, data text) ORDER BY g.n),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, g.revision, a.status,
		a.error, a.remote, a.request
	FROM granted g CROSS JOIN LATERAL json_to_record(g.audit) a (at timestamptz, user_id text, user_name text, project text,
		end_user text, rule text, method text, target text, status int, error text, remote text, request text)
	WHERE g.audit IS NOT NULL ORDER BY g.n)
SELECT n, attempt, since, expires_at FROM granted;

-- name: FindClaim
-- selects the work of a claim, and whether the claim is the last one to it and holds it, has held it for :age, or a
-- result has ended the work.
SELECT c.revision, r.stamp, c.validation, c.tokens[1] = :claim, c.held, c.attempt, c.worker,
	coalesce(nullif(c.user_name, ''), c.user_id), c.since, c.expires_at, c.progress, c.ended_at,
	c.since < now() - :age::interval
FROM claims c JOIN revisions r ON r.site = :site AND r.revision = c.revision
WHERE c.site = :site AND c.tokens @> ARRAY[:claim::uuid];

-- name: ExtendClaim
UPDATE claims SET expires_at = least(now() + timeout * interval '1 millisecond', since + :age::interval),
	progress = coalesce(:progress, progress)
WHERE site = :site AND tokens @> ARRAY[:claim::uuid] AND tokens[1] = :claim AND held AND ended_at IS NULL
	AND since >= now() - :age::interval;

-- name: GiveBack
-- ends a claim that holds its work, and adds the event and the audit entry.
WITH done AS (
	UPDATE claims SET held = false, attempt = greatest(attempt - 1, 0), progress = ''
	WHERE site = :site AND tokens @> ARRAY[:claim::uuid] AND tokens[1] = :claim AND held AND ended_at IS NULL
	RETURNING revision, validation),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, d.revision, a.status,
		a.error, a.remote, a.request
	FROM done d CROSS JOIN LATERAL json_to_record(:audit) a (at timestamptz, user_id text, user_name text, project text,
		end_user text, rule text, method text, target text, status int, error text, remote text, request text)
	WHERE :audit::json IS NOT NULL)
INSERT INTO outbox (site, type, revision, subject, data, withheld)
SELECT :site, e.type, d.revision, e.subject, e.data, NULL FROM done d CROSS JOIN LATERAL json_to_record(:event)
	e (type text, subject text, data text);

-- name: RequestWork
-- asks for a new result of a validation of a revision that has one of the stamps, or any if these are null, and adds the
-- event and the audit entry. It does nothing if there is work on :max_names other validations of the revision. It
-- selects the revision's stamp if that exists, and whether anything was done.
WITH r AS (
	SELECT r.revision, r.stamp FROM revisions r
	WHERE r.site = :site AND r.revision = :revision AND (:stamps::bigint[] IS NULL OR r.stamp = ANY(:stamps))
	FOR KEY SHARE),
done AS (
	INSERT INTO claims (site, revision, validation, requested_at, reason)
	SELECT :site, r.revision, :name, now(), :reason FROM r
	WHERE (SELECT count(*) FROM claims c WHERE c.site = :site AND c.revision = :revision AND c.validation <> :name)
		< :max_names::bigint
	ON CONFLICT (site, revision, validation) DO UPDATE SET requested_at = now(), reason = excluded.reason,
		attempt = CASE WHEN claims.ended_at IS NULL AND claims.held AND claims.expires_at >= now() THEN 1 ELSE 0 END,
		ended_at = NULL
	RETURNING revision, requested_at),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, d.revision, a.status,
		a.error, a.remote, a.request
	FROM done d CROSS JOIN LATERAL json_to_record(:audit) a (at timestamptz, user_id text, user_name text, project text,
		end_user text, rule text, method text, target text, status int, error text, remote text, request text)
	WHERE :audit::json IS NOT NULL),
events AS (
	INSERT INTO outbox (site, type, revision, subject, data, withheld)
	SELECT :site, e.type, d.revision, e.subject, e.data, NULL FROM done d CROSS JOIN LATERAL json_to_record(:event)
		e (type text, subject text, data text))
SELECT r.stamp, (SELECT requested_at FROM done) FROM r;

-- name: ResultOfClaim
-- selects the result that has ended a claim to a validation of a revision.
SELECT r.stamp, x.status, x.validator, x.created_at FROM results x
JOIN revisions r ON r.site = :site AND r.revision = x.revision
WHERE x.site = :site AND x.revision = :revision AND x.name = :name AND x.claim = :claim ORDER BY x.id LIMIT 1;

-- name: CountWork
-- counts the work by its state, as ListWork lists it.
WITH judged AS (
	SELECT r.revision, r.stamp, v.open, v.judged
	FROM verdicts v JOIN revisions r ON r.site = :site AND r.revision = v.revision AND r.stamp = v.stamp
	WHERE v.site = :site AND (r.revision = (SELECT head FROM sites WHERE site = :site)
		OR EXISTS (SELECT FROM tags t WHERE t.site = :site AND t.revision = r.revision))),
gone AS (
	SELECT o.revision, substr(o.subject, length('revisions/' || o.revision || '/validations/') + 1) AS name
	FROM outbox o WHERE o.site = :site AND o.type = 'purser.validation.posted'
	UNION ALL
	SELECT c.revision, c.validation FROM judged j CROSS JOIN LATERAL (SELECT c.* FROM claims c
		WHERE c.site = :site AND c.revision = j.revision AND c.ended_at >= j.judged OFFSET 0) c),
whole AS (
	SELECT j.* FROM judged j WHERE j.revision NOT IN (SELECT revision FROM gone)
		AND j.revision NOT IN (SELECT c.revision FROM claims c WHERE c.site = :site AND c.ended_at IS NULL)),
work AS (
	SELECT j.revision, j.stamp, n.name FROM judged j CROSS JOIN LATERAL unnest(j.open) n (name)
	WHERE j.revision NOT IN (SELECT revision FROM whole) AND (j.revision, n.name) NOT IN (SELECT revision, name FROM gone)
	UNION
	SELECT c.revision, r.stamp, c.validation FROM claims c JOIN revisions r ON r.site = :site AND r.revision = c.revision
	WHERE c.site = :site AND c.ended_at IS NULL AND (c.requested_at IS NOT NULL OR c.held AND c.expires_at >= now())),
held AS (SELECT c.revision, c.validation AS name, c.expires_at >= now() AS lasts FROM claims c
	WHERE c.site = :site AND c.ended_at IS NULL AND c.held)
SELECT state, sum(n)::bigint FROM (
	SELECT CASE WHEN (w.revision, w.name) IN (SELECT revision, name FROM held WHERE lasts) THEN 'claimed'
		WHEN (w.revision, w.name) IN (SELECT revision, name FROM held) THEN 'lapsed' ELSE 'open' END AS state, 1 AS n
	FROM work w
	UNION ALL
	SELECT 'open', cardinality(open) FROM whole) s
GROUP BY state;
