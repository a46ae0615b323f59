-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE tags ALTER COLUMN seq SET DEFAULT -1;
CREATE OR REPLACE TRIGGER tags_number_new BEFORE INSERT ON tags
	FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION number_row();
CREATE OR REPLACE TRIGGER tags_number_changed BEFORE UPDATE ON tags
	FOR EACH ROW WHEN (NEW.seq = OLD.seq) EXECUTE FUNCTION number_row();
CREATE OR REPLACE TRIGGER tags_bury AFTER DELETE ON tags
	REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION bury_rows('tag', 'key');
-- The changes of an owner in order, and the rows without a number. Writes continue while the indexes are built. An index of an
-- interrupted attempt is invalid, and is built again.
SET lock_timeout = 0;
DROP INDEX IF EXISTS transactions_seq;
CREATE INDEX CONCURRENTLY transactions_seq ON transactions (owner_id, seq, id);
DROP INDEX IF EXISTS wallets_seq;
CREATE INDEX CONCURRENTLY wallets_seq ON wallets (owner_id, seq, id);
DROP INDEX IF EXISTS categories_seq;
CREATE INDEX CONCURRENTLY categories_seq ON categories (owner_id, seq, id);
DROP INDEX IF EXISTS tags_seq;
CREATE INDEX CONCURRENTLY tags_seq ON tags (owner_id, seq, key);
