#!/bin/sh
# build.sh NAME compiles devstack/cmd/NAME into .bin/ and reports progress, because the first time takes minutes.
cd "$(dirname "$0")/.." || exit 1
{ go build -v -o ".bin/$1" "./devstack/cmd/$1" 2>&1 || echo "build failed"; } | awk -v name="$1" '
	/^build failed$/ { failed = 1; next }
	/^go: downloading/ { if (!downloads++) print "Downloading Go modules."; next }
	/^[^ #]+\/?[^ ]*$/ {
		if (++packages == 10) print "Compiling " name ": some minutes the first time."
		if (packages % 100 == 0) { print "  " packages " packages"; fflush() }
		next
	}
	{ print > "/dev/stderr" }
	END { if (packages >= 100) print "Compiled " packages " packages."; exit failed }'
