-- Statements about webhooks, with the columns that scanWebhook reads, and deliveries, which are jobs of River.

-- name: SelectWebhooks
SELECT id, url, types, enabled, reason, secret, previous, rotated_at, created_at, owner FROM webhooks
WHERE site = :site AND (:id::bigint = 0 OR id = :id) ORDER BY id;

-- name: EnabledWebhooks
SELECT id, url, types, enabled, reason, secret, previous, rotated_at, created_at, owner FROM webhooks
WHERE site = :site AND enabled;

-- name: InsertWebhook
INSERT INTO webhooks (site, url, types, enabled, reason, secret, created_at, owner)
SELECT :site, :url, :types::text[], :enabled, '', :secret, :created_at, :owner
FROM (SELECT :most::bigint - count(*) AS free, count(*) FILTER (WHERE owner = :owner AND :owner <> '') AS own
	FROM webhooks WHERE site = :site) AS shares
WHERE free > 0 AND (own = 0 OR own < free) AND EXISTS (SELECT FROM sites WHERE site = :site AND deleted IS NULL)
RETURNING id;

-- name: UpdateWebhook
UPDATE webhooks SET url = :url, types = :types, enabled = :enabled, reason = :reason, secret = :secret,
	previous = :previous, rotated_at = :rotated_at, owner = :owner
WHERE site = :site AND id = :id AND secret = :old_secret;

-- name: DisableWebhook
UPDATE webhooks SET enabled = false, reason = :reason WHERE site = :site AND id = :id AND url = :url;

-- name: ResealWebhook
UPDATE webhooks SET secret = :secret, previous = :previous
WHERE site = :site AND id = :id AND secret = :old_secret AND previous IS NOT DISTINCT FROM :old_previous;

-- name: DeleteWebhook
DELETE FROM webhooks WHERE site = :site AND id = :id;

-- name: SelectDeliveries
SELECT id, state::text, attempt, scheduled_at, args, coalesce(metadata->'output', '{}') FROM river_job
WHERE kind = 'purser_webhook' AND args @> jsonb_build_object('webhook', :webhook::bigint)
	AND coalesce(args->>'site', 'default') = :site
ORDER BY id DESC OFFSET :offset LIMIT :limit;

-- name: SelectDelivery
SELECT id, state::text, attempt, scheduled_at, args, coalesce(metadata->'output', '{}') FROM river_job
WHERE kind = 'purser_webhook' AND id = :id AND args @> jsonb_build_object('webhook', :webhook::bigint)
	AND coalesce(args->>'site', 'default') = :site;
