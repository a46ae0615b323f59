-- +goose Up
-- The owner of a record, by which the table can be partitioned and distributed (ADR 126). The scope is its text. The trigger sets it for
-- writes of earlier releases.
ALTER TABLE idempotency_keys ADD COLUMN owner_id uuid;
-- +goose StatementBegin
CREATE FUNCTION set_record_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.owner_id := NEW.scope::uuid;
	RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER idempotency_keys_owner BEFORE INSERT ON idempotency_keys
	FOR EACH ROW WHEN (NEW.owner_id IS NULL) EXECUTE FUNCTION set_record_owner();
