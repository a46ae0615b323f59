-- A copy of the ledger's schema, in which the large tables have 16 partitions by owner. LIKE does not copy foreign keys and triggers, so
-- they are added below.
CREATE SCHEMA partitioned AUTHORIZATION ledger;
SET LOCAL search_path = partitioned;
CREATE TABLE goose_db_version AS TABLE ledger.goose_db_version;
CREATE TABLE wallet_balances (LIKE ledger.wallet_balances INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES) PARTITION BY HASH (owner_id);
CREATE TABLE transactions (LIKE ledger.transactions INCLUDING ALL) PARTITION BY HASH (owner_id);
CREATE TABLE monthly_totals (LIKE ledger.monthly_totals INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES) PARTITION BY HASH (owner_id);
DO $$
DECLARE
	copied name;
BEGIN
	FOR i IN 0..15 LOOP
		EXECUTE format('CREATE TABLE wallet_balances_%s PARTITION OF wallet_balances FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 70)', i, i);
		EXECUTE format('CREATE TABLE transactions_%s PARTITION OF transactions FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
		EXECUTE format('CREATE TABLE monthly_totals_%s PARTITION OF monthly_totals FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 70)', i, i);
	END LOOP;
	FOR copied IN SELECT tablename FROM pg_tables WHERE schemaname = 'ledger' AND to_regclass('partitioned.' || tablename) IS NULL LOOP
		EXECUTE format('CREATE TABLE %1$I (LIKE ledger.%1$I INCLUDING ALL)', copied);
	END LOOP;
END $$;
ALTER TABLE wallet_balances ADD FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets ON DELETE CASCADE;
ALTER TABLE transactions
	ADD CONSTRAINT transactions_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets,
	ADD CONSTRAINT transactions_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories,
	ADD CONSTRAINT transactions_receipt_fkey FOREIGN KEY (owner_id, receipt_id) REFERENCES receipts;
INSERT INTO owners SELECT * FROM ledger.owners;
INSERT INTO categories SELECT * FROM ledger.categories;
INSERT INTO wallets SELECT * FROM ledger.wallets;
INSERT INTO wallet_balances SELECT * FROM ledger.wallet_balances;
-- The triggers would number the copied rows again, so they come last.
DO $$
DECLARE
	definition text;
BEGIN
	FOR definition IN SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'ledger'::regnamespace LOOP
		EXECUTE replace(definition, ' ledger.', ' partitioned.');
	END LOOP;
	FOR definition IN
		SELECT pg_get_triggerdef(t.oid)
		FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE c.relnamespace = 'ledger'::regnamespace AND NOT t.tgisinternal
	LOOP
		EXECUTE replace(definition, ' ledger.', ' partitioned.');
	END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA partitioned TO ledger;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA partitioned TO ledger;
