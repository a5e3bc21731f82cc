#!/bin/sh
# rooms.sh -- draw the rooms of tests/rooms.txt: first by height, each above all that it includes,
# then each with what it holds, its headers with their first sentence, and what it includes beside
# base, rows and build. A room whose headers nobody else may see has the one of its own name.
set -eu
cd "$(dirname "$0")/.."

# The first sentence of a header's comment, without its name.
sentence() {
    sed -n '1{s|^/\* *||;:a;/\*\//!{N;s|\n \* *| |;ba};s| *\*/.*||;s|^[a-z_]* -- ||;s|\. .*|.|;s|\.$||;p;q}' "$1"
}

grep '|' tests/rooms.txt | grep -v '^#' | while IFS= read -r line; do
    echo "$line"
    room=${line%% |*}
    headers=${line#*|*|}
    headers=$(echo ${headers%%|*})
    case $room in *'->'* | build) continue ;; esac
    private=
    [ "$headers" ] || private='(private) '
    for header in ${headers:-$(cd "$room" && ls "${room##*/}.h" 2>/dev/null)}; do
        echo "= $room|$header|$private$(sentence "$room/$header")"
    done
done | awk '
    function wrap(begin, text,   n, i, words, line, blank) {
        n = split(text, words, " ")
        line = begin
        blank = begin
        gsub(/./, " ", blank)
        for (i = 1; i <= n; i++) {
            if (length(line) + 1 + length(words[i]) > 96) { print line; line = blank }
            line = line " " words[i]
        }
        print line
    }
    /^= / { split(substr($0, 3), part, "|"); seen[part[1]] = seen[part[1]] part[2] "|" part[3] "\n"; next }
    {
        split($0, part, / *\| */)
        if (part[1] ~ /->/) { up[++ups] = part[1]; why[ups] = part[2]; next }
        room[++rooms] = part[1]; holds[part[1]] = part[2]; below[part[1]] = part[4]
        height = part[1] == "base" ? 0 : part[1] ~ /^(rows|build)$/ ? 1 : 2
        n = split(part[4], under, " ")
        for (i = 1; i <= n; i++) {
            if (under[i] ~ /\./) sub("/[^/]*$", "", under[i])
            if (at[under[i]] >= height) height = at[under[i]] + 1
        }
        at[part[1]] = height
        if (height > top) top = height
    }
    END {
        for (h = top; h >= 0; h--) {
            line = ""
            for (i = 1; i <= rooms; i++) if (at[room[i]] == h) line = line "  " room[i]
            printf "%2d %s\n", h, line
        }
        for (i = 1; i <= rooms; i++) {
            print ""
            print room[i] ": " holds[room[i]]
            n = split(seen[room[i]], headers, "\n")
            for (k = 1; k < n; k++) {
                split(headers[k], part, "|")
                wrap(sprintf("    %-13s", part[1]), part[2])
            }
            if (below[room[i]] != "") wrap("    includes", below[room[i]])
        }
        print ""
        for (i = 1; i <= ups; i++) { print up[i]; print "    " why[i] }
    }'
