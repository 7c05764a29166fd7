-- The rules that documents violate, each over an interval of revisions like a document's version. Revisions had a copy
-- of each violation outside of their payloads; from now on they only count them.
CREATE TABLE violations (
    site            text   NOT NULL,
    document        bigint NOT NULL,
    since           bigint NOT NULL,
    until           bigint,
    fork            bigint,
    rule            bytea  NOT NULL,
    client_versions bytea,
    PRIMARY KEY (site, since, document)
);
CREATE INDEX violations_live ON violations (site, document) WHERE until IS NULL;
CREATE INDEX violations_closed_since ON violations (site, fork, since) WHERE until IS NOT NULL;
CREATE INDEX violations_closed_until ON violations (site, fork, until) WHERE until IS NOT NULL;
ALTER TABLE revisions ADD COLUMN outside integer NOT NULL DEFAULT 0;
INSERT INTO violations (site, document, since, rule, client_versions)
SELECT f.site, f.document, f.revision, f.rule, f.client_versions
FROM failures f JOIN sites s ON s.site = f.site AND s.head = f.revision WHERE f.rule IS NOT NULL;
-- An older server fails to read this table. It would answer that a revision is good whose violations it does not see.
ALTER TABLE failures RENAME TO entries;
ALTER INDEX failures_pkey RENAME TO entries_pkey;
