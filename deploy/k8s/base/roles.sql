-- Roles and rights inside the database coffer, run by a superuser. Each service's role may use its own schema, which the
-- migrations make and grant; nobody else may so much as connect. May run again at any time.
DO $$
DECLARE service text;
BEGIN
  FOREACH service IN ARRAY ARRAY['auth', 'ledger', 'budget', 'ocr'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = service) THEN
      EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE', service);
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE coffer TO %I', service);
    EXECUTE format('ALTER ROLE %I IN DATABASE coffer SET search_path = %I', service, service);
  END LOOP;
END $$;
REVOKE ALL ON DATABASE coffer FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT CONNECT, CREATE ON DATABASE coffer TO coffer_owner;
