-- The role as which the pooler looks passwords up. CloudNativePG would make it later, without the right to come into a database
-- that is closed to the public.
CREATE ROLE cnpg_pooler_pgbouncer LOGIN;
GRANT CONNECT ON DATABASE coffer TO cnpg_pooler_pgbouncer;
GRANT USAGE ON SCHEMA public TO cnpg_pooler_pgbouncer;
