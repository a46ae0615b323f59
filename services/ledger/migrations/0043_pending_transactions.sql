-- +goose NO TRANSACTION
-- +goose Up
-- Writes continue while the index is built. An index of an interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_pending;
-- The transactions of payments that the bank had not booked. There are few: users book them by hand.
CREATE INDEX CONCURRENTLY transactions_pending ON transactions (owner_id, date) WHERE external_id LIKE 'pending:%';
