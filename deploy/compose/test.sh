#!/usr/bin/env bash
# test.sh follows deploy/compose/README.md with podman: it starts Coffer, registers a user, reads a receipt, restarts, upgrades, moves
# attachments into an object store, makes a backup and restores it into another folder. It requires root, Debian, Go and npm, and no
# registry: it builds the images of Coffer, PostgreSQL, NATS and the store itself, so PostgreSQL has the version of Debian. Arguments:
# none. It takes about ten minutes. With ENGINE=docker it uses `docker compose`, which must be installed and reach a Docker daemon.
set -euo pipefail
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive
work=$(mktemp -d)
cache=$PWD/.cache/compose
mkdir -p "$cache"
port=18080
engine=${ENGINE:-podman}
say() { printf '\n== %s\n' "$*"; }

# The engines name images without a registry, and containers, differently.
case $engine in
podman) coffer_images=localhost/coffer separator=_ programs="podman podman-compose runc netavark aardvark-dns iptables" ;;
docker) coffer_images=coffer separator=- programs="" ;;
*) echo "ENGINE must be podman or docker" >&2 && exit 2 ;;
esac

say "install packages"
packages="$programs debootstrap imagemagick fonts-dejavu-core"
# shellcheck disable=SC2086 # They are several words.
dpkg -s $packages >/dev/null 2>&1 || {
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends $packages >/dev/null
}
# Without these limits and this runtime, containers do not start where the kernel has both versions of cgroups.
cat >"$work/containers.conf" <<END
[containers]
default_ulimits=["nofile=1024:4096","nproc=1024:4096"]
[engine]
runtime="runc"
cgroup_manager="cgroupfs"
events_logger="file"
END
export CONTAINERS_CONF="$work/containers.conf"

# compose FOLDER COMMAND... runs a command of compose in an installation.
compose() (
	cd "$work/$1"
	shift
	case $engine in
	podman) podman-compose --project-name "$(basename "$PWD")" "$@" ;;
	docker) docker compose --project-name "$(basename "$PWD")" "$@" ;;
	esac
)
# container FOLDER SERVICE prints the name of a container.
container() { echo "$1$separator$2${separator}1"; }
finish() {
	status=$?
	for name in first second; do
		[ ! -d "$work/$name" ] || {
			[ "$status" = 0 ] || compose "$name" logs >"$cache/$name.log" 2>&1 || true
			compose "$name" down --volumes >/dev/null 2>&1 || true
		}
	done
	rm -rf "$work"
	[ "$status" = 0 ] || echo "failed; the logs are in .cache/compose" >&2
}
trap finish EXIT

