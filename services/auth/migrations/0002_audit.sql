-- +goose Up
-- Security events of a user. One is written in the transaction of what it tells of, and kept for a year.
CREATE TABLE audit (
    -- UUIDv7: the order in which events are listed. That of an event of another service is the event's own.
    id         uuid        NOT NULL,
    user_id    uuid        NOT NULL CONSTRAINT audit_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    type       text        NOT NULL CONSTRAINT audit_type_length CHECK (char_length(type) BETWEEN 1 AND 50),
    outcome    text        NOT NULL CONSTRAINT audit_outcome_known CHECK (outcome IN ('success', 'failure')),
    at         timestamptz NOT NULL,
    last_at    timestamptz NOT NULL,
    times      integer     NOT NULL CONSTRAINT audit_times_positive CHECK (times > 0),
    session_id uuid,
    -- Empty when unknown, or when failures came from very many.
    address    text        NOT NULL CONSTRAINT audit_address_length CHECK (char_length(address) <= 64),
    user_agent text        NOT NULL CONSTRAINT audit_user_agent_length CHECK (char_length(user_agent) <= 255),
    -- Of events about shared budgets.
    sharing    jsonb,
    -- The hour in which failures of one kind are counted in one row; absent for everything else.
    failed_in  timestamptz,
    CONSTRAINT audit_pkey PRIMARY KEY (user_id, id),
    CONSTRAINT audit_last_after_first CHECK (last_at >= at)
);
CREATE UNIQUE INDEX audit_failures ON audit (user_id, failed_in, type, address) WHERE failed_in IS NOT NULL;
CREATE INDEX audit_at ON audit (at);
