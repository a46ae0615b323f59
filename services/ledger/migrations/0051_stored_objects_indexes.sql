-- +goose NO TRANSACTION
-- +goose Up
-- Writes continue while the constraint is checked and the indexes are built. An index of an interrupted attempt is invalid, and is
-- built again.
SET lock_timeout = 0;
ALTER TABLE receipt_images VALIDATE CONSTRAINT receipt_images_stored;
-- The files in PostgreSQL, which the ledger moves into the store.
DROP INDEX IF EXISTS attachments_embedded;
CREATE INDEX CONCURRENTLY attachments_embedded ON attachments (owner_id, id) WHERE status = 'ready' AND object IS NULL;
DROP INDEX IF EXISTS receipt_images_embedded;
CREATE INDEX CONCURRENTLY receipt_images_embedded ON receipt_images (owner_id, receipt_id, page) WHERE object IS NULL;
-- The objects that rows name, each once.
DROP INDEX IF EXISTS attachments_object;
CREATE UNIQUE INDEX CONCURRENTLY attachments_object ON attachments (owner_id, object) WHERE object IS NOT NULL;
DROP INDEX IF EXISTS receipt_images_object;
CREATE UNIQUE INDEX CONCURRENTLY receipt_images_object ON receipt_images (owner_id, object) WHERE object IS NOT NULL;
