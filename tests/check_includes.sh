#!/bin/sh
# check_includes.sh -- includes point one way, from room to room as tests/rooms.txt allows, and
# from outside a room only its public headers are seen. A room includes only rooms that the list
# names before it, so that no circle can be written there. Prints each offending line.
set -u
cd "$(dirname "$0")/.." || exit 2
rooms=tests/rooms.txt

# Folders with C that are no part of the program.
folders=$(find . \( -name .git -o -name build -o -name node_modules -o -path ./tests -o \
                    -path ./tools -o -path ./bench \) -prune -o -name '*.[ch]' -print |
          sed 's|^\./||; s|/[^/]*$||' | sort -u)

offences() {
    for folder in $folders; do
        grep -q "^$folder |" "$rooms" || echo "$folder    (has C, and is no room of $rooms)"
    done
    grep '|' "$rooms" | grep -v '^#\|->' | while IFS='|' read -r room _ headers _; do
        for header in $headers; do
            [ -f "${room% }/$header" ] || echo "${room% }/$header    ($rooms has it, nobody else)"
        done
    done
    for folder in $folders; do
        grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null \
            $(find "$folder" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.def')
    done | awk '
        function folder(name) { if (name ~ /\./) sub("/[^/]*$", "", name); return name }
        BEGIN { split("base rows build", all, " ") }
        FNR == NR {                                         # the list
            if (/^#/ || /->/ || !/\|/) next
            split($0, part, / *\| */)
            room = part[1]
            n = split(part[4], below, " ")
            for (i = 1; i <= n; i++) {
                if (!(folder(below[i]) in listed)) print FILENAME ": " room ": " below[i] " is not above it"
                may[room, below[i]] = 1
            }
            for (i = 1; i <= 3; i++)
                if (all[i] in listed) may[room, all[i]] = 1
            n = split(part[3], headers, " ")
            for (i = 1; i <= n; i++) public[room "/" headers[i]] = 1
            listed[room] = 1
            next
        }
        {                                                   # FILE:LINE:#include "HEADER"
            room = $0; sub(/:.*/, "", room); room = folder(room)
            split($0, quoted, "\"")
            header = quoted[2]
            from = folder(header)
            if (header !~ "/") print $0 "    (name the room)"
            else if (from == room) next
            else if (!((room, from) in may || (room, header) in may))
                print $0 "    (" room " may not include from " from ")"
            else if (!(header in public)) print $0 "    (private to " from ")"
        }' "$rooms" -
    grep -rnE '^[[:space:]]*#[[:space:]]*include' formulas data
}

found=$(offences)
echo "      $(echo "$folders" | wc -l) rooms"
[ -z "$found" ] && exit 0
echo "$found"
exit 1
