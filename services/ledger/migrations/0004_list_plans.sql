-- +goose Up
-- A wallet and a category are one owner's: without knowing that, the planner thinks that a user has next to nothing in
-- each, and sorts a hundred thousand rows where it could have walked along an index.
CREATE STATISTICS transactions_of_owner (dependencies) ON owner_id, wallet_id, category_id FROM transactions;
-- What is seldom must be in the sample to be known as seldom.
ALTER TABLE transactions ALTER COLUMN currency SET STATISTICS 1000, ALTER COLUMN amount_e4 SET STATISTICS 1000;
ANALYZE transactions;

-- Extensions are the whole database's, and making one is not safe against itself.
SELECT pg_advisory_xact_lock(hashtext('coffer extensions'));
CREATE SCHEMA IF NOT EXISTS extensions;
CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA extensions;
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA extensions;
-- For what is seldom: a part of a description, a currency.
CREATE INDEX transactions_owner_search ON transactions
	USING gin (owner_id, currency, lower(description COLLATE "und-x-icu") extensions.gin_trgm_ops);
