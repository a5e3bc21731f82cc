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

# Each source, model and machine left out of the fit in turn, and scored by it.
left_out() {
    $FIT servers source $POINTS >"$here/fit"
    grep '  median .* in ' "$here/fit" >"$here/sources"
    grep '^source left out ' "$here/fit" >"$here/lines"
    for way in model machine ''; do
        $FIT servers $way $POINTS >"$here/fit"
        grep '  median ' "$here/fit" >>"$here/lines"
    done
    printf 'Errors in per cent, by source:\n\n'
    fence "$here/sources"
    printf '\nAnd by what ran:\n\n'
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
