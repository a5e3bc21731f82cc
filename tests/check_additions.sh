#!/bin/sh
# check_additions.sh [--write] -- what an addition costs, as docs/add.md says: a copy of the
# tree with each patch of tests/fixtures/additions/ in it builds without a warning, passes the checks of
# the source and of commands, and answers. Lines "> COMMAND" of a patch are run there; what follows, to
# the diff, is their output, which --write puts in.
# Long: it builds the tree again.
set -eu
cd "$(dirname "$0")/.."
build=$(dirname "${CHALKLINE:-build/gcc/chalkline}")
build=${build#"$PWD/"}                      # the copy builds in its own
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

tar c --exclude=./.git --exclude=./build --exclude=node_modules . | tar x -C "$tree"
# What is built already need not be built again.
tar c --exclude="$build/tests" "$build" build/row_names.h | tar x -C "$tree"

for patch in tests/fixtures/additions/*.patch; do
    patch -s -p0 -d "$tree" <"$patch"
done
cp tests/unit/sample_scheduler.c "$tree/sim/schedulers/fcfs.c"      # the file of scheduler.patch
make -s -C "$tree" B="$build" WERROR=-Werror "$build/chalkline" "$build/tests/command_test" >/dev/null

mkdir "$tree/bin"
cp "$tree/$build/chalkline" "$tree/$build/chalkline-net" "$tree/bin"
PATH=$tree/bin:$PATH
bad=0 count=0
for patch in tests/fixtures/additions/*.patch; do
    sed -n '/^--- /q; /^> /p' "$patch" | while IFS= read -r line; do
        echo "$line"
        (cd "$tree" && sh -c "${line#> }") 2>&1 || true     # a refusal is an answer, too
    done >"$tree/got"
    sed '/^--- /,$d' "$patch" >"$tree/want"
    if [ "${1:-}" = --write ]; then
        sed -n '/^--- /,$p' "$patch" | cat "$tree/got" - >"$tree/new"
        cat "$tree/new" >"$patch"
    elif ! diff -u "$tree/want" "$tree/got"; then
        echo "$patch: it answers otherwise"
        bad=1
    fi
    count=$((count + 1))
done
cd "$tree"
export CHALKLINE="$build/chalkline"
for check in tests/check_includes.sh tests/check_symbols.sh tests/check_row_names.sh "$build/tests/command_test"; do
    $check >"$tree/log" 2>&1 || { cat "$tree/log"; bad=1; }
done
echo "      $count additions built and asked"
[ $bad = 0 ]
