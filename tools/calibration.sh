#!/bin/sh
# calibration.sh FILE... -- write the tables of docs/calibrate.md: how well calibrations predict.
#
# FILE: measurements, as `chalkline check --measured` reads them. What stands between the marks
# "<!-- loads -->" and "<!-- end -->" is the error at other loads of a server, what stands after
# "<!-- carried -->" that of other servers.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
DOC=${DOC:-docs/calibrate.md}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

[ $# -gt 0 ] || { echo "calibration.sh: no measurements" >&2; exit 2; }

# "3.2 / 4.9 / 10.6 (84 %)" of a metric; "" where nothing was scored.
score() {
    metric=$1; shift
    "$CHALKLINE" check "$@" 2>/dev/null |
        awk -v metric="$metric" '$1 == "total" && $2 == metric {
            printf "%s / %s / %s (%s %%)", $4, $6, $8, $(NF - 1); exit }' || true
}

loads() {
    echo '| points given | measurements | TPOT, or time per token of a batch | TTFT |'
    echo '|---:|---|---|---|'
    for points in 0 1 2 3 5; do
        for file in "$@"; do
            tpot=$(score tpot --measured "$file" --calibrate "$points")
            ttft=$(score ttft --measured "$file" --calibrate "$points")
            echo "| $points | $(basename "$file" .csv) | $tpot | $ttft |"
        done
    done
}

carried() {
    echo '| another | measurements | pairs | TPOT, not calibrated | TPOT, calibrated elsewhere |'
    echo '|---|---|---:|---|---|'
    for to in layout version precision machine model; do
        for file in "$@"; do
            after=$(score tpot --measured "$file" --calibrate 3 --to "$to")
            [ -n "$after" ] || continue
            pairs=$("$CHALKLINE" check --measured "$file" --calibrate 3 --to "$to" |
                    sed -n 's/^carried to .*: \([0-9,]*\) pairs.*/\1/p')
            before=$(score tpot --measured "$file" --calibrate 0 --to "$to")
            echo "| $to | $(basename "$file" .csv) | $pairs | $before | $after |"
        done
    done
}

loads "$@" >"$here/loads"
carried "$@" >"$here/carried"
awk -v here="$here" '
    /^<!-- (loads|carried) -->$/ { name = $2; print; print ""; while ((getline line < (here "/" name)) > 0) print line
                                   print ""; skip = 1; next }
    /^<!-- end -->$/ { skip = 0 }
    !skip { print }' "$DOC" >"$here/doc"
cat "$here/doc" >"$DOC"
