-- +goose Up
ALTER TABLE budgets ADD COLUMN alert_thresholds integer[] NOT NULL DEFAULT '{80,100}'
    CONSTRAINT budgets_alert_threshold_count CHECK (cardinality(alert_thresholds) <= 10);

-- Thresholds that were reached, so that each is told once in a window.
CREATE TABLE alerts (
    budget_id    uuid        NOT NULL CONSTRAINT alerts_budget_fkey REFERENCES budgets (id) ON DELETE CASCADE,
    window_start date        NOT NULL,
    -- Percent of the limit.
    threshold    integer     NOT NULL CONSTRAINT alerts_threshold_range CHECK (threshold BETWEEN 1 AND 1000),
    raised_at    timestamptz NOT NULL,
    CONSTRAINT alerts_pkey PRIMARY KEY (budget_id, window_start, threshold)
);

-- Budgets to be compared with what was spent: something changed in the window that holds the day.
CREATE TABLE alert_checks (
    budget_id    uuid        NOT NULL CONSTRAINT alert_checks_budget_fkey REFERENCES budgets (id) ON DELETE CASCADE,
    day          date        NOT NULL,
    -- Grows with each change, so that one that comes during a check is not lost with it.
    seq          bigint      GENERATED ALWAYS AS IDENTITY,
    -- Somebody is at it until then.
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT alert_checks_pkey PRIMARY KEY (budget_id, day)
);

CREATE TABLE notifications (
    -- The event's.
    id         uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    type       text        NOT NULL,
    -- A google.protobuf.Any.
    data       bytea       NOT NULL,
    read_at    timestamptz,
    created_at timestamptz NOT NULL,
    CONSTRAINT notifications_pkey PRIMARY KEY (user_id, id)
);
-- A user's list: unread first, then newest first.
CREATE INDEX notifications_unread_first ON notifications (user_id, (read_at IS NULL) DESC, id DESC);
CREATE INDEX notifications_created_at ON notifications (created_at);
