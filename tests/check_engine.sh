#!/bin/sh
# check_engine.sh -- `measure`, `calibrate` and `import` with a real engine on this machine's processors
# (tests/engine). The last line says what was reached.
# Long: Node 20, packages that npm fetches, and minutes.
set -u
cd "$(dirname "$0")/.." || exit 2
program=${CHALKLINE:-./chalkline}
case $program in /*) ;; *) program=$PWD/$program ;; esac
model=$(dirname "$program")/tests/model
[ -x "$model" ] || model=build/gcc/tests/model
log=$(mktemp)
trap 'rm -f "$log"' EXIT
. tests/needs.sh
[ -x "$model" ] || missing "an engine that has a binary for $(uname -s) on $(uname -m)"
node_packages 20 tests/engine
CHALKLINE=$program ENGINE_MODEL=$(cd "$(dirname "$model")" && pwd)/model \
    node --test tests/engine/engine.test.mjs >"$log" 2>&1
passed=$(sed -n 's/^# pass //p' "$log") failed=$(sed -n 's/^# fail //p' "$log")
if [ "${failed:-1}" != 0 ] || [ "${passed:-0}" = 0 ]; then
    cat "$log"
    exit 1
fi
sed -n 's/^# \([0-9]* clients: .*\)/\1/p; s/^# \(.* experts: .*\)/\1/p; s/^# \(not compared.*\)/\1/p; s/^# \(accuracy is not.*\)/\1/p' "$log"
echo "  $passed tests; $(sed -n 's/^# \([0-9]* clients\): .*\(calibrated [^;]*\);.*/\1 \2/p' "$log" | paste -sd, | sed 's/,/, /')"
