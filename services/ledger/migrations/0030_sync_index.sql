-- +goose NO TRANSACTION
-- +goose Up
-- The changes of an owner in order, and the rows without a number. Writes continue while the indexes are built. An index of an
-- interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_seq;
CREATE INDEX CONCURRENTLY transactions_seq ON transactions (owner_id, seq, id);
DROP INDEX IF EXISTS wallets_seq;
CREATE INDEX CONCURRENTLY wallets_seq ON wallets (owner_id, seq, id);
DROP INDEX IF EXISTS categories_seq;
CREATE INDEX CONCURRENTLY categories_seq ON categories (owner_id, seq, id);
