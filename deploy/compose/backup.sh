#!/bin/sh
# backup.sh NAME writes the backup backups/NAME: the database in one snapshot, and the service key. With - as NAME it writes the backup to
# standard output, which a program can encrypt. It runs in PostgreSQL's container, while Coffer runs.
set -eu
[ $# = 1 ] || { echo "usage: backup.sh NAME" >&2; exit 2; }
umask 077
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pg_dump --host=/run/postgresql --username=postgres --format=custom --file="$folder/database" coffer
cp /secrets/postgres/service-key "$folder/"
if [ "$1" = - ]; then
	tar -C "$folder" -cf - database service-key
	exit
fi
tar -C "$folder" -cf "/backups/$1.new" database service-key
mv "/backups/$1.new" "/backups/$1"
echo "wrote backups/$1"
