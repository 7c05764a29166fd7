-- The live documents in their order, of which a page takes the first.
CREATE INDEX documents_live_place ON documents (site, place) WHERE until IS NULL;
