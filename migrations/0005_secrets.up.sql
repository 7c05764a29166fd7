-- What encrypted documents say, sealed; body is the reference that stands for it then. null for all others.
ALTER TABLE contents ADD COLUMN sealed bytea;
ALTER TABLE contents ALTER COLUMN sealed SET STORAGE EXTERNAL; -- nothing could make it smaller
CREATE INDEX contents_sealed ON contents (site, digest) WHERE sealed IS NOT NULL;
ALTER TABLE documents ADD COLUMN encrypted boolean NOT NULL DEFAULT false;
