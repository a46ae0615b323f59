-- +goose Up
-- The time at which a budget was queued for the ledger. A row that is old is stuck; a metric reports the age of the oldest.
ALTER TABLE reference_syncs ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();
