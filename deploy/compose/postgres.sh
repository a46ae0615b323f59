#!/bin/sh
# Creates the secrets of the installation that do not exist yet, prepares the database, and runs PostgreSQL. PostgreSQL itself runs
# without root. Each folder of /secrets is a volume that one other container reads.
set -eu
umask 022
keep=/secrets/postgres

# secret NAME prints a secret, which it creates first if it does not exist.
secret() {
	if [ ! -s "$keep/$1" ]; then
		od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$keep/$1.new"
		mv "$keep/$1.new" "$keep/$1"
	fi
	cat "$keep/$1"
}
# give FOLDER NAME writes a secret from the input for a container, in one step.
give() { cat >"/secrets/$1/.new" && mv "/secrets/$1/.new" "/secrets/$1/$2"; }

chmod 700 "$keep"
SUPERUSER_PASSWORD=$(secret superuser)
OWNER_PASSWORD=$(secret owner)
AUTH_PASSWORD=$(secret auth)
LEDGER_PASSWORD=$(secret ledger)
BUDGET_PASSWORD=$(secret budget)
OCR_PASSWORD=$(secret ocr)
export SUPERUSER_PASSWORD OWNER_PASSWORD AUTH_PASSWORD LEDGER_PASSWORD BUDGET_PASSWORD OCR_PASSWORD
echo "NATS_PASSWORD: \"$(secret nats)\"" | give nats password.conf
echo "postgres://coffer_owner:$OWNER_PASSWORD@postgres:5432/coffer?sslmode=disable" | give migration database-url
for service in auth ledger budget ocr; do
	echo "postgres://$service:$(secret "$service")@postgres:5432/coffer?search_path=$service&sslmode=disable" | give "$service" database-url
done
for service in auth ledger budget; do
	echo "nats://coffer:$(secret nats)@nats:4222" | give "$service" nats-url
done
for service in auth ledger budget ocr gateway; do
	secret service-key | give "$service" service-key
done

mkdir -p "$PGDATA" /run/postgresql
chown -R 999:999 "$(dirname "$PGDATA")" /run/postgresql
drop() { exec setpriv --reuid=999 --regid=999 --clear-groups --inh-caps=-all --no-new-privs "$@"; }
(drop sh /coffer/prepare.sh)
unset SUPERUSER_PASSWORD OWNER_PASSWORD AUTH_PASSWORD LEDGER_PASSWORD BUDGET_PASSWORD OCR_PASSWORD
drop postgres -c 'listen_addresses=*' -c unix_socket_directories=/run/postgresql -c max_connections=200 -c jit=off
