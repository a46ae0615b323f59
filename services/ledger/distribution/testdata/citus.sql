-- A stand-in for Citus: it records the calls, and rejects the constraints and triggers that docs/scale.md says Citus rejects.
CREATE TABLE pg_dist_partition (
    logicalrelid regclass PRIMARY KEY,
    colocated    text     NOT NULL,
    call         integer  GENERATED ALWAYS AS IDENTITY
);

CREATE FUNCTION create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	k record;
	col smallint := (SELECT attnum FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column);
BEGIN
	IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = table_name) THEN
		RAISE 'table % is already distributed', table_name;
	END IF;
	IF colocate_with <> 'none' AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass) THEN
		RAISE 'relation % is not distributed', colocate_with;
	END IF;
	IF EXISTS (SELECT FROM pg_index WHERE indrelid = table_name AND indisunique AND NOT col = ANY(indkey)) THEN
		RAISE 'cannot create constraint on %: it does not include the partition column', table_name;
	END IF;
	FOR k IN SELECT * FROM pg_constraint WHERE conrelid = table_name AND contype = 'f' LOOP
		IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = k.confrelid) AND k.confrelid <> table_name THEN
			RAISE 'referenced table % must be a distributed table or a reference table', k.confrelid::regclass;
		END IF;
		IF NOT col = ANY(k.conkey) THEN
			RAISE 'foreign key % does not include the partition column', k.conname;
		END IF;
		IF k.confdeltype IN ('n', 'd') THEN
			RAISE 'SET NULL or SET DEFAULT is not supported in ON DELETE of %', k.conname;
		END IF;
	END LOOP;
	IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal)
		AND coalesce(current_setting('citus.enable_unsafe_triggers', true), '') <> 'on'
	THEN
		RAISE 'triggers are not supported on distributed table %', table_name;
	END IF;
	INSERT INTO pg_dist_partition (logicalrelid, colocated) VALUES (table_name, colocate_with);
END
$$;
