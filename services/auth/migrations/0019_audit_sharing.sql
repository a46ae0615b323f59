-- +goose NO TRANSACTION
-- +goose Up
-- Finds the entries of other users that name a user whose account is deleted.
SET lock_timeout = 0;
DROP INDEX IF EXISTS audit_sharing;
CREATE INDEX CONCURRENTLY audit_sharing ON audit USING gin (sharing jsonb_path_ops) WHERE sharing IS NOT NULL;
