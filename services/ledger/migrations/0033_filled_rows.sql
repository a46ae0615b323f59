-- +goose Up
-- The texts that a commit gave to the transaction that a row matches, because the transaction had none. The undo removes them.
ALTER TABLE import_rows ADD COLUMN filled_payee text, ADD COLUMN filled_notes text;
