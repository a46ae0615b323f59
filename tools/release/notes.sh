#!/bin/sh
# notes.sh VERSION prints the section of a version in CHANGELOG.md. It fails if the version has none.
set -eu
cd "$(dirname "$0")/../.."
awk -v heading="## [$1] - " '
	index($0, "## ") == 1 || /^\[[^]]*\]: / { printing = 0 }
	printing { print; if (NF) filled = 1 }
	index($0, heading) == 1 { printing = 1 }
	END { exit !filled }
' CHANGELOG.md || { echo "CHANGELOG.md has no section for $1" >&2; exit 1; }
