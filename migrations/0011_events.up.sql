-- What happens to a site, told to those who ask for it: internal/feed/doc.go has the protocol. The statement of a change
-- adds to the outbox, in the change's own transaction; whoever reads the feed first gives numbers to what is there.
CREATE TABLE outbox (
    site     text        NOT NULL,
    id       bigint      GENERATED ALWAYS AS IDENTITY, -- in the order of changes that could know of each other
    at       timestamptz NOT NULL DEFAULT now(),
    type     text        NOT NULL,
    revision bigint,               -- that it is about; null if it is about none or several
    subject  text        NOT NULL,
    data     text        NOT NULL, -- JSON, without anything about encrypted documents
    withheld text,                 -- the same for those who may see encrypted documents; null if that makes no difference
    PRIMARY KEY (site, id)
);

CREATE TABLE events (
    site     text        NOT NULL,
    number   bigint      NOT NULL, -- gapless
    at       timestamptz NOT NULL,
    type     text        NOT NULL,
    revision bigint,
    subject  text        NOT NULL,
    data     text        NOT NULL,
    withheld text,
    PRIMARY KEY (site, number)
);

-- The feed of a site: the number of its newest event, and that of the oldest which is kept. Whoever numbers events holds
-- the row. A purge does not touch it.
CREATE TABLE feeds (
    site   text   PRIMARY KEY REFERENCES sites (site) ON DELETE CASCADE,
    newest bigint NOT NULL,
    oldest bigint NOT NULL
);
INSERT INTO feeds SELECT site, 0, 1 FROM sites;

-- The verdicts that were told last, of the newest revision and of tagged ones. due is when a result expires that the
-- verdict rests on; null if none does. A verdict that is not known yet is due.
CREATE TABLE verdicts (
    site     text   NOT NULL,
    revision bigint NOT NULL,
    stamp    bigint NOT NULL,
    status   text   NOT NULL, -- success or failure; empty if it is not known yet
    due      timestamptz,
    PRIMARY KEY (site, revision)
);
INSERT INTO verdicts
SELECT r.site, r.revision, r.stamp, '', '-infinity' FROM revisions r JOIN sites s ON s.site = r.site
WHERE r.revision = s.head OR EXISTS (SELECT FROM tags t WHERE t.site = r.site AND t.revision = r.revision);
