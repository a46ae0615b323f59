#!/usr/bin/env bash
# check.sh SERVICE... builds images twice and compares them. The second build runs in another folder with an empty build cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
services=("$@")
again=$(mktemp -d)
trap 'chmod -R u+w "$again"; rm -rf "$again"' EXIT

make --no-print-directory images SERVICES="${services[*]}" VERSION=check
mkdir "$again/tree"
tar --exclude=./.bin --exclude=./.cache --exclude=./.data --exclude=node_modules -c . | tar -x -C "$again/tree"
cp -R .bin "$again/tree/.bin"
(cd "$again/tree" && GOCACHE="$again/cache" "$PWD/.bin/images" .cache/images check "${services[@]}")
diff .cache/images/index/index.json "$again/tree/.cache/images/index/index.json"
for service in "${services[@]}"; do
	for architecture in amd64 arm64; do
		bill=".cache/images/$service-$architecture.spdx.json"
		diff "$bill" "$again/tree/$bill"
		grep -rqs "\"architecture\": *\"$architecture\"" .cache/images/index/blobs
	done
	[ "$(".cache/images/programs/$(go env GOARCH)/$service" version)" = check ]
done
echo "Both builds have the same digests: ${services[*]}"
