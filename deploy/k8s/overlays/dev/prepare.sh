#!/bin/sh
# Creates the database cluster if it does not exist, and updates roles and passwords. Meanwhile PostgreSQL listens only on a socket in
# this container.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	initdb --username=postgres --auth-local=trust --auth-host=scram-sha-256 --locale=C --encoding=UTF8
	echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi
pg_ctl start --wait --silent --log=/run/postgresql/prepare.log -o "-c listen_addresses='' -c unix_socket_directories=/run/postgresql"
run() { psql --host=/run/postgresql --username=postgres --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"; }
password() { echo "ALTER ROLE $1 LOGIN PASSWORD '$2';"; }
if [ -z "$(run --tuples-only --command="SELECT 1 FROM pg_database WHERE datname = 'coffer'")" ]; then
	run --command='CREATE ROLE coffer_owner LOGIN' --command='CREATE DATABASE coffer OWNER coffer_owner TEMPLATE template0'
fi
run --dbname=coffer --file=/roles/roles.sql
{
	password postgres "$SUPERUSER_PASSWORD"
	password coffer_owner "$OWNER_PASSWORD"
	password auth "$AUTH_PASSWORD"
	password ledger "$LEDGER_PASSWORD"
	password budget "$BUDGET_PASSWORD"
	password ocr "$OCR_PASSWORD"
} | run
pg_ctl stop --wait --silent --mode=fast
