-- Documents as they were submitted. body holds up to 32 texts, compressed, or one that is sealed for the document that
-- reference names, since it has a secret. Earlier versions keep no texts.
CREATE TABLE texts (
	site      text COLLATE "C" NOT NULL,
	block     bigint NOT NULL, -- counts from 1 in a site
	body      bytea NOT NULL,
	reference text COLLATE "C",
	PRIMARY KEY (site, block)
);
ALTER TABLE texts ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX texts_sealed ON texts (site, block) WHERE reference IS NOT NULL;
-- The last block of a site.
ALTER TABLE sites ADD COLUMN texts bigint NOT NULL DEFAULT 0;
-- The text of a version, null if none is kept: 32 times its block, plus its position there. path is that of its file, and
-- line where the text begins in it; null if they are not known.
ALTER TABLE documents ADD COLUMN text bigint, ADD COLUMN path text, ADD COLUMN line integer;
-- A random number, another one whenever live documents of a bucket are given other texts without a revision: caches of it
-- are outdated then.
ALTER TABLE buckets ADD COLUMN reread bigint NOT NULL DEFAULT 0;
