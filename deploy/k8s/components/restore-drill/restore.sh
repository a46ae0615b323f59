#!/bin/sh
# restore.sh restores the last base backup of the server SERVER in the object store BACKUPS, and all WAL after it, into the folder SCRATCH.
# It fails if that is not possible, or if the recovery ended before the last WAL file of the archive. Then the container postgres runs
# PostgreSQL there, with the file postgresql.conf that this script writes. ENDPOINT_URL is the address of a store other than Amazon's.
set -eu
data=$SCRATCH/data
options="--cloud-provider=aws-s3 ${ENDPOINT_URL:+--endpoint-url=$ENDPOINT_URL}"
# The interpreter of Barman, which has its libraries.
python=$(sed -n '1s/^#! *//p' "$(command -v barman-cloud-restore)")
# shellcheck disable=SC2086 # They are several options.
backup=$(barman-cloud-backup-list $options --format json "$BACKUPS" "$SERVER" | $python -c '
import json, sys
backups = [b for b in json.load(sys.stdin)["backups_list"] if b["status"] == "DONE"]
print(max(b["backup_id"] for b in backups))')
# PostgreSQL regards a WAL file that is missing or damaged as the end of the archive, and reports no error.
last=$($python -c '
import boto3, os, re, urllib.parse
url = urllib.parse.urlparse(os.environ["BACKUPS"])
folder = "/".join([url.path.strip("/"), os.environ["SERVER"], "wals/"]).lstrip("/")
pages = boto3.client("s3", endpoint_url=os.environ.get("ENDPOINT_URL") or None).get_paginator("list_objects_v2")
files = [re.search(r"/([0-9A-F]{24})(\.\w+)?$", o["Key"])
    for page in pages.paginate(Bucket=url.netloc, Prefix=folder) for o in page.get("Contents", [])]
print(max(f[1] for f in files if f))')
echo "restoring the base backup $backup and WAL up to $last"
# The container may have restarted.
rm -rf "$data" "$SCRATCH/replayed"
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
# Not the instance's own configuration, which names files and limits of the instance. PostgreSQL accepts connections on 127.0.0.1 only,
# without passwords. With hot_standby=off, it accepts none before the end of the recovery.
cat >"$SCRATCH/postgresql.conf" <<CONF
hba_file = '$SCRATCH/hba.conf'
ident_file = '$SCRATCH/ident.conf'
listen_addresses = '127.0.0.1'
port = ${PORT:-5432}
unix_socket_directories = '$SCRATCH'
restore_command = 'barman-cloud-wal-restore $options $BACKUPS $SERVER %f %p && echo %f >>$SCRATCH/replayed'
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
postgres -D "$data" -c config_file="$SCRATCH/postgresql.conf" &
server=$!
# It accepts connections when it has replayed the archive.
until pg_isready --host=127.0.0.1 --port="${PORT:-5432}" --username=postgres --quiet; do
	kill -0 "$server" 2>/dev/null || { echo "PostgreSQL ended before the end of the recovery" >&2 && exit 1; }
	sleep 1
done
kill -INT "$server"
wait "$server"
grep -qx "$last" "$SCRATCH/replayed" || {
	echo "the recovery ended before $last: it, or a WAL file before it, is missing or damaged" >&2
	exit 1
}
echo "replayed all WAL up to $last"
