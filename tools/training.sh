#!/bin/sh
# training.sh FILE -- write the part of docs/training.md on all published runs of FILE.
#
# FILE: training.csv, as `chalkline check --measured` reads it; where it is not, the part stays as
# it is. What stands between "<!-- runs -->" and "<!-- end -->" is replaced.
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
echo "$DOC"
