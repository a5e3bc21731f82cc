#!/bin/sh
# run.sh TEST... -- run the test programs, then the checks that are scripts; count both.
set -u
passed=0 failed=0
say() {
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
for test in "$@"; do
    log=$test.log
    "$test" >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        echo "ok    ${test##*/}"
    else
        echo "FAIL  ${test##*/} (exit $status)"
        tail -40 "$log"
    fi
    say "$test" $status
done
for check in tests/check_*.sh; do
    if "$check"; then echo "ok    ${check##*/}"; say "$check" 0
    else echo "FAIL  ${check##*/}"; say "$check" 1
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
