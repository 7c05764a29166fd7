-- The failures among posted results: the worst result of a name is found without reading the others.
CREATE INDEX results_failed ON results (site, revision, name, status) WHERE status <> 'success';
