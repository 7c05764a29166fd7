-- Statements about tags, results and policies. The numbers (bit, name) are those of bitOf: a success of the validation
-- without a message is that bit of the revision.

-- name: TagsOf
SELECT tag, data FROM tags WHERE site = :site AND revision = :revision AND (:names::text[] IS NULL OR tag = ANY(:names))
ORDER BY tag;

-- name: TaggedRevision
SELECT coalesce(max(revision), 0) FROM tags WHERE site = :site AND tag = :tag;

-- name: SetTag
-- sets a tag of a revision that has one of the stamps, or any if these are null, and adds the event and the audit entry.
-- It does nothing if the revision's other tags leave no room: they have :max_tags items or, with this one, :max_bytes.
WITH done AS (
	INSERT INTO tags (site, revision, tag, data) SELECT :site, r.revision, :tag, :data FROM revisions r
	WHERE r.site = :site AND r.revision = :revision AND (:stamps::bigint[] IS NULL OR r.stamp = ANY(:stamps))
		AND (SELECT count(*) < :max_tags::bigint AND coalesce(sum(octet_length(t.tag) + octet_length(t.data)), 0) +
			octet_length(:tag::text) + octet_length(:data::text) <= :max_bytes::bigint
			FROM tags t WHERE t.site = :site AND t.revision = :revision AND t.tag <> :tag)
	ON CONFLICT (site, revision, tag) DO UPDATE SET data = excluded.data RETURNING tag),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, :revision, a.status,
		a.error, a.remote, a.request
	FROM json_to_record(:audit) a (at timestamptz, user_id text, user_name text, project text, end_user text, rule text,
		method text, target text, status int, error text, remote text, request text)
	WHERE :audit::json IS NOT NULL AND EXISTS (SELECT FROM done))
INSERT INTO outbox (site, type, revision, subject, data, withheld)
SELECT :site, 'purser.tag.set', :revision::bigint, 'revisions/' || :revision::bigint || '/tags/' || tag,
	json_build_object('revision', :revision::bigint, 'tag', tag), NULL FROM done;

-- name: DeleteTags
-- deletes the tags with the names, or all if these are null, as SetTag sets one.
WITH done AS (
	DELETE FROM tags WHERE site = :site AND revision = :revision AND (:names::text[] IS NULL OR tag = ANY(:names))
		AND EXISTS (SELECT FROM revisions r WHERE r.site = :site AND r.revision = :revision
			AND (:stamps::bigint[] IS NULL OR r.stamp = ANY(:stamps))) RETURNING tag),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, :revision, a.status,
		a.error, a.remote, a.request
	FROM json_to_record(:audit) a (at timestamptz, user_id text, user_name text, project text, end_user text, rule text,
		method text, target text, status int, error text, remote text, request text)
	WHERE :audit::json IS NOT NULL AND EXISTS (SELECT FROM done))
INSERT INTO outbox (site, type, revision, subject, data, withheld)
SELECT :site, 'purser.tag.deleted', :revision::bigint, 'revisions/' || :revision::bigint || '/tags/' || tag,
	json_build_object('revision', :revision::bigint, 'tag', tag), NULL FROM done;

-- name: AddResults
-- adds posts to their revisions, unless these have other stamps: the results, their names, their events and their audit
-- entries. The revisions are not deleted before the transaction ends. Revisions and names are locked in their order, so
-- that groups of several servers, and prunes, do not wait for one another. It gives the number of each post whose
-- revision exists, the stamp of the revision, and whether the post fits: not if the revision has results of :max_names
-- other validations or, with this one, names of :max_bytes; and whether its claim holds the work, or it has none. Posts
-- without both are not added. A result ends the work on it; of several with the same claim only one is added.
WITH found AS (
	SELECT p.*, r.stamp,
		(SELECT count(*) < :max_names::bigint
				AND coalesce(sum(octet_length(t.name)), 0) + octet_length(p.name) <= :max_bytes::bigint
			FROM reported t WHERE t.site = :site AND t.revision = p.revision AND t.name <> p.name)
		OR EXISTS (SELECT FROM reported t WHERE t.site = :site AND t.revision = p.revision AND t.name = p.name) AS fits
	FROM (SELECT p.* FROM json_to_recordset(:posts) p (n int, revision bigint, stamps bigint[], name text,
			status text, validator text, errors text, at timestamptz, message text, inputs text, held text, url text,
			user_id text, user_name text, claim uuid, event json, audit json)
		ORDER BY revision, name) p
	CROSS JOIN LATERAL (SELECT stamp FROM revisions r WHERE r.site = :site AND r.revision = p.revision
		AND (p.stamps IS NULL OR r.stamp = ANY(p.stamps)) FOR KEY SHARE) r),
