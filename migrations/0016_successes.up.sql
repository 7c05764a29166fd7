-- The server's own validations that a revision passed without a message, as bits: see internal/store/evidence. Each had
-- two rows before, in nearly all revisions.
ALTER TABLE revisions ADD COLUMN succeeded smallint NOT NULL DEFAULT 0;
