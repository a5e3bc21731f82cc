#!/bin/sh
# check_torture.sh -- one call that can fail fails, at many places of every verb (tests/torture.py). CHALKLINE_LONG=2: at
# every place, which takes 100 minutes of a processor, most of them for `market`.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/needs.sh
has_program python3 || exit 77
[ "$(uname -s)" = Linux ] || missing Linux
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
${CC:-cc} -O1 -Wall -Wextra -shared -fPIC -fno-builtin tests/torture/torture.c -o "$here/torture.so" -ldl || exit 1
python3 tests/torture.py "${CHALKLINE:-./chalkline}" "$here/torture.so"
