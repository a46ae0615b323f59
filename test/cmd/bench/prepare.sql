-- The 64 owners of the baseline. Each has one wallet and one category, with the same id as the owner.
INSERT INTO wallets (owner_id, id, name, currency, initial_minor, created_at, updated_at)
SELECT id, id, 'Cash', 'EUR', 0, now(), now() FROM (SELECT lpad(to_hex(n::bigint), 32, '0')::uuid AS id FROM generate_series(1, 64) n) AS o;
INSERT INTO categories (owner_id, id, name, created_at, updated_at)
SELECT id, id, 'Food', now(), now() FROM (SELECT lpad(to_hex(n::bigint), 32, '0')::uuid AS id FROM generate_series(1, 64) n) AS o;
