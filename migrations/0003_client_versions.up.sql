-- Property groups judge documents by the versions of client plugins: the digest of those that counted, null for none.
ALTER TABLE revisions ADD COLUMN client_versions bytea;
ALTER TABLE failures  ADD COLUMN client_versions bytea;
