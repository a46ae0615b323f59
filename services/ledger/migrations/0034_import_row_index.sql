-- +goose NO TRANSACTION
-- +goose Up
-- Writes continue while the index is built. An index of an interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS import_rows_transaction;
-- The row that a transaction was imported from.
CREATE INDEX CONCURRENTLY import_rows_transaction ON import_rows (owner_id, transaction_id) WHERE transaction_id IS NOT NULL;
