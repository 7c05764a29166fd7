-- The archives of Murano packages, as they came, each with the content of the document that describes it. What removes
-- the content removes the archive.
CREATE TABLE archives (
    site    text  NOT NULL,
    content bytea NOT NULL,
    body    bytea NOT NULL,
    PRIMARY KEY (site, content),
    FOREIGN KEY (site, content) REFERENCES contents (site, digest) ON DELETE CASCADE
);
ALTER TABLE archives ALTER COLUMN body SET STORAGE EXTERNAL; -- compressed already
