-- What an orchestrator does with revisions besides filling buckets: select, tag, compare, roll back, prune.

-- prunes counts prunes, after which contents that were there may be gone; live is how many documents head has. The
-- others tell of the last purge.
ALTER TABLE sites
    ADD COLUMN prunes        bigint NOT NULL DEFAULT 0,
    ADD COLUMN live          bigint NOT NULL DEFAULT 0,
    ADD COLUMN purged_at     timestamptz,
    ADD COLUMN purged_by     text NOT NULL DEFAULT '',
    ADD COLUMN purge_message text NOT NULL DEFAULT '';
UPDATE sites s SET live = (SELECT count(*) FROM documents d WHERE d.site = s.site AND d.until IS NULL);

ALTER TABLE revisions
    ADD COLUMN kind    text NOT NULL DEFAULT 'put', -- put, changeset or rollback
    ADD COLUMN author  text NOT NULL DEFAULT '',
    ADD COLUMN message text NOT NULL DEFAULT '',
    ADD COLUMN origin  bigint;                      -- the revision a rollback went back to

-- Names are ordered by bytes, whatever the database's own order: answers do not depend on it, and a prefix is a range.
ALTER TABLE documents
    ALTER COLUMN bucket TYPE text COLLATE "C",
    ALTER COLUMN schema TYPE text COLLATE "C",
    ALTER COLUMN layer  TYPE text COLLATE "C",
    ALTER COLUMN name   TYPE text COLLATE "C",
    ADD COLUMN abstract boolean NOT NULL DEFAULT false,
    ADD COLUMN labels   jsonb; -- those that are strings; null for none
ALTER TABLE buckets ALTER COLUMN bucket TYPE text COLLATE "C";
UPDATE documents SET abstract = coalesce(metadata::jsonb -> 'layeringDefinition' -> 'abstract' = 'true', false),
    labels = (SELECT jsonb_object_agg(key, value)
        FROM jsonb_each(CASE WHEN jsonb_typeof(metadata::jsonb -> 'labels') = 'object' THEN metadata::jsonb -> 'labels' END)
        WHERE jsonb_typeof(value) = 'string');

-- By name, live versions (fork is null) and those at a node alike: of one identity there is at most one at each.
CREATE INDEX documents_name ON documents (site, name, fork);
CREATE INDEX documents_layering ON documents (site, since) WHERE schema LIKE 'deckhand/LayeringPolicy/%';
CREATE INDEX documents_live_noted ON documents (site) WHERE until IS NULL AND notes IS NOT NULL;

-- When a bucket had documents: from revision since until before revision until; until is null while it has.
CREATE TABLE occupancies (
    site   text   NOT NULL,
    bucket text   COLLATE "C" NOT NULL,
    since  bigint NOT NULL,
    until  bigint,
    PRIMARY KEY (site, bucket, since)
);
WITH events AS (
    SELECT site, bucket, since AS revision, 1 AS step FROM documents
    UNION ALL SELECT site, bucket, until, -1 FROM documents WHERE until IS NOT NULL
), counts AS (
    SELECT site, bucket, revision, sum(sum(step)) OVER (PARTITION BY site, bucket ORDER BY revision) > 0 AS occupied
    FROM events GROUP BY site, bucket, revision
), turns AS (
    SELECT *, lag(occupied, 1, false) OVER (PARTITION BY site, bucket ORDER BY revision) AS was FROM counts
), tenures AS (
    SELECT *, lead(revision) OVER (PARTITION BY site, bucket ORDER BY revision) AS ended FROM turns WHERE occupied <> was
)
INSERT INTO occupancies SELECT site, bucket, revision, ended FROM tenures WHERE occupied;

-- Names that people give to revisions. No cascade: a revision that was just tagged must not go with a prune.
CREATE TABLE tags (
    site     text   NOT NULL,
    revision bigint NOT NULL,
    tag      text   COLLATE "C" NOT NULL,
    data     text   NOT NULL, -- JSON mapping
    PRIMARY KEY (site, revision, tag),
    FOREIGN KEY (site, revision) REFERENCES revisions
);
CREATE INDEX tags_tag ON tags (site, tag, revision);
