-- Statements by which a site is moved between databases. Those that copy its tables are made from their columns.

-- name: SealedWith
-- selects the beginnings of sealed texts, which name the keys that sealed them.
SELECT DISTINCT substr(sealed, 1, 5) FROM (
	SELECT sealed FROM contents WHERE site = :site AND sealed IS NOT NULL
	UNION ALL
	SELECT body FROM texts WHERE site = :site AND reference IS NOT NULL
	UNION ALL
	SELECT secret FROM webhooks WHERE site = :site
	UNION ALL
	SELECT previous FROM webhooks WHERE site = :site AND previous IS NOT NULL) s;

-- name: AdvanceIDs
-- has the next ids of a table be above :newest. Others take ids meanwhile, and no id may be given twice: the sequence is
-- set only if it is so far behind that they cannot overtake the statement, else it is advanced id by id.
SELECT CASE WHEN :newest::bigint - s.last > 100000 THEN setval(s.ids, :newest::bigint)
	ELSE (SELECT max(n.id) FROM (SELECT nextval(s.ids) AS id FROM generate_series(1, :newest::bigint - s.last)) n) END
FROM (SELECT ids, coalesce(pg_sequence_last_value(ids), 0) AS last
	FROM (SELECT pg_get_serial_sequence(:table, 'id')::regclass AS ids) i) s;

-- name: RenumberAudit
-- gives all entries of the audit later ids, in their order.
WITH old AS (DELETE FROM audit WHERE site = :site RETURNING *)
INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error,
	remote, request)
SELECT :site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error, remote, request
FROM (SELECT * FROM old ORDER BY id OFFSET 0) o;
