-- The rows refer only to each other, so foreign keys are not checked.
SET LOCAL session_replication_role = replica;
SET LOCAL work_mem = '256MB';
SET LOCAL maintenance_work_mem = '256MB';
SET LOCAL jit = off;

CREATE TEMP TABLE had ON COMMIT DROP AS
SELECT id AS owner_id, k AS position, gen_random_uuid() AS wallet_id, gen_random_uuid() AS category_id, k < wallets AS is_wallet
FROM filled CROSS JOIN LATERAL generate_series(0, greatest(wallets, categories) - 1) AS k;
ANALYZE filled, had;

INSERT INTO wallets (owner_id, id, name, currency, initial_minor, created_at, updated_at)
SELECT owner_id, wallet_id, 'Wallet ' || position, 'EUR', 0, now(), now() FROM had WHERE is_wallet;

INSERT INTO categories (owner_id, id, name, created_at, updated_at)
SELECT owner_id, category_id, 'Category ' || position, now(), now() FROM had;

-- The hash looks random and is the same each time. Ids rise, as UUIDv7 do, and are this filling's own.
INSERT INTO transactions
	(id, owner_id, wallet_id, category_id, currency, amount_minor, amount_e4, description, date, created_at, updated_at, seq)
SELECT (o.prefix || '-0000-7000-' || lpad(to_hex(o.n), 4, '0') || '-' || lpad(to_hex(i), 12, '0'))::uuid, o.id,
	o.wallet_ids[1 + i % o.wallets], o.category_ids[1 + i % o.categories],
	CASE WHEN random % 1000 = 7 THEN 'JPY' ELSE 'EUR' END, amount, amount * CASE WHEN random % 1000 = 7 THEN 10000 ELSE 100 END,
	(ARRAY['Lunch at the station', 'Rent', 'Groceries', 'Train ticket', 'Coffee', 'Books', 'Insurance', 'Café'])[1 + i % 8] || ' ' || i,
	o.until - (o.transactions - i) * (o.years * interval '1 year' / o.transactions), o.until, o.until, 0
FROM (
	SELECT f.*, array_agg(wallet_id ORDER BY position) FILTER (WHERE is_wallet) AS wallet_ids,
		array_agg(category_id ORDER BY position) AS category_ids
	FROM filled f
	JOIN had ON had.owner_id = f.id
	GROUP BY f.id, f.transactions, f.years, f.n, f.until, f.wallets, f.categories, f.prefix
) AS o
CROSS JOIN LATERAL generate_series(1, o.transactions) AS i
CROSS JOIN LATERAL (SELECT hashint8(i * 1000 + o.n)::bigint AS random) AS h
CROSS JOIN LATERAL (SELECT (CASE WHEN random % 10 = 0 THEN 1 ELSE -1 END) * (1 + abs(random / 10) % 20000) AS amount) AS a;

ANALYZE transactions;

INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
SELECT t.owner_id, t.wallet_id, t.currency, sum(t.amount_minor)
FROM transactions t
JOIN filled f ON f.id = t.owner_id
GROUP BY t.owner_id, t.wallet_id, t.currency;

INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count)
SELECT t.owner_id, date_trunc('month', t.date AT TIME ZONE 'UTC')::date, t.wallet_id, t.category_id, t.currency,
	sum(greatest(t.amount_minor, 0)), sum(greatest(-t.amount_minor, 0)), count(*)
FROM transactions t
JOIN filled f ON f.id = t.owner_id
GROUP BY 1, 2, 3, 4, 5;
