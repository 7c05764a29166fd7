-- The URL of the commit that a change was made from, empty if it is unknown, as of all revisions until now; and the id of
-- that commit, as far as the URL has it, by which both are found.
ALTER TABLE revisions ADD COLUMN source text NOT NULL DEFAULT '';
ALTER TABLE revisions ADD COLUMN source_commit text COLLATE "C";
CREATE INDEX revisions_source_commit ON revisions (site, source_commit) WHERE source_commit IS NOT NULL;
