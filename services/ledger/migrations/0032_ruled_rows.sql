-- +goose Up
-- What rules change in a row of an import, besides its category and its transfer.
ALTER TABLE import_rows ADD COLUMN ruled jsonb;
