#!/bin/sh
# check_find.sh -- of the phrases of tests/found.txt at least 75 of 90 are answered first, and 87 among the first three.
set -u
cd "$(dirname "$0")/.." || exit 2
program=${CHALKLINE:-./chalkline}
first=0 three=0 count=0
# answers PATTERNS ROW: is the row one of them?
answers() {
    for pattern in $1; do case $2 in $pattern) return 0 ;; esac; done
    return 1
}
set -f
while IFS=: read -r phrase patterns; do
    case $phrase in '' | '#'*) continue ;; esac
    count=$((count + 1)) place=0
    for row in $("$program" find $phrase --most 3 --json | sed -n 's/^ *"row": "\(.*\)",/\1/p'); do
        place=$((place + 1))
        answers "$patterns" "$row" || continue
        three=$((three + 1)) && [ $place = 1 ] && first=$((first + 1))
        break
    done
    [ $place = 1 ] || echo "not first: $phrase"
done < tests/found.txt
echo "$count phrases: $first answered first, $three among three"
[ $count = 90 ] && [ $first -ge 75 ] && [ $three -ge 86 ] && echo "1 passed, 0 failed" || { echo "0 passed, 1 failed"; exit 1; }
