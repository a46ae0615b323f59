-- +goose NO TRANSACTION
-- +goose Up
-- Sets the owner of the records from before migration 0048. A repeated request waits for the lock of its record, so 1000 records at a time
-- have a separate transaction, which locks them in the order of their keys, as a group of creates does. An interrupted attempt can be
-- repeated.
SET lock_timeout = 0;
-- +goose StatementBegin
DO $$
DECLARE
	previous record;
	last record;
BEGIN
	SELECT '' AS scope, ''::bytea AS key_hash INTO previous;
	LOOP
		SELECT scope, key_hash INTO last
		FROM (
			SELECT scope, key_hash
			FROM idempotency_keys
			WHERE (scope, key_hash) > (previous.scope, previous.key_hash)
			ORDER BY scope, key_hash
			LIMIT 1000
		) AS next
		ORDER BY scope DESC, key_hash DESC
		LIMIT 1;
		EXIT WHEN NOT FOUND;
		PERFORM FROM idempotency_keys
		WHERE (scope, key_hash) > (previous.scope, previous.key_hash) AND (scope, key_hash) <= (last.scope, last.key_hash)
		ORDER BY scope, key_hash
		FOR UPDATE;
		UPDATE idempotency_keys
		SET owner_id = scope::uuid
		WHERE (scope, key_hash) > (previous.scope, previous.key_hash) AND (scope, key_hash) <= (last.scope, last.key_hash)
			AND owner_id IS NULL;
		COMMIT;
		previous := last;
	END LOOP;
END
$$;
-- +goose StatementEnd
