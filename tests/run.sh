#!/bin/sh
# run.sh TEST... -- run the test programs and the checks that are scripts (SCRIPTS="..." for only
# those), as many side by side as there are cores; count both. Each has its log beside the programs.
set -u
SCRIPTS=${SCRIPTS:-$(echo tests/check_*.sh)}
# Builds the whole tree again: `make check-long` alone.
[ -n "${CHALKLINE_LONG:-}" ] || SCRIPTS=$(echo "$SCRIPTS" | sed 's|tests/check_additions.sh||')
logs=$(dirname "$1")
# What `quiz` remembers is not the tester's.
XDG_STATE_HOME=$(cd "$logs" && pwd)/state
export logs XDG_STATE_HOME
unset COLUMNS                           # the width of a terminal, which the tests have not

# one TEST: "ok" or "FAIL", how long it took, and how its log ends.
one='
    log=$logs/$(basename "$1").log
    begin=$(date +%s%N)
    "$1" >"$log" 2>&1
    status=$?
    seconds=$(($(date +%s%N) / 100000000 - begin / 100000000))
    seconds=$((seconds / 10)).$((seconds % 10))
    if [ $status = 0 ]; then
        printf "ok    %-28s %6s s\n" "$(basename "$1")" $seconds
        case $1 in *.sh) tail -1 "$log" | sed -n "/^ /p" ;; esac
    else
        printf "FAIL  %-28s %6s s (exit %s)\n%s\n" "$(basename "$1")" $seconds $status "$(tail -40 "$log")"
    fi'
# Scripts first: the longest of all are among them.
printf '%s\n' $SCRIPTS "$@" |
    xargs -P "$(nproc)" -I TEST sh -c "$one" one TEST | tee "$logs/all.log"
passed=$(grep -c '^ok    ' "$logs/all.log")
failed=$(grep -c '^FAIL  ' "$logs/all.log")
skipped=$(for test; do cat "$logs/$(basename "$test").log"; done | grep -c '^skipped: ')
[ "$skipped" = 0 ] || echo "      $skipped comparisons with published files were skipped: SHARED=DIR"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" = $(($# + $(echo $SCRIPTS | wc -w))) ]
