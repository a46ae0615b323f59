-- +goose Up
-- What a wallet or a category has none of is found to be missing in the index.
DROP INDEX transactions_owner_search;
CREATE INDEX transactions_owner_search ON transactions
	USING gin (owner_id, wallet_id, category_id, currency, lower(description COLLATE "und-x-icu") extensions.gin_trgm_ops);
