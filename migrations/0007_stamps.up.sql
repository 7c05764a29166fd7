-- A random number in each revision, by which a database that went back in time, and then on with other changes, is told
-- from the one that was read before: revision numbers are used again there. A bucket has that of the revision that
-- changed it last, the site that of its newest revision, or of the last purge.
ALTER TABLE sites ADD COLUMN stamp bigint;
ALTER TABLE revisions ADD COLUMN stamp bigint;
ALTER TABLE buckets ADD COLUMN stamp bigint;

UPDATE revisions SET stamp = ('xc' || right(gen_random_uuid()::text, 12) || left(gen_random_uuid()::text, 3))::bit(64)::bigint;
UPDATE buckets b SET stamp = coalesce(
    (SELECT r.stamp FROM revisions r WHERE r.site = b.site AND r.revision = b.changed),
    ('xc' || right(gen_random_uuid()::text, 12) || left(gen_random_uuid()::text, 3))::bit(64)::bigint);
UPDATE sites s SET stamp = coalesce(
    (SELECT r.stamp FROM revisions r WHERE r.site = s.site AND r.revision = s.head),
    ('xc' || right(gen_random_uuid()::text, 12) || left(gen_random_uuid()::text, 3))::bit(64)::bigint);

-- Without a default: a server that does not know them cannot write what others would not notice.
ALTER TABLE sites ALTER COLUMN stamp SET NOT NULL;
ALTER TABLE revisions ALTER COLUMN stamp SET NOT NULL;
ALTER TABLE buckets ALTER COLUMN stamp SET NOT NULL;
