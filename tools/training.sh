#!/bin/sh
# training.sh FILE -- write the parts of docs/training.md on all published runs of FILE.
#
# FILE: training.csv, as `chalkline check --measured` reads it; where it is not, the parts stay as
# they are. What stands between "<!-- runs -->" and "<!-- end -->" is replaced. FIT, where set, is
# the fit program: the part "<!-- left out -->" is then made again too (seconds).
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
DOC=${DOC:-docs/training.md}
file=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

[ -r "$file" ] || {
    echo "training.sh: no $file: that part of $DOC stays as it is"
    exit 0
}

table() {
    echo '```text'
    "$CHALKLINE" check --measured "$file" "$@"
    echo '```'
}

{
    table --by source --worst 12
    printf '\nBy machine:\n\n'
    table --by hardware | sed '/^total /d; /^$/,/^`/{/^`/!d}'
} >"$here/runs"
tools/section.sh "$DOC" runs "$here/runs"

# All runs by each of the fits, then those of a generation by a fit that saw none of it.
left_out() {
    echo '```text'
    for way in '' source generation; do
        $FIT training $way "$file" >"$here/fit"
        grep '^[a-z].*  median ' "$here/fit"
    done
    grep '^  .*  median ' "$here/fit"
    echo '```'
}
if [ -n "${FIT:-}" ]; then
    left_out >"$here/left_out"
    tools/section.sh "$DOC" 'left out' "$here/left_out"
fi
echo "$DOC"
