-- +goose Up
-- Deletions of accounts. A finished one is the certificate of the deletion, without personal data, for a year.
CREATE TABLE deletions (
    -- Random, because the id is the secret of the certificate.
    id           uuid        NOT NULL CONSTRAINT deletions_pkey PRIMARY KEY,
    -- NULL once everything is deleted.
    user_id      uuid        CONSTRAINT deletions_user_key UNIQUE,
    -- A MAC of the user's id. It finds the user in a restored backup.
    user_mac     bytea       NOT NULL CONSTRAINT deletions_user_mac_length CHECK (octet_length(user_mac) = 32),
    requested_at timestamptz NOT NULL,
    -- The end of the grace period.
    erases_at    timestamptz NOT NULL,
    -- The service that was asked last, and when.
    asked        text        NOT NULL DEFAULT '',
    asked_at     timestamptz NOT NULL,
    -- The ends of the parts.
    budget_at    timestamptz,
    ledger_at    timestamptz,
    events_at    timestamptz,
    erased_at    timestamptz
);
CREATE INDEX deletions_due ON deletions (erases_at) WHERE user_id IS NOT NULL;
CREATE INDEX deletions_erased_at ON deletions (erased_at);
