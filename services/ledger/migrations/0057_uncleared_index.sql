-- +goose NO TRANSACTION
-- +goose Up
-- Finds the transactions of a wallet that the bank has not booked. Its keys are equal for all of them, so it needs 6 bytes for each.
-- Writes continue while the index is built. An index of an interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_uncleared;
CREATE INDEX CONCURRENTLY transactions_uncleared ON transactions (owner_id, wallet_id) WHERE NOT cleared;
