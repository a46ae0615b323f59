-- Copies of the ledger's tables. The large ones have 16 partitions by owner. LIKE does not copy foreign keys, so some are added below.
CREATE SCHEMA partitioned AUTHORIZATION ledger;
SET LOCAL search_path = partitioned;
CREATE TABLE goose_db_version AS TABLE ledger.goose_db_version;
CREATE TABLE categories (LIKE ledger.categories INCLUDING ALL);
CREATE TABLE wallets (LIKE ledger.wallets INCLUDING ALL);
CREATE TABLE wallet_balances (LIKE ledger.wallet_balances INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES) PARTITION BY HASH (owner_id);
CREATE TABLE receipts (LIKE ledger.receipts INCLUDING ALL);
CREATE TABLE receipt_images (LIKE ledger.receipt_images INCLUDING ALL);
CREATE TABLE transactions (LIKE ledger.transactions INCLUDING ALL) PARTITION BY HASH (owner_id);
CREATE TABLE monthly_totals (LIKE ledger.monthly_totals INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES) PARTITION BY HASH (owner_id);
CREATE TABLE idempotency_keys (LIKE ledger.idempotency_keys INCLUDING ALL);
CREATE TABLE outbox (LIKE ledger.outbox INCLUDING ALL);
DO $$
BEGIN
	FOR i IN 0..15 LOOP
		EXECUTE format('CREATE TABLE wallet_balances_%s PARTITION OF wallet_balances FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 70)', i, i);
		EXECUTE format('CREATE TABLE transactions_%s PARTITION OF transactions FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
		EXECUTE format('CREATE TABLE monthly_totals_%s PARTITION OF monthly_totals FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 70)', i, i);
	END LOOP;
END $$;
ALTER TABLE wallet_balances ADD FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets ON DELETE CASCADE;
ALTER TABLE transactions
	ADD CONSTRAINT transactions_wallet_fkey FOREIGN KEY (owner_id, wallet_id) REFERENCES wallets,
	ADD CONSTRAINT transactions_category_fkey FOREIGN KEY (owner_id, category_id) REFERENCES categories,
	ADD CONSTRAINT transactions_receipt_fkey FOREIGN KEY (owner_id, receipt_id) REFERENCES receipts;
INSERT INTO categories SELECT * FROM ledger.categories;
INSERT INTO wallets SELECT * FROM ledger.wallets;
INSERT INTO wallet_balances SELECT * FROM ledger.wallet_balances;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA partitioned TO ledger;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA partitioned TO ledger;
