#!/bin/sh
# arrows.sh BUILD -- who calls whom in a built program: a line "FILE FILE SYMBOL" for each symbol
# that one file uses and another defines. Calls between folders, each once:
#
#     tools/arrows.sh build/gcc | sed 's|/[^/ ]* | |g; s| [^ ]*$||' | awk '$1 != $2' | sort -u
set -eu
build=${1:?a build, for example build/gcc}
find "$build" -name '*.o' | while read -r object; do
    file=${object#"$build"/}
    case $file in
    cli/companion.o | tests/*) ;;               # they stand for what is in chalkline-net and in sim/
    */run_*) echo "$object" ;;                  # once for each instruction set, of one source
    */*) if [ -f "${file%.o}.c" ]; then echo "$object"; fi ;;
    esac
done | xargs nm -A -g | awk -v skip="${#build}" '
    { at = index($1, ".o:")
      file = substr($1, skip + 2, at - skip - 2) ".c" }
    $(NF - 1) == "U" { used[file, $NF]; next }
    $(NF - 1) ~ /^[TDBRVWC]$/ { defined[$NF] = file }
    END {
        for (pair in used) {
            split(pair, part, SUBSEP)
            if (part[2] in defined && defined[part[2]] != part[1])
                print part[1], defined[part[2]], part[2]
        }
    }' | sort