worked AS (
	SELECT f.n, f.revision, f.name, f.claim FROM found f CROSS JOIN LATERAL (
		SELECT c.tokens, c.held, c.since FROM claims c WHERE c.site = :site AND c.revision = f.revision
			AND c.validation = f.name AND c.ended_at IS NULL FOR NO KEY UPDATE) c
	WHERE f.fits AND (f.claim IS NULL OR c.held AND c.tokens[1] = f.claim AND c.since >= now() - :age::interval)),
ending AS (SELECT DISTINCT ON (revision, name) * FROM worked ORDER BY revision, name, claim IS NULL, n),
ended AS (
	UPDATE claims c SET ended_at = now(), held = false, attempt = 0, progress = '', requested_at = NULL, reason = ''
	FROM ending e WHERE c.site = :site AND c.revision = e.revision AND c.validation = e.name RETURNING e.n),
r AS (SELECT * FROM found f WHERE f.fits AND (f.claim IS NULL OR f.n IN (SELECT n FROM ended))),
named AS (
	INSERT INTO reported (site, revision, name) SELECT DISTINCT :site, revision, name FROM r
	ORDER BY revision, name ON CONFLICT DO NOTHING),
added AS (
	INSERT INTO results (site, revision, name, status, validator, errors, created_at, message, inputs, held, url, author,
		author_name, claim)
	SELECT :site, revision, name, status, validator, errors, coalesce(at, now()), message, inputs,
		decode(nullif(held, ''), 'hex'), url, user_id, user_name, claim FROM r ORDER BY n),
events AS (
	INSERT INTO outbox (site, type, revision, subject, data, withheld)
	SELECT :site, e.type, revision, e.subject, e.data, e.withheld FROM r CROSS JOIN LATERAL json_to_record(r.event)
		e (type text, subject text, data text, withheld text) ORDER BY n),
audited AS (
	INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
		remote, request)
	SELECT :site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, revision, a.status,
		a.error, a.remote, a.request
	FROM r CROSS JOIN LATERAL json_to_record(r.audit) a (at timestamptz, user_id text, user_name text, project text,
		end_user text, rule text, method text, target text, status int, error text, remote text, request text)
	WHERE r.audit IS NOT NULL ORDER BY n)
SELECT n, stamp, fits, claim IS NULL OR n IN (SELECT n FROM ended) FROM found;

-- name: InsertReported
INSERT INTO reported (site, revision, name) VALUES (:site, :revision, :name) ON CONFLICT DO NOTHING;

-- name: InsertResult
INSERT INTO results (site, revision, name, status, validator, errors, created_at, message)
VALUES (:site, :revision, :name, :status, :validator, :errors, coalesce(:at, now()), :message);

-- name: CarryResults
-- copies the newest result of each name from another revision, and that of each user for the names :voted, except for the
-- server's own validations, most of which have the reserved prefix.
WITH carried AS (
	INSERT INTO results (site, revision, name, status, validator, errors, created_at, message, carried_from, inputs, held,
		url, author, author_name)
	SELECT :site, :revision, n.name, x.status, x.validator, x.errors, x.created_at, x.message,
		coalesce(x.carried_from, x.revision), x.inputs, x.held, x.url, x.author, x.author_name
	FROM reported n CROSS JOIN LATERAL (
		(SELECT * FROM results WHERE NOT n.name = ANY(:voted::text[])
			AND site = :site AND revision = n.revision AND name = n.name ORDER BY id DESC LIMIT 1)
		UNION ALL
		(SELECT DISTINCT ON (author) * FROM results WHERE n.name = ANY(:voted::text[])
			AND site = :site AND revision = n.revision AND name = n.name ORDER BY author, id DESC)) x
	WHERE n.site = :site AND n.revision = :from AND NOT starts_with(n.name, 'deckhand-')
		AND n.name NOT IN ('purser-coverage-validation', 'puppet-override-validation', 'murano-package-validation')
	ORDER BY x.id
	RETURNING name)
