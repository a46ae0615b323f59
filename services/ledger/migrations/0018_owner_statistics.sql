-- +goose Up
-- The number of owners that PostgreSQL divides the table by when a prepared statement hides the owner. With the true number,
-- an average owner has so few rows that all indexes that begin with the owner cost the same, and the newest one is used: it
-- may read all of a month instead of one category's rows. Reads matter for the owners with long histories, of which 50 would
-- fill the table.
ALTER TABLE transactions ALTER COLUMN owner_id SET (n_distinct = 50);
ANALYZE transactions;
