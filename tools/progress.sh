#!/bin/sh
# progress.sh NAME GO... runs a go command that compiles NAME. From its third second on it prints the progress every 10 s, because
# the first build on a machine takes minutes and go prints nothing. Errors are printed at the end. CPU_SECONDS is the processor time of a
# build without a cache, from which it estimates the duration (docs/benchmarks.md). Packages that wait for others use one core, so
# the build takes up to twice the time of the cores, and at least 40 s.
name=$1
shift
log=$(mktemp) && begin=$(date +%s) || exit 1
elapsed() { echo $(($(date +%s) - begin)); }

# duration prints how long a build without a cache takes here.
duration() {
	[ -n "${CPU_SECONDS:-}" ] || { echo "some minutes" && return; }
	cores=$(getconf _NPROCESSORS_ONLN)
	least=$((CPU_SECONDS / cores > 40 ? CPU_SECONDS / cores : 40))
	echo "$least to $((2 * least)) s on $cores cores, and longer on a busy machine"
}

progress() {
	sleep 3 >/dev/null 2>&1
	echo "Compiling $name. The first time takes $(duration)."
	while sleep 10 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
		echo "  after $(elapsed) s: downloaded $(grep -c '^go: downloading' "$log") modules, compiled $(grep -c '^[^ ]*$' "$log") packages"
	done
}
# go runs in the foreground, so that the script ends as soon as go does. The sleep of a killed ticker keeps no file open.
progress &
ticker=$!
trap 'kill $ticker 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT TERM

GOFLAGS="-v ${GOFLAGS:-}" "$@" >"$log" 2>&1
status=$?
# go prints a compiled package as one word.
grep -v -e '^go: downloading' -e '^[^ ]*$' "$log" >&2
[ "$(elapsed)" -lt 3 ] || [ $status != 0 ] || echo "Compiled $name in $(elapsed) s."
exit $status
