-- The roles of the services, and their rights in the database coffer. A superuser runs this script. It may run repeatedly. Each
-- role may use the schema of its service, which the migrations create and grant. Other roles cannot connect.
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
