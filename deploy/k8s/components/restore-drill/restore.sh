#!/bin/sh
# restore.sh restores the last base backup of the server SERVER in the object store BACKUPS, and all WAL after it, into the folder SCRATCH,
# and runs PostgreSQL there. PostgreSQL accepts connections on 127.0.0.1 only, without passwords, and when it has replayed the last
# file of the archive. ENDPOINT_URL is the address of a store other than Amazon's.
set -eu
data=$SCRATCH/data
options="--cloud-provider=aws-s3 ${ENDPOINT_URL:+--endpoint-url=$ENDPOINT_URL}"
# shellcheck disable=SC2086 # They are several options.
backup=$(barman-cloud-backup-list $options --format json "$BACKUPS" "$SERVER" | python3 -c '
import json, sys
backups = [b for b in json.load(sys.stdin)["backups_list"] if b["status"] == "DONE"]
print(max(b["backup_id"] for b in backups))')
echo "restoring the base backup $backup"
# The container may have restarted.
rm -rf "$data"
# shellcheck disable=SC2086
barman-cloud-restore $options "$BACKUPS" "$SERVER" "$backup" "$data"
# The folder is a link to another volume in an instance with one.
rm -rf "$data/pg_wal"
mkdir "$data/pg_wal"
chmod 700 "$data"
rm -f "$data/postmaster.pid" "$data/standby.signal"
touch "$data/recovery.signal"
echo 'host all all 127.0.0.1/32 trust' >"$SCRATCH/hba.conf"
: >"$SCRATCH/ident.conf"
# Not the instance's own configuration, which names files and limits of the instance. With hot_standby=off, PostgreSQL accepts no
# connections before the end of the recovery.
cat >"$SCRATCH/postgresql.conf" <<CONF
data_directory = '$data'
hba_file = '$SCRATCH/hba.conf'
ident_file = '$SCRATCH/ident.conf'
listen_addresses = '127.0.0.1'
port = ${PORT:-5432}
unix_socket_directories = '$SCRATCH'
restore_command = 'barman-cloud-wal-restore $options $BACKUPS $SERVER %f %p'
recovery_target_timeline = 'latest'
hot_standby = off
archive_mode = off
shared_buffers = 256MB
fsync = off
autovacuum = off
jit = off
CONF
# ALTER SYSTEM of the instance.
: >"$data/postgresql.auto.conf"
exec postgres -c config_file="$SCRATCH/postgresql.conf"
