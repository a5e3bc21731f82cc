#!/bin/sh
# start.sh -- from nothing to the first answer, beside an empty program.
set -eu
echo
echo "start to answer, whole process"
hyperfine -N --warmup 20 --runs 200 --export-csv build/start.csv /bin/true \
    './chalkline eval inference_tokens' \
    './chalkline step deepseek-v3 --on gb200-nvl72 --batch 512' \
    './chalkline brief deepseek-v3 --on gb200-nvl72' >/dev/null 2>&1
awk -F, 'NR == 2 { empty = $2 } NR > 1 { printf "  %-60s %6.2f ms  %5.1f x an empty program\n", $1, 1000 * $2, $2 / empty }' build/start.csv
