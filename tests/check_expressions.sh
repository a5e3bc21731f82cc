#!/bin/sh
# check_expressions.sh -- formulas live in formulas/ only: no string literal of the product has a row's
# name beside an operator, or inside a call of the row language ("AT(kv_blocks_per_rank, kv_blocks_reported = 0)").
# Literals that only look so stand in tests/expressions_in_c.txt with the reason; a line of it that
# nothing needs is an offence too. Prints each offending line.
set -u
cd "$(dirname "$0")/.." || exit 2
list=tests/expressions_in_c.txt

files=$(find . \( -name .git -o -name build -o -name node_modules -o -path ./tests -o \
                  -path ./tools -o -path ./bench \) -prune -o -name '*.[ch]' -print -o -name '*.def' -print |
        sed 's|^\./||' | sort)

found=$({
    sh tools/row_names.sh $(sed 's|^|formulas/|' formulas/order.txt) |
        sed -n 's/^#define NAME_\([a-z0-9_]*\) .*/row \1/p'
    sed -n '/^[^#]/s/^/known /p' "$list"
} | awk -v list="$list" '
    # Is there a name of a row, as a word, in what stands there?
    function has_row(text,   word) {
        while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
            word = substr(text, RSTART, RLENGTH)
            if (word in row) return 1
            text = substr(text, RSTART + RLENGTH)
        }
        return 0
    }
    function is_expression(text,   part) {
        if (text ~ /(AT|ROOT|SUM|MOST|LEAST|EACH|GIVEN|select|both|either|min|max|floor|ceil|sqrt|pow|exp|log)\(/ &&
            has_row(text))
            return 1
        while (match(text, /[A-Za-z_0-9)\]]+ [*\/+-] [A-Za-z_0-9(]+/)) {
            part = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + 1)
            if (has_row(part)) return 1
        }
        return 0
    }
    function literal(text) {
        literals++
        if (!is_expression(text)) return
        sub(/ +$/, "", text)
        if ((FILENAME, text) in reason) used[FILENAME, text] = 1
        else print FILENAME ":" FNR ": \"" text "\"    (a row of formulas/ instead?)"
    }
    FILENAME == "-" && $1 == "row" { row[$2] = 1; rows++; next }
    FILENAME == "-" {
        sub(/^known /, "")
        parts = split($0, part, / *\| */)
        if (parts != 3 || part[3] == "") print list ": " $0 "    (not FILE | LITERAL | reason)"
        reason[part[1], part[2]] = 1
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
                print list ": " part[1] " | " part[2] "    (nothing needs it)"
            }
        if (rows < 1000 || literals < 3000)
            print "only " rows " rows and " literals " literals were read"
    }' - $files)

[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
