-- Statements about waivers. Those that select waivers select the columns that scanWaiver reads.

-- name: AddWaiver
-- adds a waiver to a revision that has one of the stamps, or any if these are null, with its event and its audit entry.
-- The revision is not deleted before the transaction ends. It gives the time, the end of the waiver, whether the revision
-- has had fewer than :most waivers, and the id, which is null if the waiver was not added: because of these, because it
-- would have ended already, or because it would last longer than :longest.
WITH r AS (
	SELECT r.revision, now() AS at, coalesce(:until::timestamptz, now() + :lasts::interval) AS until,
		(SELECT count(*) < :most::bigint FROM waivers w WHERE w.site = :site AND w.revision = :revision) AS fits
	FROM revisions r WHERE r.site = :site AND r.revision = :revision
		AND (:stamps::bigint[] IS NULL OR r.stamp = ANY(:stamps)) FOR KEY SHARE),
done AS (
	INSERT INTO waivers (site, revision, validation, reason, user_id, user_name, created_at, until)
	SELECT :site, revision, :validation, :reason, :user_id, :user_name, at, until FROM r
	WHERE fits AND until > at AND until <= at + :longest::interval RETURNING *),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, :revision, a.status,
		a.error, a.remote, a.request
	FROM json_to_record(:audit) a (at timestamptz, user_id text, user_name text, project text, end_user text, rule text,
		method text, target text, status int, error text, remote text, request text)
	WHERE :audit::json IS NOT NULL AND EXISTS (SELECT FROM done)),
told AS (
	INSERT INTO outbox (site, type, revision, subject, data, withheld)
	SELECT :site, 'purser.waiver.created', revision, 'revisions/' || revision || '/waivers/' || id,
		json_build_object('revision', revision, 'id', id, 'validation', validation, 'reason', reason,
			'by', coalesce(nullif(user_name, ''), user_id),
			'expiresAt', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')), NULL FROM done)
SELECT r.at, r.until, r.fits, done.id FROM r LEFT JOIN done ON true;

-- name: EndWaiver
-- ends an active waiver of a revision that has one of the stamps, or any if these are null, as AddWaiver adds one. It gives
-- a row if the revision exists: whether it has the waiver, and whether this has ended it.
WITH r AS (
	SELECT r.revision FROM revisions r WHERE r.site = :site AND r.revision = :revision
		AND (:stamps::bigint[] IS NULL OR r.stamp = ANY(:stamps)) FOR KEY SHARE),
done AS (
	UPDATE waivers w SET ended_at = now(), ended_by = :ended_by FROM r
	WHERE w.site = :site AND w.revision = r.revision AND w.id = :id AND w.ended_at IS NULL AND w.until > now()
	RETURNING w.*),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, :revision, a.status,
		a.error, a.remote, a.request
	FROM json_to_record(:audit) a (at timestamptz, user_id text, user_name text, project text, end_user text, rule text,
		method text, target text, status int, error text, remote text, request text)
	WHERE :audit::json IS NOT NULL AND EXISTS (SELECT FROM done)),
told AS (
	INSERT INTO outbox (site, type, revision, subject, data, withheld)
	SELECT :site, 'purser.waiver.ended', revision, 'revisions/' || revision || '/waivers/' || id,
		json_build_object('revision', revision, 'id', id, 'validation', validation, 'by', ended_by), NULL FROM done)
SELECT EXISTS (SELECT FROM waivers w WHERE w.site = :site AND w.revision = :revision AND w.id = :id),
	EXISTS (SELECT FROM done)
FROM r;

-- name: CarryWaivers
-- copies the active waivers of another revision with their ends.
INSERT INTO waivers (site, revision, validation, reason, user_id, user_name, created_at, until, carried_from)
SELECT :site, :revision::bigint, validation, reason, user_id, user_name, created_at, until,
	coalesce(carried_from, revision)
FROM waivers WHERE site = :site AND revision = :from AND ended_at IS NULL AND until > now() ORDER BY id;

-- name: WaiversOf
SELECT now(), w.id, w.revision, w.validation, coalesce(nullif(w.user_name, ''), w.user_id), w.reason, w.created_at,
	w.until, w.ended_at, w.ended_by, coalesce(w.carried_from, 0)
FROM waivers w WHERE w.site = :site AND w.revision = :revision ORDER BY w.id;

-- name: AllWaivers
SELECT now(), w.id, w.revision, w.validation, coalesce(nullif(w.user_name, ''), w.user_id), w.reason, w.created_at,
	w.until, w.ended_at, w.ended_by, coalesce(w.carried_from, 0)
FROM waivers w WHERE w.site = :site ORDER BY coalesce(w.ended_at, w.until), w.id OFFSET :offset LIMIT :limit;

-- name: ActiveWaivers
SELECT now(), w.id, w.revision, w.validation, coalesce(nullif(w.user_name, ''), w.user_id), w.reason, w.created_at,
	w.until, w.ended_at, w.ended_by, coalesce(w.carried_from, 0)
FROM waivers w WHERE w.site = :site AND w.ended_at IS NULL AND w.until > now() ORDER BY w.until, w.id
OFFSET :offset LIMIT :limit;

-- name: CountWaivers
-- counts the active ones.
SELECT count(*) FROM waivers w WHERE w.site = :site AND w.ended_at IS NULL AND w.until > now();
