-- The work of one create as one statement: ownership, row, balance, total and event, without a number for synchronization. n is the
-- number of the owner. This text is a format: the value of the event has its only verb.
WITH item AS MATERIALIZED (
	SELECT gen_random_uuid() AS id, o.id AS owner_id, o.id AS wallet_id, o.id AS category_id
	FROM (SELECT lpad(to_hex(:n::bigint), 32, '0')::uuid AS id) AS o
	WHERE EXISTS (SELECT FROM wallets w WHERE w.owner_id = o.id AND w.id = o.id)
		AND EXISTS (SELECT FROM categories c WHERE c.owner_id = o.id AND c.id = o.id)
), balance AS (
	INSERT INTO wallet_balances AS b (owner_id, wallet_id, currency, amount_minor)
	SELECT owner_id, wallet_id, 'EUR', -1230 FROM item
	ON CONFLICT (owner_id, wallet_id, currency) DO UPDATE SET amount_minor = b.amount_minor + EXCLUDED.amount_minor
), total AS (
	INSERT INTO monthly_totals AS m (owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count)
	SELECT owner_id, '2026-03-01', wallet_id, category_id, 'EUR', 0, 1230, 1 FROM item
	ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
	SET expense_minor = m.expense_minor + EXCLUDED.expense_minor, transaction_count = m.transaction_count + EXCLUDED.transaction_count
), event AS (
	INSERT INTO outbox (id, user_id, subject, data)
	SELECT gen_random_uuid(), owner_id, 'ledger.v1.transaction.created', '\x%x'::bytea FROM item
)
INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor, amount_e4, description, date, version, created_at, updated_at, seq)
SELECT id, owner_id, wallet_id, category_id, 'EUR', -1230, -123000, 'Lunch', '2026-03-14', 1, now(), now(), 0 FROM item;
