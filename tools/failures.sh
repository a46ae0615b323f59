#!/bin/sh
# failures.sh COMMAND... runs go test. If a test fails, it repeats the names of the failed tests and their assertions at the end,
# because the logs of one failed test can have thousands of lines.
log=$(mktemp) && status=$(mktemp) || exit 1
trap 'rm -f "$log" "$status"' EXIT
trap 'exit 130' INT TERM

{
	"$@" 2>&1
	echo $? >"$status"
} | tee "$log"
read -r code <"$status" && [ "$code" != 0 ] || exit "${code:-1}"

echo
echo "Failed:"
awk '
	/^ *--- FAIL: |^FAIL\t|^panic: / { print; next }
	/^ *Error Trace:|^ *Error:/ { print; assertion = /Error:/; next }
	assertion { print; assertion = 0 }
' "$log" | cut -c 1-200 | tail -n 40
exit "$code"
