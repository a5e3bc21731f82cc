#!/bin/sh
# run.sh TEST... -- run the test programs and the checks that are scripts (SCRIPTS="..." for only
# those), as many side by side as there are cores; count both. Each has its log beside the programs.
set -u
SCRIPTS=${SCRIPTS:-$(echo tests/check_*.sh)}
logs=$(dirname "$1")
export logs

# one TEST: "ok" or "FAIL" and how its log ends.
one='
    log=$logs/$(basename "$1").log
    "$1" >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        printf "ok    %s\n" "$(basename "$1")"
        case $1 in *.sh) tail -1 "$log" | sed -n "/^ /p" ;; esac
    else
        printf "FAIL  %s (exit %s)\n%s\n" "$(basename "$1")" $status "$(tail -40 "$log")"
    fi'
printf '%s\n' "$@" $SCRIPTS |
    xargs -P "$(nproc)" -I TEST sh -c "$one" one TEST | tee "$logs/all.log"
passed=$(grep -c '^ok    ' "$logs/all.log")
failed=$(grep -c '^FAIL  ' "$logs/all.log")
skipped=$(for test; do cat "$logs/$(basename "$test").log"; done | grep -c '^skipped: ')
[ "$skipped" = 0 ] || echo "      $skipped comparisons with published files were skipped: SHARED=DIR"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" = $(($# + $(echo $SCRIPTS | wc -w))) ]
