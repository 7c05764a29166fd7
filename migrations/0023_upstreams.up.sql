-- sources are the places in other sites that the documents of buckets were copied from, by bucket:
-- {"global": {"site": "shared", "revision": 17, "stamp": "00ab…", "bucket": "global"}}. Those of a site are of now, and
-- those of a revision of the time when it was made. NULL if no bucket was copied.
ALTER TABLE sites ADD COLUMN sources jsonb;
ALTER TABLE revisions ADD COLUMN sources jsonb;
