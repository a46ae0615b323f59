-- +goose NO TRANSACTION
-- +goose Up
-- Ended sessions are read in pages, oldest first, without the table.
SET lock_timeout = 0;
DROP INDEX IF EXISTS sessions_revoked;
CREATE INDEX CONCURRENTLY sessions_revoked ON sessions (revoked_at, id) INCLUDE (last_used_at) WHERE revoked_at IS NOT NULL;
