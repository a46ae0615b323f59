-- +goose NO TRANSACTION
-- +goose Up
-- Writes continue while the indexes are built. An index of an interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_external;
CREATE UNIQUE INDEX CONCURRENTLY transactions_external ON transactions (owner_id, wallet_id, external_id)
    WHERE external_id IS NOT NULL;
-- A transfer has one leg out and one leg in.
DROP INDEX IF EXISTS transactions_transfer;
CREATE UNIQUE INDEX CONCURRENTLY transactions_transfer ON transactions (owner_id, transfer_id, (amount_minor < 0))
    WHERE transfer_id IS NOT NULL;
DROP INDEX IF EXISTS transactions_transfers;
CREATE INDEX CONCURRENTLY transactions_transfers ON transactions (owner_id, date, id)
    WHERE transfer_id IS NOT NULL;
DROP INDEX IF EXISTS transactions_import;
CREATE INDEX CONCURRENTLY transactions_import ON transactions (owner_id, import_id, id) WHERE import_id IS NOT NULL;
DROP INDEX IF EXISTS transactions_tags;
CREATE INDEX CONCURRENTLY transactions_tags ON transactions USING gin (owner_id, tags) WHERE tags <> '{}';
-- A search finds the payee, the description and the notes.
DROP INDEX IF EXISTS transactions_search;
CREATE INDEX CONCURRENTLY transactions_search ON transactions USING gin (owner_id, wallet_id, category_id, currency,
    lower((payee || ' ' || description || ' ' || notes) COLLATE "und-x-icu") extensions.gin_trgm_ops);
DROP INDEX CONCURRENTLY IF EXISTS transactions_owner_search;
