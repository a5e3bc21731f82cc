#!/bin/sh
# check_hardening.sh [FILE...] -- what each program and library of a build has against attacks, as its ELF file states it: a
# column for each property, "yes", "no" or "-" where the file cannot have it or cannot say. A "no" is a gap, and fails.
#
# pie: loaded at a random address. relro, now: addresses of functions are resolved at the start and then read-only. nx: no
# stack that can be run. canary, fortify: calls of the checks that the compiler puts in. clash, cf: flags that gcc records in
# the debug information of every object, or the note of an x86 file; all of them must have the flag.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/needs.sh
command -v readelf >/dev/null || missing readelf
build=$(dirname "${CHALKLINE:-build/gcc/chalkline}")

# has TEXT PATTERN: yes or no.
has() { if printf '%s' "$1" | grep -qE -- "$2"; then echo yes; else echo no; fi; }
# flag FLAG: did every object of C have it? Files without debug information, and those of clang, do not say.
flag() {
    if [ -z "$producers" ]; then echo -; elif printf '%s\n' "$producers" | grep -qvE -- "$1( |$)"; then echo no; else echo yes; fi
}

row() {
    head=$(readelf -hldW "$1" 2>/dev/null)
    symbols=$(readelf -sW "$1" 2>/dev/null | awk '$7 == "UND" { print $8 }')
    producers=$(readelf -p .debug_str "$1" 2>/dev/null | grep -E 'GNU (C|GNU)[0-9]+ ')
    pie=- relro=- now=- nx=- canary=- fortify=- cf=-
    case $head in
    *"Type:"*DYN*|*"Type:"*EXEC*)
        pie=$(has "$head" 'Type: +DYN') relro=$(has "$head" ' GNU_RELRO ') now=$(has "$head" 'BIND_NOW|Flags:.* NOW')
        nx=$(has "$head" ' GNU_STACK .* RW  ') ;;
    esac
    # A static program calls what is inside of it.
    case $head in
    *NEEDED*|*REL\ *) canary=$(has "$symbols" '^__stack_chk_fail') fortify=$(has "$symbols" '^__[a-z_]*_chk(@|$)') ;;
    esac
    case $head in
    *X86-64*)
        cf=$(has "$(readelf -n "$1" 2>/dev/null)" 'x86 feature: .*IBT')
        [ "$cf" = yes ] || cf=$(flag '-fcf-protection(=full)?') ;;
    esac
    printf '%-42s %-4s %-5s %-4s %-4s %-6s %-7s %-5s %s\n' "$1" $pie $relro $now $nx $canary $fortify \
        "$(flag -fstack-clash-protection)" $cf
}

echo "file                                       pie  relro now  nx   canary fortify clash cf"
if [ $# = 0 ]; then
    # A program without any of it has gaps, or else this check sees nothing.
    bare=$(mktemp)
    trap 'rm -f "$bare"' EXIT
    if echo '#include <stdio.h>
int main(void) { char text[9]; return scanf("%8s", text); }' |
       ${CC:-gcc} -O1 -g -no-pie -fno-stack-protector -fno-stack-clash-protection -fcf-protection=none -U_FORTIFY_SOURCE \
           -Wl,-z,norelro,-z,lazy,-z,execstack -x c - -o "$bare" 2>/dev/null && row "$bare" | grep -q yes; then
        echo "a program built without protection passes:"; row "$bare"; exit 1
    fi
    set -- "$build/chalkline" "$build/chalkline-net"
    for one in tools/convert "$build/libchalkline.so.0" "$build/libchalkline.a" "$build"/python/chalkline/libchalkline.so.0 \
               "build/dist/chalkline-"*-"$(uname -m)"; do
        [ ! -f "$one" ] || set -- "$@" "$one"
    done
fi
gaps=0
for one; do
    line=$(row "$one")
    echo "$line"
    case " $line " in *" no "*) gaps=$((gaps + 1)) ;; esac
done
echo "  $# files, $gaps with a gap"
[ $gaps = 0 ]