say "build the images"
image() { "$engine" image inspect "$1" >/dev/null 2>&1; }
image docker.io/library/postgres:17 || {
	debootstrap --variant=minbase --include=postgresql bookworm "$work/root" >"$cache/debootstrap.log"
	echo 'app:x:999:999::/var/lib/postgresql:/bin/sh' >>"$work/root/etc/passwd"
	bin=$(cd "$work/root" && echo usr/lib/postgresql/*/bin)
	tar -C "$work/root" -c . | "$engine" import --change "ENV PATH=/$bin:/usr/sbin:/usr/bin:/sbin:/bin" - docker.io/library/postgres:17
}
image docker.io/library/nats:2.15.2 || {
	CGO_ENABLED=0 GOBIN="$work/nats" GOFLAGS= go install github.com/nats-io/nats-server/v2@v2.15.2
	tar -C "$work/nats" -c nats-server | "$engine" import --change 'ENTRYPOINT ["/nats-server"]' - docker.io/library/nats:2.15.2
}
image localhost/versitygw:1 || {
	CGO_ENABLED=0 GOWORK=off go -C tools/versitygw build -o "$work/store/" github.com/versity/versitygw/cmd/versitygw
	tar -C "$work/store" -c versitygw | "$engine" import --change 'ENTRYPOINT ["/versitygw"]' - localhost/versitygw:1
}
for version in 0.0.1 0.0.2; do
	make --no-print-directory images VERSION="$version"
	for service in auth ledger budget ocr gateway; do
		"$engine" load -q -i ".cache/images/$service.tar"
	done
done

# install FOLDER VERSION copies this folder and sets its variables.
install() {
	cp -RL deploy/compose "$work/$1"
	sed -i -e "s|^COFFER_VERSION=.*|COFFER_VERSION=$2|" -e "s|^COFFER_IMAGES=.*|COFFER_IMAGES=$coffer_images|" \
		-e "s|^COFFER_ADDR=.*|COFFER_ADDR=127.0.0.1:$port|" "$work/$1/.env"
}
coffer=http://127.0.0.1:$port
# await waits until Coffer is ready.
await() {
	for _ in $(seq 180); do
		[ "$(curl -fsS "$coffer/readyz" -o /dev/null -w '%{http_code}' 2>/dev/null)" = 200 ] && return
		sleep 1
	done
	echo "Coffer is not ready after 3 minutes" >&2
	return 1
}
pick() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
post() { curl -sS --fail-with-body -H 'Content-Type: application/json' "$@"; }
login() {
	TOKEN=$(post "$coffer/api/v1/auth/login" -d '{"email": "ada@example.com", "password": "correct horse battery staple"}' |
		pick accessToken)
}
# attach NAME TEXT attaches a file to the transaction. attached maps the ids of attachments to their content.
declare -A attached
attach() {
	printf '%s' "$2" >"$work/$1"
	id=$(curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -F "file=@$work/$1" \
		"$coffer/api/v1/transaction/$transaction/attachments" | pick id)
	attached[$id]=$2
}
download() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$coffer/api/v1/attachments/$1"; }
# check reads what the user has stored, with a token of before and a new one.
check() {
	curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$coffer/api/v1/wallet/$wallet" | grep -q '"balance":237.70'
	login
	curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$coffer/api/v1/transaction" | grep -q '"amount":-12.30'
	for attachment in "${!attached[@]}"; do
		[ "$(download "$attachment")" = "${attached[$attachment]}" ]
	done
}

say "start, register, and read a receipt"
install first 0.0.1
compose first up -d
await
post "$coffer/api/v1/auth/register" -d '{"name": "Ada", "email": "ada@example.com", "password": "correct horse battery staple"}'
login
authorized=(-H "Authorization: Bearer $TOKEN")
wallet=$(post "${authorized[@]}" "$coffer/api/v1/wallet" -d '{"name": "Cash", "currency": "EUR", "balance": 250}' | pick id)
food=$(post "${authorized[@]}" "$coffer/api/v1/categories" -d '{"name": "Food"}' | pick id)
transaction=$(post "${authorized[@]}" "$coffer/api/v1/transaction" -d '{"amount": 12.30, "type": "expense", "currency": "EUR",
	"date": "2026-11-21", "description": "Lunch", "walletId": "'"$wallet"'", "categoryId": "'"$food"'"}' | pick id)
attach invoice.txt "in PostgreSQL"
/usr/bin/convert -font DejaVu-Sans-Mono -pointsize 28 -border 40 label:$'CORNER BAKERY\n12 Mill Lane, Dublin\n21/11/2026 08:41\n
2 x Croissant     2.40    4.80\nSourdough bread           5.60\nCoffee                    3.10\nTotal EUR                13.50' "$work/photo.png"
curl -sS --fail-with-body "${authorized[@]}" -F "receipt=@$work/photo.png" -F "walletId=$wallet" -F "categoryId=$food" \
	"$coffer/api/v1/transaction/receipt?dryRun=true" | tee "$cache/receipt.json" | grep -q '"total":13.50'
check

say "the programs are ready, and read no secrets of each other"
# Not podman healthcheck: podman-compose 1.0.3 runs the command of a check in a shell, and the images have none.
for service in auth ledger budget ocr gateway; do
	"$engine" exec "$(container first "$service")" /app ready
	[ "$engine" = podman ] || [ "$(docker inspect "$(container first "$service")" --format '{{.State.Health.Status}}')" = healthy ]
done
"$engine" exec "$(container first postgres)" pg_isready --host=127.0.0.1 --quiet
mounts=$("$engine" inspect "$(container first ledger)" --format '{{range .Mounts}}{{.Name}} {{end}}')
[ "$mounts" = "first_secrets-ledger " ]

say "restart"
compose first down
compose first up -d
await
check

say "upgrade"
sed -i 's/^COFFER_VERSION=.*/COFFER_VERSION=0.0.2/' "$work/first/.env"
compose first down
compose first up -d
await
check
curl -fsS "$coffer/version" | grep -q 0.0.2

say "move the files into an object store"
# store FOLDER adds an S3 server to an installation, whose bucket is a folder.
store() {
	mkdir -p "$work/$1/store/coffer-files"
	cat >"$work/$1/compose.override.yaml" <<-'END'
		services:
		  store:
		    image: localhost/versitygw:1
		    command: [posix, /data]
		    environment: {ROOT_ACCESS_KEY: coffer-test, ROOT_SECRET_KEY: secret-of-the-test}
		    volumes: ["./store:/data"]
	END
	sed -i -e 's|^FILES_URL=.*|FILES_URL=s3://store:7070/coffer-files?http=true|' -e 's|^FILES_KEY_ID=.*|FILES_KEY_ID=coffer-test|' \
		-e 's|^FILES_KEY=.*|FILES_KEY=secret-of-the-test|' "$work/$1/.env"
}
ledger() { "$engine" exec "$(container "$1" ledger)" /app "${@:2}"; }
store first
compose first down
compose first up -d
await
attach receipt.txt "in the object store"
ledger first move-files -to s3
[ "$(find "$work/first/store/coffer-files" -type f | wc -l)" = 2 ]
check
"$engine" stop "$(container first store)" >/dev/null
if download "$id" >"$cache/without-store.json"; then
	exit 1
fi
grep -q SERVICE_UNAVAILABLE "$cache/without-store.json"
"$engine" start "$(container first store)" >/dev/null

say "back up, and restore into an empty folder"
compose first exec -T postgres sh /coffer/backup.sh coffer
compose first down
install second 0.0.2
store second
cp -a "$work/first/store/coffer-files" "$work/second/store/"
mkdir "$work/second/backups"
mv "$work/first/backups/coffer" "$work/second/backups/"
compose second up -d postgres
# restore prints the output: podman-compose 1.0.3 does not return the exit code of a command.
restore() { compose second exec -T postgres sh /coffer/restore.sh coffer 2>&1; }
output=$(restore)
grep -qx restored <<<"$output"
compose second up -d
await
check
ledger second check-files
output=$(restore) || true
grep -q 'the database has tables already' <<<"$output"
say "passed"
