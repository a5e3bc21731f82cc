#!/bin/sh
# check_worlds_long.sh -- check_worlds.sh for the first 300 worlds; for 1,000 of them with CHALKLINE_LONG (`make check-long`).
# Long: some minutes.
count=300
[ -z "${CHALKLINE_LONG:-}" ] || count=1000
exec "$(dirname "$0")/check_worlds.sh" 1 $count
