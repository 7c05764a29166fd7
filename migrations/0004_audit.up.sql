-- Who asked for which change, when, from where, and what came of it. Only what is known to have come from somebody
-- stands here. A purge leaves it, so that a revision's number may have been given twice.
CREATE TABLE audit (
    site      text        NOT NULL,
    id        bigint      GENERATED ALWAYS AS IDENTITY,
    at        timestamptz NOT NULL,
    user_id   text        NOT NULL, -- the caller's
    user_name text        NOT NULL, -- the same; may be empty, as what follows
    project   text        NOT NULL,
    end_user  text        NOT NULL, -- who the caller says the change is for
    rule      text        NOT NULL, -- that the caller had to pass
    method    text        NOT NULL,
    target    text        NOT NULL, -- path and query
    revision  bigint,               -- that was made, or that the change was about; null if neither
    status    integer     NOT NULL, -- of the answer
    error     text        NOT NULL, -- its errorType
    remote    text        NOT NULL, -- address of the client, or of what stands before it
    request   text        NOT NULL, -- id of the request
    PRIMARY KEY (site, id)
);
CREATE INDEX audit_revision ON audit (site, revision, id) WHERE revision IS NOT NULL;
CREATE INDEX audit_user     ON audit (site, user_id, id);
CREATE INDEX audit_name     ON audit (site, user_name, id);
CREATE INDEX audit_at       ON audit (site, at);
