-- +goose Up
-- Sets the owner of the records from before migration 0048, in a separate transaction, so that requests wait for no lock of the table.
UPDATE idempotency_keys SET owner_id = scope::uuid WHERE owner_id IS NULL;
