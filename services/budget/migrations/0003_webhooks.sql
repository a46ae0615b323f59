-- +goose Up
CREATE TABLE webhooks (
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    url             text        NOT NULL,
    description     text        NOT NULL,
    -- Patterns of event types; empty: all.
    events          text[]      NOT NULL,
    enabled         boolean     NOT NULL,
    -- The reason for which Coffer disabled the webhook, and not its user.
    disabled_reason text        CONSTRAINT webhooks_disabled_reason_known CHECK (disabled_reason IS NULL OR
        disabled_reason IN ('gone', 'failing') AND NOT enabled),
    -- Sealed with the installation's service key.
    secret          bytea       NOT NULL,
    previous_secret bytea,
    -- The previous secret also signs until then.
    previous_until  timestamptz,
    -- A worker has leased the webhook until then.
    leased_until    timestamptz NOT NULL DEFAULT '-infinity',
    -- Failed attempts since the last success, and the time of the first of them.
    failures        integer     NOT NULL DEFAULT 0,
    failing_since   timestamptz,
    -- The webhook is paused until then, because it fails.
    paused_until    timestamptz NOT NULL DEFAULT '-infinity',
    version         bigint      NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT webhooks_pkey PRIMARY KEY (user_id, id)
);

-- Queued deliveries, and the log of successful and failed ones.
CREATE TABLE webhook_deliveries (
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    webhook_id      uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    -- 0 for the first delivery of an event, and one more for each redelivery.
    repeat          integer     NOT NULL DEFAULT 0,
    type            text        NOT NULL,
    body            bytea       NOT NULL,
    status          text        NOT NULL DEFAULT 'pending' CONSTRAINT webhook_deliveries_status_known CHECK (status IN
        ('pending', 'delivered', 'failed')),
    attempts        integer     NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    last_attempt_at timestamptz,
    response_status integer,
    error           text,
    duration_ms     integer,
    created_at      timestamptz NOT NULL,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (user_id, webhook_id, id),
    CONSTRAINT webhook_deliveries_webhook_fkey FOREIGN KEY (user_id, webhook_id) REFERENCES webhooks (user_id, id) ON DELETE CASCADE
);
-- A repeated event is delivered once.
CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (user_id, webhook_id, event_id, repeat);
-- Finds the webhooks with pending deliveries, and the oldest due delivery of each.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (user_id, webhook_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_created_at ON webhook_deliveries (created_at);
