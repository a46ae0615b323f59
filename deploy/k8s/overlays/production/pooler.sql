-- The role with which the pooler looks up passwords. CloudNativePG would create it later, without the right to connect to a database
-- that is not open to PUBLIC.
CREATE ROLE cnpg_pooler_pgbouncer LOGIN;
GRANT CONNECT ON DATABASE coffer TO cnpg_pooler_pgbouncer;
GRANT USAGE ON SCHEMA public TO cnpg_pooler_pgbouncer;
