-- What appending a change looks at: the last revision in which the documents that govern others (DataSchemas, policies,
-- client versions), or the set of failing documents, changed. Of a database from before nothing is known.
ALTER TABLE sites ADD COLUMN settled bigint NOT NULL DEFAULT 0;
UPDATE sites SET settled = head;

-- The first message of a failure, so that a verdict reads no errors; null for what was posted before.
ALTER TABLE results ADD COLUMN message text;

-- Few users ask for many changes: without the id, an index holds each of them once.
DROP INDEX audit_user;
DROP INDEX audit_name;
CREATE INDEX audit_user ON audit (site, user_id);
CREATE INDEX audit_name ON audit (site, user_name) WHERE user_name <> '';
