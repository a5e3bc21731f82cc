#!/bin/sh
# counts.sh BUILD -- what a reader of the tree trips over, in a built tree: a line "MEASURE COUNT" each, then the lines of
# C of each directory. A cycle is a set of directories, or of files, in which each calls each other by way of others. Nearly
# every directory calls the ground floors: base, rows, build, report, catalog, command and scenario.
set -eu
cd "$(dirname "$0")/.."
build=${1:?a build, for example build/gcc}
tools/arrows.sh "$build" | awk '
    function directory(file) { sub("/[^/]*$", "", file); return file }
    # All that can be reached from a name, as reach[from, name].
    function spread(from, name,   n, i, next_names) {
        n = split(calls[name], next_names, " ")
        for (i = 1; i <= n; i++)
            if (!((from, next_names[i]) in reach)) {
                reach[from, next_names[i]]
                spread(from, next_names[i])
            }
    }
    # Cycles among names; `calls` has what each calls. The largest is left in `largest`.
    function cycles(names,   a, b, done, size, count) {
        split("", reach)
        largest = 0
        for (a in names) spread(a, a)
        for (a in names) {
            if (a in done || !((a, a) in reach)) continue
            size = 0
            for (b in names) if ((a, b) in reach && (b, a) in reach) { done[b]; size++ }
            count++
            if (size > largest) largest = size
        }
        return count + 0
    }
    ($1, $2) in seen { next }
    {
        seen[$1, $2]
        from = directory($1); to = directory($2)
        files[$1]; files[$2]
        of_files[$1] = of_files[$1] " " $2
        inside_ask += from ~ "^ask" && to ~ "^ask"
        if (from == to || (from, to) in pair) next
        pair[from, to]
        directories[from]; directories[to]
        of_directories[from] = of_directories[from] " " to
        beside += to !~ "^(base|rows|build|report|catalog|command|scenario)$"
    }
    END {
        for (a in of_directories) calls[a] = of_directories[a]
        print "cycles_of_directories", cycles(directories)
        split("", calls)
        for (a in of_files) calls[a] = of_files[a]
        print "cycles_of_files", cycles(files)
        print "largest_cycle_of_files", largest
        print "calls_above_the_ground_floors", beside
        print "calls_inside_ask", inside_ask
    }'
# A *_page.c stands in the place of another file.
echo "tags_of_several_structs $(git ls-files '*.c' '*.h' '*.def' | grep -v '^tests/\|_page\.c$' |
    xargs grep -oE '^ *(static |const )*struct [a-z_0-9]+ \{' |
    sed 's/:.*struct / /; s/ {//' | sort -u | awk 'shown[$2]++ == 1' | wc -l)"
echo "exceptions_of_rooms $(grep -c '^[^#]*->' tests/rooms.txt)"
git ls-files '*.c' '*.h' '*.def' | grep -v '^tests/' | xargs wc -l |
    awk '$2 != "total" { sub("/.*", "", $2); lines[$2] += $1; lines["all"] += $1 } END { for (d in lines) print "lines_of_" d, lines[d] }' | sort
