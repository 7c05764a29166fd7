-- Requirements of policies end: they do not apply, what holds is carried over, somebody works on it, or waives it.

-- inapplicable has the positions of the requirements that do not apply, among all those of the policies in force;
-- author_id is the ID of the user who made the revision.
ALTER TABLE revisions
	ADD COLUMN inapplicable integer[],
	ADD COLUMN author_id text NOT NULL DEFAULT '';

-- inputs is the selection of documents that a result depends on, in canonical form, and held the digest of those that it
-- selected: both null for a result that depends on the whole revision. author is the ID of the user who posted it, and
-- author_name the name, null if that is not known; claim is the claim that it ended.
ALTER TABLE results
	ADD COLUMN inputs text,
	ADD COLUMN held bytea,
	ADD COLUMN url text,
	ADD COLUMN author text,
	ADD COLUMN author_name text,
	ADD COLUMN claim uuid;
CREATE INDEX results_inputs ON results (site, name, created_at, id) WHERE inputs IS NOT NULL;
CREATE INDEX results_held ON results (site, name, held, created_at, id) WHERE held IS NOT NULL;

-- open has the names of the validations that a verdict lacks results of, and judged is when that was decided.
ALTER TABLE verdicts
	ADD COLUMN open text[] NOT NULL DEFAULT '{}',
	ADD COLUMN judged timestamptz NOT NULL DEFAULT '-infinity';
UPDATE verdicts SET due = '-infinity';

-- Work that was claimed or asked for: the result of a validation of a revision. tokens are the claims to it, the newest
-- first, of which the first holds the work if held is true. ended_at is when a result ended the work; if the result
-- expires, the work is open again.
CREATE TABLE claims (
	site         text        COLLATE "C" NOT NULL,
	revision     bigint      NOT NULL,
	validation   text        COLLATE "C" NOT NULL,
	tokens       uuid[]      NOT NULL DEFAULT '{}',
	held         boolean     NOT NULL DEFAULT false,
	worker       text        NOT NULL DEFAULT '',
	user_id      text        NOT NULL DEFAULT '',
	user_name    text        NOT NULL DEFAULT '',
	attempt      integer     NOT NULL DEFAULT 0, -- claims that ran out, and the present one
	since        timestamptz,                    -- when it was claimed
	expires_at   timestamptz,
	timeout      bigint      NOT NULL DEFAULT 0, -- milliseconds
	progress     text        NOT NULL DEFAULT '',
	requested_at timestamptz,                    -- null if nobody has asked for a new result
	reason       text        NOT NULL DEFAULT '',
	ended_at     timestamptz,
	PRIMARY KEY (site, revision, validation),
	FOREIGN KEY (site, revision) REFERENCES revisions ON DELETE CASCADE
);
CREATE INDEX claims_tokens ON claims USING gin (tokens) WITH (fastupdate = off);
CREATE INDEX claims_open ON claims (site, revision) WHERE ended_at IS NULL;

-- Permissions to use a revision although a validation is not a success, until a time.
CREATE TABLE waivers (
	site         text        COLLATE "C" NOT NULL,
	id           bigint      GENERATED ALWAYS AS IDENTITY,
	revision     bigint      NOT NULL,
	validation   text        COLLATE "C" NOT NULL,
	reason       text        NOT NULL,
	user_id      text        NOT NULL DEFAULT '',
	user_name    text        NOT NULL DEFAULT '',
	created_at   timestamptz NOT NULL,
	until        timestamptz NOT NULL,
	ended_at     timestamptz,                   -- when somebody ended it before that
	ended_by     text        NOT NULL DEFAULT '',
	carried_from bigint,                        -- the revision that a rollback took it over from
	PRIMARY KEY (site, id),
	FOREIGN KEY (site, revision) REFERENCES revisions ON DELETE CASCADE
);
CREATE INDEX waivers_revision ON waivers (site, revision);
CREATE INDEX waivers_active ON waivers (site, until) WHERE ended_at IS NULL;
