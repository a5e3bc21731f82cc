#!/bin/sh
# check_library.sh -- libchalkline as other programs find it: its names are those of tests/exported.txt, chalkline.h is
# C99, C17 and C++17 without a warning, and each program of tests/fixtures/library links with what pkg-config says alone, to
# the shared library and to the static one, and prints what is beside it as NAME.out.
set -eu
cd "$(dirname "$0")/.."
build=$(dirname "${CHALKLINE:-build/gcc/chalkline}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
warn='-Wall -Wextra -Wpedantic -Werror'
bad=0

nm -D --defined-only "$build/libchalkline.so" | sed 's/.* //' | sort >"$here/shared"
nm -g --defined-only "$build/libchalkline.a" | sed -n 's/.* [A-Z] //p' | sort >"$here/static"
for kind in shared static; do
    diff -u tests/exported.txt "$here/$kind" || { echo "the $kind library exports other names"; bad=1; }
done
# The manual page has every function.
awk -v version=1 -f tools/manual.awk library/chalkline.h >"$here/chalkline.3"
while read -r name; do
    grep -q "[ *]$name(" "$here/chalkline.3" || { echo "chalkline(3) has no $name"; bad=1; }
done <tests/exported.txt
if command -v groff >/dev/null; then groff -man -Tascii -ww -z "$here/chalkline.3" 2>&1 | grep . && bad=1; fi
for tool in pkg-config g++; do
    command -v $tool >/dev/null || { echo "skipped: needs $tool"; exit $bad; }
done

mkdir "$here/include" "$here/lib"
cp library/chalkline.h "$here/include"
cp -P "$build"/libchalkline.so "$build"/libchalkline.so.0 "$build"/libchalkline.a "$here/lib"
export PKG_CONFIG_PATH="$build"
# pkg_config WORDS...: as after `make install PREFIX=$here`.
pkg_config() { pkg-config --define-variable=prefix="$here" "$@" chalkline; }

printf '#include <chalkline.h>\nint main(void) { return 0; }\n' >"$here/header.c"
gcc -std=c99 $warn $(pkg_config --cflags) "$here/header.c" -o "$here/header"
for program in tests/fixtures/library/*.c; do
    name=$(basename "$program" .c)
    compile_c="gcc -std=c17" compile_cpp="g++ -std=c++17 -x c++"
    for how in "$compile_c" "$compile_cpp"; do
        # shellcheck disable=SC2086,SC2046
        $how $warn "$program" -x none $(pkg_config --cflags --libs) -Wl,-rpath,"$here/lib" -o "$here/$name"
        "$here/$name" >"$here/$name.out" || bad=1
        diff -u "${program%.c}.out" "$here/$name.out" || { echo "$program, $how"; bad=1; }
    done
    gcc -std=c17 -static "$program" $(pkg_config --cflags --static --libs) -o "$here/$name" 2>"$here/log" ||
        { cat "$here/log"; bad=1; continue; }
    "$here/$name" | cmp "$here/$name.out" - || { echo "$program, static"; bad=1; }
done
exit $bad