INSERT INTO reported (site, revision, name) SELECT DISTINCT :site, :revision::bigint, name FROM carried;

-- name: InputsOf
-- selects the inputs of the newest result with inputs of each of the validations.
SELECT n.name, x.inputs FROM unnest(:names::text[]) n (name) CROSS JOIN LATERAL (
	SELECT r.inputs FROM results r WHERE r.site = :site AND r.name = n.name AND r.inputs IS NOT NULL
	ORDER BY r.created_at DESC, r.id DESC LIMIT 1) x;

-- name: HeldResults
-- selects, in order of time, the newest result of each name that depends on documents with the digest or, if :each is true
-- for it, the newest of each user among the last thousand, but no success of the :author: who makes a revision does not
-- approve it by that.
SELECT x.id, x.revision, x.name, x.status, x.created_at, coalesce(x.carried_from, x.revision), x.inputs, coalesce(x.url, ''),
	coalesce(nullif(x.author_name, ''), x.author, ''), x.validator
FROM unnest(:names::text[], :digests::bytea[], :each::boolean[]) h (name, digest, each) CROSS JOIN LATERAL (
	SELECT DISTINCT ON (CASE WHEN h.each THEN r.author END) r.* FROM (
		SELECT r.* FROM results r WHERE r.site = :site AND r.name = h.name AND r.held = h.digest
		ORDER BY r.created_at DESC, r.id DESC LIMIT CASE WHEN h.each THEN 1000 ELSE 1 END) r
	WHERE NOT h.each OR r.author IS NOT NULL
	ORDER BY CASE WHEN h.each THEN r.author END, r.created_at DESC, r.id DESC) x
WHERE (h.each AND x.status = 'success' AND x.author = nullif(:author::text, '')) IS NOT TRUE
ORDER BY x.created_at, x.id;

-- name: CopyHeld
-- copies results to a revision that is being made.
WITH copied AS (
	INSERT INTO results (site, revision, name, status, validator, errors, created_at, message, carried_from, inputs, held,
		url, author, author_name)
	SELECT :site, :revision, x.name, x.status, x.validator, x.errors, x.created_at, x.message,
		coalesce(x.carried_from, x.revision), x.inputs, x.held, x.url, x.author, x.author_name
	FROM unnest(:revisions::bigint[], :names::text[], :ids::bigint[]) c (revision, name, id)
	JOIN results x ON x.site = :site AND x.revision = c.revision AND x.name = c.name AND x.id = c.id
	ORDER BY x.created_at, x.id RETURNING name)
INSERT INTO reported (site, revision, name) SELECT DISTINCT :site, :revision::bigint, name FROM copied
ON CONFLICT DO NOTHING;

-- name: SettledHead
-- waits until no change is being appended: it conflicts with LockBase.
SELECT head FROM sites WHERE site = :site FOR KEY SHARE;

-- name: CarryHeld
-- copies the results that HeldResults selects for a digest to a revision that still is the newest, if all are
-- successes: those than which the revision has no newer one, of the same user if :each is true, and then none of the
-- revision's author. It adds the event.
WITH held AS (
	SELECT x.*, coalesce(x.carried_from, x.revision) AS origin,
		(:each::boolean AND x.author = nullif(r.author_id, '')) IS TRUE AS own FROM sites s
	JOIN revisions r ON r.site = :site AND r.revision = s.head AND r.stamp = :stamp
	CROSS JOIN LATERAL (
		SELECT DISTINCT ON (CASE WHEN :each::boolean THEN x.author END) x.* FROM (
			SELECT x.* FROM results x WHERE x.site = :site AND x.name = :name AND x.held = :held
			ORDER BY x.created_at DESC, x.id DESC LIMIT CASE WHEN :each::boolean THEN 1000 ELSE 1 END) x
		WHERE NOT :each::boolean OR x.author IS NOT NULL
		ORDER BY CASE WHEN :each::boolean THEN x.author END, x.created_at DESC, x.id DESC) x
	WHERE s.site = :site AND s.head = :revision),
