-- Statements that read documents as they were submitted.

-- name: OriginsOf
SELECT d.id, d.text, d.path, d.line FROM documents d WHERE d.site = :site AND d.id = ANY(:ids);

-- name: TextBlocks
SELECT t.block, t.body, t.reference FROM texts t WHERE t.site = :site AND t.block = ANY(:blocks);

-- name: OutdatedTexts
SELECT block, body, reference FROM texts
WHERE site = :site AND reference IS NOT NULL AND block > :after
	AND substring(body, 1, length(:prefix::bytea)) <> :prefix::bytea
ORDER BY block LIMIT :limit;

-- name: ResealText
UPDATE texts SET body = :new WHERE site = :site AND block = :block AND body = :old;
