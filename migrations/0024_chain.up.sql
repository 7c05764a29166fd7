-- chain is the chain value of a revision: the digest of a text about it and about the versions of documents that it
-- begins and ends (revisions.ChainText), NULL if an earlier version of the server made it. chain_previous and
-- chain_removed are parts of that text that cannot be found any more once the revision before is deleted.
ALTER TABLE revisions ADD COLUMN chain bytea;
ALTER TABLE revisions ADD COLUMN chain_previous bytea;
ALTER TABLE revisions ADD COLUMN chain_removed bytea;
