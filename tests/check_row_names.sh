#!/bin/sh
# check_row_names.sh -- C names a row NAME_x, so that a misspelt row does not compile: no string
# literal of the product equals a row's name, and no format makes one ("reached_%s"). Words that only
# look like rows, and formats that make other names, stand in tests/words_like_rows.txt with the reason;
# a line of it that nothing needs is an offence too. Prints each offending line.
set -u
cd "$(dirname "$0")/.." || exit 2
words=tests/words_like_rows.txt

files=$(find . \( -name .git -o -name build -o -name node_modules -o -path ./tests -o \
                  -path ./tools -o -path ./bench \) -prune -o -name '*.[ch]' -print -o -name '*.def' -print |
        sed 's|^\./||' | sort)

found=$({
    sh tools/row_names.sh $(sed 's|^|formulas/|' formulas/order.txt) |
        sed -n 's/^#define NAME_\([a-z0-9_]*\) .*/row \1/p'
    sed -n 's/^\([^# ][^ ]*\) *\([^ ]*\) *\(.*\)/word \1 \2 \3/p' "$words"
} | awk -v list="$words" '
    # One literal, without its quotes.
    function literal(text,   name) {
        name = text
        if (!(text in row)) {
            gsub(/%[-.*0-9]*s/, "\001", name)
            if (!match(name, /[A-Za-z0-9_]*_\001|\001_[A-Za-z0-9_]*\001?/)) return
            name = substr(name, RSTART, RLENGTH)
            gsub("\001", "%s", name)
        }
        literals++
        if ((FILENAME, name) in reason) used[FILENAME, name] = 1
        else if ((FILENAME, "*") in reason) used[FILENAME, "*"] = 1
        else print FILENAME ":" FNR ": \"" name "\"    (" \
                   (text in row ? "NAME_" name : "makes the name of a row?") ")"
    }
    FILENAME == "-" && $1 == "row" { row[$2] = 1; rows++; next }
    FILENAME == "-" {
        if (NF < 4) print list ": " $2 " " $3 "    (no reason)"
        reason[$2, $3] = 1
        next
    }
    FNR == 1 { comment = 0 }
    {
        rest = $0
        for (;;) {
            if (comment) {
                end = index(rest, "*/")
                if (!end) next
                rest = substr(rest, end + 2)
                comment = 0
            }
            if (!match(rest, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047|\/\*|\/\//)) next
            token = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            if (token == "//") next
            if (token == "/*") comment = 1
            else if (token ~ /^"/) literal(substr(token, 2, length(token) - 2))
        }
    }
    END {
        for (known in reason)
            if (!(known in used)) {
                split(known, part, SUBSEP)
                print list ": " part[1] " " part[2] "    (stands there no more)"
            }
        if (rows < 1000 || literals < 50) print "      only " rows + 0 " rows, " literals + 0 " literals"
    }' - $files)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
