#!/bin/sh
# check_worlds_long.sh -- check_worlds.sh for the worlds from 101 on, which it leaves: to the 300th; to the 1,000th with
# CHALKLINE_LONG (`make check-long`).
# Long: some minutes.
count=200
[ -z "${CHALKLINE_LONG:-}" ] || count=900
exec "$(dirname "$0")/check_worlds.sh" 101 $count
