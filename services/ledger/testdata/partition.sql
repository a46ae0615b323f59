-- Replaces each table that has a column for the owner with a table of 16 partitions by it. The partitions are in the schemas owners_0
-- to owners_15, so that their indexes have the names of the table's indexes, by which code recognizes violations.
DO $$
DECLARE
	tables CONSTANT name[] := ARRAY(
		SELECT c.relname
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = CASE c.relname WHEN 'outbox' THEN 'user_id' ELSE 'owner_id' END
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r');
	here CONSTANT text := quote_ident(current_schema());
	statements text[];
	later text[];
	statement text;
	plain name;
BEGIN
	-- Unique indexes, other indexes, foreign keys and triggers, in this order.
	SELECT array_agg(text ORDER BY rank, text) FILTER (WHERE rank < 3), array_agg(text ORDER BY rank, text) FILTER (WHERE rank >= 3)
	INTO statements, later
	FROM (
		SELECT CASE contype WHEN 'f' THEN 3 ELSE 1 END AS rank, format('ALTER TABLE %s.%I ADD CONSTRAINT %I %s', here, conrelid::regclass::name, conname,
			pg_get_constraintdef(oid)) AS text
		FROM pg_constraint
		WHERE conrelid = ANY(tables::regclass[]) AND contype IN ('p', 'u', 'f')
		UNION ALL
		SELECT 2, pg_get_indexdef(indexrelid)
		FROM pg_index
		WHERE indrelid = ANY(tables::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
		UNION ALL
		SELECT 4, pg_get_triggerdef(oid)
		FROM pg_trigger
		WHERE tgrelid = ANY(tables::regclass[]) AND NOT tgisinternal
	) AS s;
	FOR i IN 0..15 LOOP
		EXECUTE format('CREATE SCHEMA owners_%s', i);
	END LOOP;
	FOREACH plain IN ARRAY tables LOOP
		EXECUTE format('ALTER TABLE %I RENAME TO plain', plain);
		EXECUTE format('CREATE TABLE %I (LIKE plain INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING CONSTRAINTS INCLUDING GENERATED) PARTITION BY HASH (%I)',
			plain, CASE plain WHEN 'outbox' THEN 'user_id' ELSE 'owner_id' END);
		EXECUTE 'DROP TABLE plain CASCADE';
		FOR i IN 0..15 LOOP
			EXECUTE format('CREATE TABLE owners_%s.%I PARTITION OF %2$I FOR VALUES WITH (MODULUS 16, REMAINDER %1$s)', i, plain);
		END LOOP;
	END LOOP;
	FOREACH statement IN ARRAY statements LOOP
		FOR i IN 0..15 LOOP
			EXECUTE regexp_replace(statement, '( ON | TABLE )' || here || '\.', '\1owners_' || i || '.');
		END LOOP;
		EXECUTE statement;
	END LOOP;
	FOREACH statement IN ARRAY later LOOP
		EXECUTE statement;
	END LOOP;
	-- A foreign key has a constraint for each partition of the other table. Their names end with a number, as those of Citus's shards.
	FOR statement IN
		SELECT format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I', c.conrelid::regclass::name, c.conname,
			p.conname || '_' || row_number() OVER (PARTITION BY p.oid ORDER BY c.oid))
		FROM pg_constraint c
		JOIN pg_constraint p ON p.oid = c.conparentid AND p.conrelid = c.conrelid
	LOOP
		EXECUTE statement;
	END LOOP;
END $$;
