#!/bin/sh
# accuracy.sh FILE... -- write the measured part of docs/accuracy.md, and docs/accuracy.png.
#
# FILE: measurements, as `chalkline check --measured` reads them. What stands between the
# marks "<!-- scores -->" and "<!-- end -->" is replaced, and so is the part "<!-- peers -->". FIT, where set, is the fit program
# and POINTS its sheets: the part "<!-- left out -->" is then made again too (minutes).
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
DOC=${DOC:-docs/accuracy.md}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

[ $# -gt 0 ] || { echo "accuracy.sh: no measurements" >&2; exit 2; }
files=$*

check() {
    for file in $files; do set -- "$@" --measured "$file"; done
    "$CHALKLINE" check "$@"
}

fence() {
    echo '```text'
    cat "$1"
    echo '```'
}

# The lines of the groups, without the totals that every grouping repeats, and without the
# kernels where they have no model.
groups() {
    check --by "$1" >"$here/all"
    sed '/^$/,$d; /^total /d' "$here/all" >"$here/groups"
    [ "$1" != model ] || sed -i '/  kernel  /d' "$here/groups"
    printf '\nBy %s:\n\n' "$1"
    fence "$here/groups"
}

scores() {
    printf 'Measurements: %s.\n\n' "$(printf '`%s`\n' $files | sed 's|`.*/|`|' | paste -sd, |
                                      sed 's/,/, /g')"
    check --by source --plot "${DOC%.md}.png" >"$here/all"
    fence "$here/all"
    printf '\n![Predicted against measured, by metric](%s.png)\n' "$(basename "${DOC%.md}")"
    check --stated | sed '/^  total /!d' >"$here/stated"
    printf '\nWithout the rows that have an inferred input:\n\n'
    fence "$here/stated"
    groups hardware
    groups model
}

# Formulas of others beside the prediction: over all files, then in each that has values for them.
peers() {
    check --peers | sed '1,/^[0-9,]* rows read/d; 1,/^$/d' >"$here/all"
    fence "$here/all"
    [ $# -gt 1 ] || return 0
    for file; do
        "$CHALKLINE" check --peers --measured "$file" | sed '1,/^[0-9,]* rows read/d; 1,/^$/d' >"$here/groups"
        [ -s "$here/groups" ] || continue
        printf '\n`%s` alone:\n\n' "${file##*/}"
        fence "$here/groups"
    done
}

# What to expect, by class: measured servers, other ones, and what measured loads of one's own bring on the two newest
# sheets; then the lines of the fit.
left_out() {
    $FIT servers pair $POINTS >"$here/fit"
    for n in '' 1 3; do
        for file in $POINTS; do
            case $file in *serving_points_2.csv | *mlenergy_2.csv)
                "$CHALKLINE" check --measured "$file" ${n:+--calibrate $n} --csv ;;
            esac
        done >"$here/own$n"
    done
    echo "Medians over rows; in brackets the mean over clusters of the cluster's median, where each counts once. For one server of
your own the number in brackets is the fairer guess."
    echo
    echo '| what | measured servers, in the fit | **other servers, left out** | two sheets, in the fit | after one measured load | after three | clusters: all, new |'
    echo '|---|---:|---:|---:|---:|---:|---:|'
    grep ' rows  median ' "$here/fit" |
        awk -v none="$here/own" -v one="$here/own1" -v three="$here/own3" -f tools/expect.awk
    printf '\nThe lines of the fit (`all` clusters, `before`: those open when the formulas were chosen, `new`: the others, `fit`: nothing left out;\n`c`: the number in brackets; *one of their own*: a band with the other rows of the cluster among those it is made of):\n\n'
    grep ' rows  median \| band of the others ' "$here/fit" >"$here/lines"
    fence "$here/lines"
    printf '\nAnd each cluster, with its network on its machine left out of the fit; at the end the day since when it has been open,\nor that it was in view of those who chose the formulas:\n\n'
    grep '^cluster ' "$here/fit" | sed 's/^cluster //' >"$here/lines"
    fence "$here/lines"
}

scores >"$here/scores"
tools/section.sh "$DOC" scores "$here/scores"
peers $files >"$here/peers"
tools/section.sh "$DOC" peers "$here/peers"
if [ -n "${FIT:-}" ]; then
    left_out >"$here/left_out"
    tools/section.sh "$DOC" 'left out' "$here/left_out"
fi
echo "$DOC ${DOC%.md}.png"
