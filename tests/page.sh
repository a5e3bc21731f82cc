#!/bin/sh
# page.sh -- the tests of the built page; the last line counts them.
set -u
cd "$(dirname "$0")/.." || exit 2
log=build/page/tests.log
CHALKLINE=$PWD/chalkline node --test --test-concurrency=2 web/page/test/*.test.mjs >"$log" 2>&1
grep -E '^ *(not )?ok |^# [0-9]+ answers|^ *# \\# ' "$log"
passed=$(sed -n 's/^# pass //p' "$log") failed=$(sed -n 's/^# fail //p' "$log")
[ "${failed:-1}" = 0 ] || grep -A25 '^ *not ok' "$log" | cut -c1-300 | head -150
echo "${passed:-0} passed, ${failed:-1} failed"
[ "${failed:-1}" = 0 ] && [ "${passed:-0}" != 0 ]