found AS (
	SELECT * FROM held x WHERE NOT x.own AND NOT EXISTS (SELECT FROM held h WHERE h.status <> 'success') AND NOT EXISTS (
		SELECT FROM results h WHERE h.site = :site AND h.revision = :revision AND h.name = :name
			AND h.created_at >= x.created_at AND (NOT :each::boolean OR h.author IS NOT DISTINCT FROM x.author))),
named AS (
	INSERT INTO reported (site, revision, name) SELECT DISTINCT :site, :revision::bigint, name FROM found
	ON CONFLICT DO NOTHING),
copied AS (
	INSERT INTO results (site, revision, name, status, validator, errors, created_at, message, carried_from, inputs, held,
		url, author, author_name)
	SELECT :site, :revision, x.name, x.status, x.validator, x.errors, x.created_at, x.message, x.origin, x.inputs, x.held,
		x.url, x.author, x.author_name FROM found x ORDER BY x.created_at, x.id)
INSERT INTO outbox (site, type, revision, subject, data, withheld)
SELECT DISTINCT :site, 'purser.validation.posted', :revision::bigint, :subject, :data, NULL FROM found;

-- name: CarriedOutcomes
-- selects the outcomes that CarryResults copies, with the columns of OutcomesAbout.
SELECT n.revision, n.name, x.status, x.created_at, coalesce(x.message, ''),
	CASE WHEN x.status <> 'success' AND x.message IS NULL THEN x.errors END, NULL::text,
	coalesce(x.carried_from, x.revision), coalesce(x.inputs, ''), coalesce(x.url, ''),
	coalesce(nullif(x.author_name, ''), x.author, '')
FROM reported n CROSS JOIN LATERAL (SELECT * FROM results
	WHERE site = :site AND revision = n.revision AND name = n.name ORDER BY id DESC LIMIT 1) x
WHERE n.site = :site AND n.revision = :from AND NOT starts_with(n.name, 'deckhand-')
	AND n.name NOT IN ('purser-coverage-validation', 'puppet-override-validation', 'murano-package-validation');

-- name: RevisionsAbout
-- selects revisions with their tags, after the time: those with :numbers, or else the newest one with :tag, or else the
-- newest one. It uses an index for each of them: with a condition on the list, all rows of a site would be read while
-- these are few. The columns are those that scanRevision reads.
SELECT o.* FROM (
	SELECT DISTINCT unnest(CASE WHEN :numbers::bigint[] IS NOT NULL THEN :numbers
		WHEN :tag::text IS NOT NULL THEN ARRAY(SELECT max(revision) FROM tags WHERE site = :site AND tag = :tag)
		ELSE ARRAY(SELECT head FROM sites WHERE site = :site) END)) l (revision)
CROSS JOIN LATERAL (
	SELECT now(), ARRAY(SELECT t.tag FROM tags t WHERE t.site = :site AND t.revision = r.revision ORDER BY t.tag),
		r.revision, r.created_at, r.buckets, r.entries, r.kind, r.author, r.message, r.source, coalesce(r.origin, 0),
		r.outside > 0 OR r.secret_fails
			OR EXISTS (SELECT FROM entries f WHERE f.site = :site AND f.revision = r.revision AND f.rule IS NOT NULL),
		r.client_versions, r.stamp, r.secret_fails, r.secret_outside, r.inapplicable, r.sources,
		r.chain, r.chain_previous, r.chain_removed
	FROM revisions r WHERE r.site = :site AND r.revision = l.revision OFFSET 0) o
ORDER BY revision;

-- name: PoliciesAbout
-- selects the policies in force in any of the revisions of RevisionsAbout. For the newest revision it reads no versions
-- that were deleted or replaced. The columns are those that scanPolicy reads.
WITH asked AS MATERIALIZED (
	SELECT unnest(CASE WHEN :numbers::bigint[] IS NOT NULL THEN :numbers
		WHEN :tag::text IS NOT NULL THEN ARRAY(SELECT max(revision) FROM tags WHERE site = :site AND tag = :tag)
		ELSE ARRAY(SELECT head FROM sites WHERE site = :site) END) AS revision)
SELECT d.place, d.since, coalesce(d.until, 0), d.schema, d.layer, d.name, d.content FROM documents d
WHERE d.site = :site AND d.until IS NULL
	AND d.schema >= 'deckhand/ValidationPolicy/' AND d.schema < 'deckhand/ValidationPolicy0'
	AND d.since <= (SELECT max(revision) FROM asked)
