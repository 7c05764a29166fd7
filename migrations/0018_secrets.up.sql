-- Which failures depend on secrets, whether a revision has such a failure in any of the server's validations, and how many
-- of its last entries are such failures. Callers who may not see encrypted documents are told only whether there are any.
ALTER TABLE entries ADD COLUMN secret boolean NOT NULL DEFAULT false;
ALTER TABLE violations ADD COLUMN secret boolean NOT NULL DEFAULT false;
ALTER TABLE revisions ADD COLUMN secret_fails boolean NOT NULL DEFAULT false;
ALTER TABLE revisions ADD COLUMN secret_outside integer NOT NULL DEFAULT 0;
-- Of revisions that exist already, only the entries about encrypted documents are known, and all entries of the newest.
UPDATE entries e SET secret = true FROM documents d
WHERE d.site = e.site AND d.id = e.document AND d.encrypted AND e.rule IS NOT NULL;
UPDATE violations v SET secret = true FROM documents d WHERE d.site = v.site AND d.id = v.document AND d.encrypted;
UPDATE revisions r SET secret_fails = true
FROM (SELECT DISTINCT site, revision FROM entries WHERE secret) e WHERE r.site = e.site AND r.revision = e.revision;
UPDATE revisions r SET secret_fails = true, secret_outside = v.outside
FROM (SELECT s.site, s.head, count(*) AS outside FROM sites s JOIN violations v ON v.site = s.site
	WHERE v.until IS NULL AND v.secret
		AND v.document NOT IN (SELECT e.document FROM entries e WHERE e.site = s.site AND e.revision = s.head)
	GROUP BY s.site, s.head) v
WHERE r.site = v.site AND r.revision = v.head;
