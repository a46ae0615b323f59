#!/bin/sh
# restore.sh NAME restores the backup backups/NAME into a new installation, or with - as NAME the backup from standard input. It runs in
# PostgreSQL's container before the first start of the services, and changes nothing if the database has tables. All passwords are new.
# The service key is the one of the backup, because it encrypts signing keys and webhook secrets.
set -eu
[ $# = 1 ] && { [ "$1" = - ] || [ -f "/backups/$1" ]; } || { echo "usage: restore.sh NAME, a file in backups, or -" >&2; exit 2; }
for _ in $(seq 60); do pg_isready --host=127.0.0.1 --quiet && break || sleep 1; done
run() { psql --host=/run/postgresql --username=postgres --dbname=coffer --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"; }
tables=$(run --tuples-only --no-align \
	--command="SELECT count(*) FROM pg_tables WHERE schemaname IN ('auth', 'ledger', 'budget', 'ocr')")
[ "$tables" = 0 ] || { echo "the database has tables already: restore into a new installation" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
backup=/backups/$1
[ "$1" != - ] || backup=-
tar -C "$folder" -xf "$backup" database service-key
# The key first: if the restore fails after it, the same command can be repeated.
for secrets in postgres auth ledger budget ocr gateway; do
	cp "$folder/service-key" "/secrets/$secrets/service-key"
done
pg_restore --host=/run/postgresql --username=postgres --dbname=coffer --exit-on-error --single-transaction "$folder/database"
echo restored
