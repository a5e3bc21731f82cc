#!/bin/sh
# section.sh DOC MARK FILE -- put FILE between the line "<!-- MARK -->" of DOC and the next
# "<!-- end -->", in place of what stands there.
set -eu
doc=$1 mark="<!-- $2 -->" file=$3
here=$(mktemp)
trap 'rm -f "$here"' EXIT
grep -qxF -e "$mark" "$doc" || { echo "section.sh: no $mark in $doc" >&2; exit 1; }
awk -v mark="$mark" -v new="$file" '
    $0 == mark {
        print $0 "\n"
        while ((getline line < new) > 0) print line
        print ""
        skip = 1
    }
    $0 == "<!-- end -->" { skip = 0 }
    !skip { print }' "$doc" >"$here"
cat "$here" >"$doc"
