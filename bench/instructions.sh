#!/bin/sh
# instructions.sh [--write] -- the instructions that commands execute, counted by callgrind, beside those that
# bench/instructions.csv allows. A line a command: name, instructions, allowed, ratio. More than 5 % above what is allowed
# fails. --write puts the counts into the sheet; a commit that raises one says why.
#
# Counts depend on the C library and the compiler: the sheet has those of Debian 12 with gcc 12, -O2.
set -u
cd "$(dirname "$0")/.." || exit 2
sheet=bench/instructions.csv
CHALKLINE=${CHALKLINE:-./chalkline}
command -v valgrind >/dev/null || { echo "skip instructions: needs valgrind"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export CHALKLINE here XDG_STATE_HOME="$here" OMP_NUM_THREADS=1

# one NAME COMMAND...: the count in a file of that name. Addresses are not random, and the environment is the same.
one='
    name=$1; shift
    setarch -R env -i XDG_STATE_HOME="$here" OMP_NUM_THREADS=1 \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$CHALKLINE" "$@" >"$here/$name.out" 2>"$here/$name.log"
    sed -n "s/.*Collected : *//p" "$here/$name.log" >"$here/$name"'
grep -v -e '^#' -e '^name,' "$sheet" | sed 's/^\([^,]*\),[^,]*,/\1 /' |
    xargs -P "$(nproc)" -L 1 sh -c "$one" one
passed=0 failed=0
grep -v -e '^#' -e '^name,' "$sheet" >"$here/rows"
while IFS=, read -r name allowed command; do
    count=$(cat "$here/$name" 2>/dev/null)
    ratio=$(awk -v count="${count:-0}" -v allowed="$allowed" 'BEGIN { printf "%.3f", count / allowed }')
    verdict=$(awk -v count="${count:-0}" -v ratio="$ratio" 'BEGIN { print (count == 0 ? "  not counted" : ratio > 1.05 ? "  above" : "") }')
    printf '%-16s %13s %13s  %s%s\n' "$name" "${count:--}" "$allowed" "$ratio" "$verdict"
    [ -n "$count" ] || tail -3 "$here/$name.log"
    if [ -n "$verdict" ]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
    echo "$name,$count,$command" >>"$here/new"
done <"$here/rows"
if [ "${1:-}" = --write ]; then
    grep -e '^#' -e '^name,' "$sheet" | cat - "$here/new" >"$here/sheet" && cp "$here/sheet" "$sheet"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
