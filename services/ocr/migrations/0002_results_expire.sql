-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;
DROP INDEX IF EXISTS results_created_at;
CREATE INDEX CONCURRENTLY results_created_at ON results (created_at);
