-- +goose Up
-- The day from which the opening balance of a wallet counts. NULL: it counts for all days, as in wallets of earlier releases.
ALTER TABLE wallets ADD COLUMN opening_date date;
