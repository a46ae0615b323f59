-- +goose NO TRANSACTION
-- +goose Up
-- The version of an import is its ETag. A trigger counts it, because replicas of the previous release do not. Each statement may run again
-- after an interrupted attempt.
ALTER TABLE imports ADD COLUMN IF NOT EXISTS version bigint NOT NULL DEFAULT 1;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.version := OLD.version + 1;
	RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER imports_version BEFORE UPDATE ON imports
	FOR EACH ROW EXECUTE FUNCTION count_version();
-- The transactions with attachments. Writes continue while the index is built. An index of an interrupted attempt is invalid, and is built
-- again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_attached;
CREATE INDEX CONCURRENTLY transactions_attached ON transactions (owner_id, date, id) WHERE attachment_count > 0;
