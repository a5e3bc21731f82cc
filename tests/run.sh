#!/bin/sh
# run.sh [TEST...] -- run test programs and the checks that are scripts, as many side by side as there are cores, and count
# them. SCRIPTS="..." names the scripts; by default all but those whose head says "Long:". Each has its log beside the
# programs. A script that ends with 77 is skipped; a line "skipped: needs ..." in any log says what this machine lacks.
set -u
SCRIPTS=${SCRIPTS:-$(grep -L '^# Long:' tests/check_*.sh)}
logs=$(dirname "${CHALKLINE:-build/gcc/chalkline}")/tests
mkdir -p "$logs"
# What `quiz` remembers is not the tester's.
XDG_STATE_HOME=$(cd "$logs" && pwd)/state
export logs XDG_STATE_HOME
unset COLUMNS                           # the width of a terminal, which the tests have not

# one TEST: "ok", "skip" or "FAIL", seconds on the clock and of processors, and how its log ends.
one='
    log=$logs/$(basename "$1").log
    begin=$(date +%s%N)
    "$1" >"$log" 2>&1
    status=$?
    tenths=$(($(date +%s%N) / 100000000 - begin / 100000000))
    times >"$log.times"
    used=$(awk "NR == 2 { gsub(/[ms]/, \" \"); printf \"%.1f\", \$1 * 60 + \$2 + \$3 * 60 + \$4 }" "$log.times")
    took=$(printf "%6s s %6s s of processors" $((tenths / 10)).$((tenths % 10)) "$used")
    case $status in
    0)  printf "ok    %-24s %s\n" "$(basename "$1")" "$took"
        case $1 in *.sh) tail -1 "$log" | sed -n "/^ /p" ;; esac ;;
    77) printf "skip  %s\n" "$(basename "$1")" ;;
    *)  printf "FAIL  %-24s %s (exit %s)\n%s\n" "$(basename "$1")" "$took" $status "$(tail -40 "$log")" ;;
    esac'
# Scripts first: the longest of all are among them.
printf '%s\n' $SCRIPTS "$@" |
    xargs -P "$(nproc)" -I TEST sh -c "$one" one TEST | tee "$logs/all.log"
passed=$(grep -c '^ok    ' "$logs/all.log")
failed=$(grep -c '^FAIL  ' "$logs/all.log")
whole=$(grep -c '^skip  ' "$logs/all.log")
published=0 skipped=0
for test in $SCRIPTS "$@"; do
    name=$(basename "$test")
    published=$((published + $(grep '^skipped: ' "$logs/$name.log" | grep -vc '^skipped: needs ')))
    lines=$(sed -n 's/^skipped: \(needs .*\)/\1/p' "$logs/$name.log" | awk '!told[$0]++')
    [ -n "$lines" ] || continue
    skipped=$((skipped + $(echo "$lines" | wc -l)))
    echo "$lines" | sed "s|^|skip $name: |"
done
[ "$published" = 0 ] || echo "      $published comparisons with published files were left out: SHARED=DIR"
sed -n 's/^FAIL  \([^ ]*\).*/FAIL \1/p' "$logs/all.log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ $((passed + whole)) = $(($# + $(echo $SCRIPTS | wc -w))) ]
