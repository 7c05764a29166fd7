-- One site, one line of revisions: the site is the first column of every key (design.md, decision 3).

-- The counters of a site. head is its newest revision, documents the last document id given out; epoch counts purges,
-- after which revision numbers begin again.
CREATE TABLE sites (
    site      text   PRIMARY KEY,
    epoch     bigint NOT NULL,
    head      bigint NOT NULL,
    documents bigint NOT NULL
);
INSERT INTO sites VALUES ('default', 1, 0, 0);

CREATE TABLE revisions (
    site       text        NOT NULL,
    revision   bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    buckets    text[]      NOT NULL, -- those written in this revision
    entries    integer     NOT NULL, -- how many entries its schema validation has; those that are no plain success are in failures
    PRIMARY KEY (site, revision)
);

CREATE TABLE buckets (
    site    text   NOT NULL,
    bucket  text   NOT NULL,
    changed bigint NOT NULL, -- the revision that changed its documents last
    PRIMARY KEY (site, bucket)
);

-- What documents say, once for each content. body is JSON text, zstd-compressed where that is shorter. passed
-- is the check that the content passed when it came, by its digest; the outcomes of all others are in checks.
CREATE TABLE contents (
    site   text  NOT NULL,
    digest bytea NOT NULL,
    passed bytea,
    body   bytea NOT NULL,
    PRIMARY KEY (site, digest)
);
ALTER TABLE contents ALTER COLUMN body SET STORAGE EXTERNAL; -- compressed already

-- A version of a document is valid from revision since until before revision until; until is null while it is live.
-- fork places a closed version in a tree over the revision numbers, so that the versions valid in any one revision are
-- found by index alone (internal/store/interval.go).
CREATE TABLE documents (
    site     text   NOT NULL,
    id       bigint NOT NULL,
    place    bigint NOT NULL, -- the id of the identity's first version: the order in which documents are listed
    since    bigint NOT NULL,
    until    bigint,
    fork     bigint,
    bucket   text   NOT NULL,
    schema   text   NOT NULL,
    layer    text   NOT NULL, -- '' for none
    name     text   NOT NULL,
    content  bytea  NOT NULL,
    segment  bytea,           -- digest of the text it was read from
    metadata text   NOT NULL, -- canonical JSON
    notes    text,            -- JSON list
    PRIMARY KEY (site, id)
);
CREATE UNIQUE INDEX documents_live ON documents (site, schema, layer, name) WHERE until IS NULL;
CREATE UNIQUE INDEX documents_live_singleton ON documents (site)
    WHERE until IS NULL AND schema LIKE 'deckhand/LayeringPolicy/%';
CREATE INDEX documents_live_bucket ON documents (site, bucket, since) WHERE until IS NULL;
CREATE INDEX documents_closed_since ON documents (site, fork, since) WHERE until IS NOT NULL;
CREATE INDEX documents_closed_until ON documents (site, fork, until) WHERE until IS NOT NULL;
CREATE INDEX documents_policies ON documents (site, since) WHERE schema LIKE 'deckhand/ValidationPolicy/%';

-- The outcomes of checks, by the digest of (engine, rule, content); findings is null for a success.
CREATE TABLE checks (
    site     text  NOT NULL,
    pair     bytea NOT NULL,
    findings text,
    PRIMARY KEY (site, pair)
);

-- The entries of a revision's schema validation that are more than a plain success: a failure of a rule, or notes only.
CREATE TABLE failures (
    site     text    NOT NULL,
    revision bigint  NOT NULL,
    entry    integer NOT NULL,
    document bigint  NOT NULL,
    rule     bytea,            -- null for notes only
    notes    text,             -- JSON list
    PRIMARY KEY (site, revision, entry)
);

-- The names under which results were posted about a revision: the latest of each is found without reading the others.
CREATE TABLE reported (
    site     text   NOT NULL,
    revision bigint NOT NULL,
    name     text   NOT NULL,
    PRIMARY KEY (site, revision, name),
    FOREIGN KEY (site, revision) REFERENCES revisions ON DELETE CASCADE
);

-- The results that other services posted, for good and in order.
CREATE TABLE results (
    site       text        NOT NULL,
    revision   bigint      NOT NULL,
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    status     text        NOT NULL,
    validator  text        NOT NULL, -- JSON
    errors     text        NOT NULL, -- JSON list
    created_at timestamptz NOT NULL,
    PRIMARY KEY (site, revision, name, id),
    FOREIGN KEY (site, revision) REFERENCES revisions ON DELETE CASCADE
);
