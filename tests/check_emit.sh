#!/bin/sh
# check_emit.sh -- what --emit writes for clusters, by schemas and documented flags (tests/emit). The last line says
# what was reached.
# Long: Node, and packages that npm fetches.
set -u
cd "$(dirname "$0")/.." || exit 2
program=${CHALKLINE:-./chalkline}
case $program in /*) ;; *) program=$PWD/$program ;; esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT
. tests/needs.sh
node_packages 18 tests/emit
CHALKLINE=$program node --test tests/emit/emit.test.mjs >"$log" 2>&1
passed=$(sed -n 's/^# pass //p' "$log") failed=$(sed -n 's/^# fail //p' "$log")
if [ "${failed:-1}" != 0 ] || [ "${passed:-0}" = 0 ]; then
    cat "$log"
    exit 1
fi
echo "  $passed tests of documents for clusters"
