-- +goose Up
-- Coffer's own export has the times of transactions. Other files have days, which are stored as their first moment in UTC. The previous
-- release does not use the table.
ALTER TABLE import_rows ALTER COLUMN date TYPE timestamptz USING date::timestamp AT TIME ZONE 'UTC';
