#!/bin/sh
# check_endings.sh -- every verb where a resource is short, every writer that is killed, every written file that was cut
# (tests/endings.py). CHALKLINE_LONG=N: N times as many kills; CHALKLINE_SHORT=N: an N-th part.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/needs.sh
has_program python3 || exit 77
exec python3 tests/endings.py "${CHALKLINE:-./chalkline}"
