-- +goose Up
CREATE TABLE webhooks (
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    url             text        NOT NULL,
    description     text        NOT NULL,
    -- Patterns of event types; empty: all.
    events          text[]      NOT NULL,
    enabled         boolean     NOT NULL,
    -- Why it was switched off, when its user did not.
    disabled_reason text        CONSTRAINT webhooks_disabled_reason_known CHECK (disabled_reason IS NULL OR
        disabled_reason IN ('gone', 'failing') AND NOT enabled),
    -- Sealed with the installation's service key.
    secret          bytea       NOT NULL,
    previous_secret bytea,
    -- Until then the previous secret signs too.
    previous_until  timestamptz,
    -- One of the workers is at it until then.
    leased_until    timestamptz NOT NULL DEFAULT '-infinity',
    -- Tries that failed since the last one that did not, and the time of the first of them.
    failures        integer     NOT NULL DEFAULT 0,
    failing_since   timestamptz,
    -- An address that fails is left alone until then.
    paused_until    timestamptz NOT NULL DEFAULT '-infinity',
    version         bigint      NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT webhooks_pkey PRIMARY KEY (user_id, id)
);

-- Events on their way, and the log of those that arrived or did not.
CREATE TABLE webhook_deliveries (
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    webhook_id      uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    -- 0, and one more for each time that the user asked for it again.
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
-- An event that comes twice is delivered once.
CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (user_id, webhook_id, event_id, repeat);
-- The webhooks that something waits for, and what is due first of each.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (user_id, webhook_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_created_at ON webhook_deliveries (created_at);
