#!/bin/sh
# check_symbols.sh -- calls point one way, from room to room as tests/rooms.txt allows, whichever
# header declares them: each symbol that an object of the program uses and another one defines.
# Prints each offending file and symbol, and each call that the list excepts and nobody makes.
set -u
cd "$(dirname "$0")/.." || exit 2
rooms=tests/rooms.txt
build=$(dirname "${CHALKLINE:-build/gcc/chalkline}")

found=$(tools/arrows.sh "$build" | awk '
    function folder(file) { sub("/[^/]*$", "", file); return file }
    FNR == NR {                                             # the list
        if (/^#/ || !/\|/) next
        split($0, part, / *\| */)
        if (split(part[1], ends, / *-> */) == 2) {
            n = split(ends[2], above, " ")
            for (i = 1; i <= n; i++) except[ends[1], above[i]] = 1
            next
        }
        room = part[1]
        n = split(part[4], below, " ")
        for (i = 1; i <= n; i++) may[room, below[i]] = 1
        may[room, room] = may[room, "base"] = may[room, "rows"] = 1
        listed[room] = 1
        next
    }
    {
        from = folder($1); to = folder($2); seen[from] = 1
        if (($1, to) in except) made[$1, to] = 1
        else if (!((from, to) in may)) print $1 " -> " $2 ": " $3 "    (" from " may not call " to ")"
    }
    END {
        for (room in listed)
            if (!(room in seen) && room !~ "^(base|build|lab/fit)$")
                print room ": no object of it calls anything; is it built?"
        for (call in except)
            if (!(call in made)) { split(call, end, SUBSEP); print end[1] " -> " end[2] ": excepted, but never called" }
    }' "$rooms" -)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
