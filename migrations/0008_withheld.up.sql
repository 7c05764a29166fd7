-- What was stored about secrets is reduced to what is stored from now on: which documents fail, and nothing of why.
-- Callers who may see secrets are told why by making the checks again.
UPDATE checks SET findings =
        '[{"message":"Sanitized to avoid exposing secret.","instance":[],"schema_path":".","secret":true}]'
    WHERE findings LIKE '%"message":"Sanitized to avoid exposing secret."%';

-- The database refuses anything else.
ALTER TABLE checks ADD CONSTRAINT checks_withheld CHECK (findings NOT LIKE '%"secret":true%' OR findings =
    '[{"message":"Sanitized to avoid exposing secret.","instance":[],"schema_path":".","secret":true}]');

UPDATE results r SET
        errors = '[{"message":"' || w.message || '","error":true,"level":"Error","kind":"ValidationMessage","secret":true}]',
        message = w.message
    FROM (VALUES ('It fails, and only callers who may see encrypted documents are told why: an encrypted document, or '
        || 'what was taken from one, has a part in it')) AS w (message)
    WHERE r.name IN ('deckhand-policy-validation', 'deckhand-rendering-validation') AND r.status <> 'success'
        AND EXISTS (SELECT FROM documents d WHERE d.site = r.site AND d.encrypted);
