#!/bin/sh
# check_hostile.sh -- `measure` and `watch` before endpoints that misbehave (tests/hostile.py): they end in time and in
# memory, with a status and words.
set -u
. "$(dirname "$0")/needs.sh"
has_program python3 || exit 77
exec python3 "$(dirname "$0")/hostile.py" "${CHALKLINE:-./chalkline}"
