#!/bin/sh
# personal.sh LOCALSCORE CURRENT... -- write the parts of docs/accuracy.md on personal machines.
#
# LOCALSCORE: localscore.csv; CURRENT: sheets of current builds of llama.cpp. Where they are not, the parts stay as
# they are. What stands between "<!-- personal -->" and "<!-- end -->" is replaced. FIT, where set, is the fit
# program: the part "<!-- personal left out -->" is then made again too (minutes).
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
DOC=${DOC:-docs/accuracy.md}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

[ $# -gt 1 ] && [ -r "$1" ] || {
    echo "personal.sh: no sheets: those parts of $DOC stay as they are"
    exit 0
}

{
    echo '```text'
    for file; do
        "$CHALKLINE" check --measured "$file" >"$here/all"
        echo "${file##*/}: $(grep ' rows read: ' "$here/all"); $(sed -n 's/^ *\([0-9]*\)  suspect to its source/\1 suspect to its source/p' "$here/all")"
        sed -n '1p; /^  total /p' "$here/all" | sed 's/^ *total  */  /; 1s/^ */  /'
    done
    echo '```'
} >"$here/scores"
tools/section.sh "$DOC" personal "$here/scores"

if [ -n "${FIT:-}" ]; then
    $FIT personal device "$1" >"$here/fit"
    shift
    $FIT personal model "$@" >>"$here/fit"
    {
        echo '```text'
        grep '  median ' "$here/fit"
        echo '```'
    } >"$here/left_out"
    tools/section.sh "$DOC" 'personal left out' "$here/left_out"
fi
