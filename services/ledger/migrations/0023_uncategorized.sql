-- +goose Up
-- The legs of a transfer and split transactions have no category.
ALTER TABLE transactions
    ALTER COLUMN category_id DROP NOT NULL,
    ADD CONSTRAINT transactions_categorized CHECK ((category_id IS NULL) = (transfer_id IS NOT NULL OR split_count > 0)) NOT VALID;