UNION ALL
SELECT d.place, d.since, coalesce(d.until, 0), d.schema, d.layer, d.name, d.content FROM documents d
WHERE d.site = :site AND d.schema LIKE 'deckhand/ValidationPolicy/%' AND d.until IS NOT NULL
	AND d.since <= (SELECT max(revision) FROM asked)
	AND (SELECT min(revision) FROM asked) < (SELECT head FROM sites WHERE site = :site)
	AND EXISTS (SELECT FROM asked a WHERE d.since <= a.revision AND d.until > a.revision)
ORDER BY 1;

-- name: OutcomesAbout
-- selects the newest result of each name in the revisions of RevisionsAbout. The errors of a result are read only for a
-- failure without a recorded first message, its validator only if :validators is true and it is short, and its inputs
-- only if one revision is asked for: those of many could be large.
SELECT o.* FROM (
	SELECT DISTINCT unnest(CASE WHEN :numbers::bigint[] IS NOT NULL THEN :numbers
		WHEN :tag::text IS NOT NULL THEN ARRAY(SELECT max(revision) FROM tags WHERE site = :site AND tag = :tag)
		ELSE ARRAY(SELECT head FROM sites WHERE site = :site) END)) l (revision)
CROSS JOIN LATERAL (
	SELECT n.revision, n.name, x.status, x.created_at, coalesce(x.message, ''),
		CASE WHEN x.status <> 'success' AND x.message IS NULL THEN x.errors END,
		CASE WHEN :validators AND octet_length(x.validator) <= 1000 THEN x.validator END, coalesce(x.carried_from, 0),
		CASE WHEN cardinality(:numbers::bigint[]) > 1 THEN '' ELSE coalesce(x.inputs, '') END, coalesce(x.url, ''),
		coalesce(nullif(x.author_name, ''), x.author, '')
	FROM reported n CROSS JOIN LATERAL (SELECT status, created_at, message, errors, validator, carried_from, inputs, url,
			author, author_name FROM results
		WHERE site = :site AND revision = n.revision AND name = n.name ORDER BY id DESC LIMIT 1) x
	WHERE n.site = :site AND n.revision = l.revision
	UNION ALL
	SELECT r.revision, own.name, 'success', r.created_at, '', NULL::text, NULL::text, 0, '', '', ''
	FROM revisions r JOIN (VALUES (1, 'deckhand-policy-validation'), (2, 'deckhand-rendering-validation'),
		(4, 'purser-coverage-validation'), (8, 'puppet-override-validation'), (16, 'murano-package-validation'))
		own (bit, name) ON r.succeeded & own.bit <> 0
	WHERE r.site = :site AND r.revision = l.revision OFFSET 0) o;

-- name: StandingAbout
-- selects the claims to work on the revisions of RevisionsAbout, with the worker, when it was claimed and the attempt; and
-- their active waivers, with the user, the end and the id, in order.
WITH asked AS MATERIALIZED (
	SELECT unnest(CASE WHEN :numbers::bigint[] IS NOT NULL THEN :numbers
		WHEN :tag::text IS NOT NULL THEN ARRAY(SELECT max(revision) FROM tags WHERE site = :site AND tag = :tag)
		ELSE ARRAY(SELECT head FROM sites WHERE site = :site) END) AS revision)
SELECT false, c.revision, c.validation, c.worker, '', c.since, c.attempt::bigint FROM asked a CROSS JOIN LATERAL (
	SELECT c.* FROM claims c
	WHERE c.site = :site AND c.revision = a.revision AND c.ended_at IS NULL AND c.held OFFSET 0) c
UNION ALL
SELECT true, w.revision, w.validation, coalesce(nullif(w.user_name, ''), w.user_id), w.reason, w.until, w.id
FROM asked a CROSS JOIN LATERAL (
	SELECT w.* FROM waivers w
	WHERE w.site = :site AND w.revision = a.revision AND w.ended_at IS NULL AND w.until > now() OFFSET 0) w
ORDER BY 7;

