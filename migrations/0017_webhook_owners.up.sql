-- Who added or last changed a webhook: the calls of receivers are shared among these (internal/webhooks). Earlier
-- versions leave it empty.
ALTER TABLE webhooks ADD COLUMN owner text NOT NULL DEFAULT '';
