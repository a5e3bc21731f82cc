#!/bin/sh
# check_python.sh -- the Python package beside the command line (tests/python/test_package.py), as `make python` leaves it, and
# the adapters over it.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$(dirname "${CHALKLINE:-build/gcc/chalkline}")/python
. tests/needs.sh
command -v python3 >/dev/null || missing python3
[ -f $build/chalkline/_verbs.py ] || missing 'python3 when it is built'
for file in test_package test_adapters; do
    python3 tests/python/$file.py "${CHALKLINE:-./chalkline}" $build >$build/tests.log 2>&1 || { cat $build/tests.log; exit 1; }
    sed -n 's/^Ran /  ran /p' $build/tests.log
done