-- name: VotesAbout
-- selects the newest result of each user of the validations with :names in revisions, failures first, then the newest
-- first: as many as approvals can be needed.
SELECT v.revision, v.name, v.voter, v.status, v.created_at, v.message, v.errors
FROM unnest(:numbers::bigint[]) r (revision) CROSS JOIN LATERAL (
	SELECT n.name FROM reported n WHERE n.site = :site AND n.revision = r.revision
		AND n.name IN (SELECT unnest(:names::text[])) OFFSET 0) n CROSS JOIN LATERAL (
	SELECT u.* FROM (
		SELECT DISTINCT ON (x.author) x.revision, x.name, coalesce(nullif(x.author_name, ''), x.author) AS voter, x.status,
			x.created_at, x.message, CASE WHEN x.status <> 'success' AND x.message IS NULL THEN x.errors END AS errors
		FROM results x WHERE x.site = :site AND x.revision = r.revision AND x.name = n.name AND x.author IS NOT NULL
		ORDER BY x.author, x.id DESC) u
	ORDER BY u.status = 'success', u.created_at DESC LIMIT 10) v;

-- name: SiteState
-- selects the time and the state of a site, which its newest event identifies: a transaction that changes evidence adds
-- an event, and numbering that event makes it or a later one the newest. The state is empty while events wait to be
-- numbered. These are looked for by index, because other plans would visit all that were deleted lately.
SELECT now(), coalesce((SELECT f.newest || ' ' || e.at FROM feeds f
	JOIN events e ON e.site = :site AND e.number = f.newest
	WHERE f.site = :site AND (SELECT id FROM outbox WHERE site = :site ORDER BY id LIMIT 1) IS NULL), '');

-- name: ReportedOf
-- selects results by name and id, first those of the server's own validations, with the sizes of their texts. Those of
-- the server's are without one of the texts :hidden at the end, which stand for warnings that depend on secrets: a page
-- that ends by the size must not depend on them. The sizes of those of others include their inputs. Neither is read.
SELECT id, name, status, created_at, size, carried_from FROM (
	SELECT id, name, status, created_at, octet_length(errors) - CASE WHEN starts_with(name, 'deckhand-')
			OR name IN ('purser-coverage-validation', 'puppet-override-validation', 'murano-package-validation') THEN coalesce((
		SELECT octet_length(hidden) + CASE WHEN errors = '[' || hidden || ']' THEN 0 ELSE 1 END
		FROM unnest(:hidden::text[]) hidden
		WHERE right(errors, length(hidden) + 1) = hidden || ']'), 0) ELSE -coalesce(octet_length(inputs), 0) END AS size,
		coalesce(carried_from, 0) AS carried_from
	FROM results WHERE site = :site AND revision = :revision
	UNION ALL
	SELECT 0, own.name, 'success', r.created_at, octet_length('[]'), 0
	FROM revisions r JOIN (VALUES (1, 'deckhand-policy-validation'), (2, 'deckhand-rendering-validation'),
		(4, 'purser-coverage-validation'), (8, 'puppet-override-validation'), (16, 'murano-package-validation'))
		own (bit, name) ON r.succeeded & own.bit <> 0
	WHERE r.site = :site AND r.revision = :revision) x
WHERE :name = '' OR name = :name
ORDER BY (SELECT own.bit FROM (VALUES (1, 'deckhand-policy-validation'), (2, 'deckhand-rendering-validation'),
	(4, 'purser-coverage-validation'), (8, 'puppet-override-validation'), (16, 'murano-package-validation'))
	own (bit, name) WHERE own.name = x.name), id;

-- name: TextsOfResults
SELECT id, errors, coalesce(inputs, ''), coalesce(url, ''), coalesce(nullif(author_name, ''), author, '') FROM results
WHERE site = :site AND revision = :revision AND id = ANY(:ids);

-- name: WorstResults
-- looks for one failure of each name.
SELECT n.name, coalesce(x.status, 'success') FROM reported n LEFT JOIN LATERAL (
	SELECT status FROM results WHERE site = :site AND revision = n.revision AND name = n.name
		AND status <> 'success' ORDER BY status LIMIT 1) x ON true
WHERE n.site = :site AND n.revision = :revision
UNION ALL
SELECT own.name, 'success'
FROM revisions r JOIN (VALUES (1, 'deckhand-policy-validation'), (2, 'deckhand-rendering-validation'),
	(4, 'purser-coverage-validation'), (8, 'puppet-override-validation'), (16, 'murano-package-validation'))
	own (bit, name) ON r.succeeded & own.bit <> 0
WHERE r.site = :site AND r.revision = :revision;
