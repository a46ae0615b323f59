-- +goose NO TRANSACTION
-- +goose Up
-- Writes continue while the index is built. An index of an interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_adjustments;
CREATE INDEX CONCURRENTLY transactions_adjustments ON transactions (owner_id, date, id) WHERE adjustment;
