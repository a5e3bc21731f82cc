#!/bin/sh
# all.sh [SECONDS [LONG]] -- every test, stage by stage: SECONDS for each fuzzer (5), LONG times as many random cases.
# A stage goes on where one before it failed; the last line counts the tests of all stages.
set -u
cd "$(dirname "$0")/.." || exit 2
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# stage COMMAND...: its output, and the counts of its closing line. A stage that fails without a count is one failure.
stage() {
    echo "== $*"
    begin=$(date +%s)
    { "$@" 2>&1 || echo 'stage failed'; } | tee "$log"
    if grep -qx 'stage failed' "$log"; then status=1; else status=0; fi
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed\(, \([0-9]*\) skipped\)\{0,1\}$/\1 \2 \4/p' "$log" | tail -1)
    # shellcheck disable=SC2086
    set -- ${counts:-0 1}
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
    [ $status = 0 ] || [ "$2" != 0 ] || failed=$((failed + 1))
    echo "== $(($(date +%s) - begin)) s"
}

[ $# -lt 2 ] || export CHALKLINE_LONG="$2"
# Under sanitizers and the second compiler a sample of long lists is enough. CI also runs only a quarter of the drawn cases
# there; the first stage runs them all.
[ $# -lt 2 ] && sample=4 || sample=1
stage make check WERROR=-Werror
stage make tests-long WERROR=-Werror
unset CHALKLINE_LONG
stage make instructions WERROR=-Werror
export CHALKLINE_SHORT=$sample
stage make tests-clang WERROR=-Werror
# What a script checks does not depend on the sanitizers, but for threads and processes; what is compared with published
# files is compared above.
stage env SCRIPTS="tests/check_threads.sh tests/check_serve.sh" make asan SHARED=
stage make tsan WERROR=-Werror
unset CHALKLINE_SHORT
stage make fuzz SECONDS="${1:-5}"
stage make page-tests WERROR=-Werror
[ $# -lt 2 ] || stage make check-machines WERROR=-Werror
[ $# -lt 2 ] || stage make coverage
# What a bare machine lacks shows in a sample of a long list too.
[ $# -ge 2 ] || export CHALKLINE_SHORT=$sample
stage make check-fresh
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
