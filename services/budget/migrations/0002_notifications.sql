-- +goose Up
ALTER TABLE budgets ADD COLUMN alert_thresholds integer[] NOT NULL DEFAULT '{80,100}'
    CONSTRAINT budgets_alert_threshold_count CHECK (cardinality(alert_thresholds) <= 10);

-- Reached thresholds, so that each is published once per window.
CREATE TABLE alerts (
    budget_id    uuid        NOT NULL CONSTRAINT alerts_budget_fkey REFERENCES budgets (id) ON DELETE CASCADE,
    window_start date        NOT NULL,
    -- Percent of the limit.
    threshold    integer     NOT NULL CONSTRAINT alerts_threshold_range CHECK (threshold BETWEEN 1 AND 1000),
    raised_at    timestamptz NOT NULL,
    CONSTRAINT alerts_pkey PRIMARY KEY (budget_id, window_start, threshold)
);

-- Budgets whose limit must be compared with the spending, because that may have changed in the window that contains the day.
CREATE TABLE alert_checks (
    budget_id    uuid        NOT NULL CONSTRAINT alert_checks_budget_fkey REFERENCES budgets (id) ON DELETE CASCADE,
    day          date        NOT NULL,
    -- Grows with each change, so that a change during a check is not lost.
    seq          bigint      GENERATED ALWAYS AS IDENTITY,
    -- A worker has leased the check until then.
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT alert_checks_pkey PRIMARY KEY (budget_id, day)
);

CREATE TABLE notifications (
    -- The id of the event.
    id         uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    type       text        NOT NULL,
    -- A google.protobuf.Any.
    data       bytea       NOT NULL,
    read_at    timestamptz,
    created_at timestamptz NOT NULL,
    CONSTRAINT notifications_pkey PRIMARY KEY (user_id, id)
);
-- Lists a user's notifications, unread ones first, then the newest first.
CREATE INDEX notifications_unread_first ON notifications (user_id, (read_at IS NULL) DESC, id DESC);
CREATE INDEX notifications_created_at ON notifications (created_at);
