#!/bin/sh
# check_ranks.sh -- the ranks of mpirun give the bytes of one process, and one that fails ends them all.
set -u
CHALKLINE=${CHALKLINE:-./chalkline}
ranks="$CHALKLINE-mpi"
export ASAN_OPTIONS=detect_leaks=0          # Open MPI keeps what it has until the end
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { timeout 120 mpirun --oversubscribe "$@"; }
if ! [ -x "$ranks" ] || ! run -n 2 true >/dev/null 2>&1; then
    echo "skipped: needs mpirun and mpicc"
    exit 0
fi
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
bad=0 compared=0 failed=1
say() { echo "$*"; bad=1; }

# compare PROGRAM WORDS...: each number of ranks has the bytes and the exit status of one process.
compare() {
    program=$1
    shift
    "$program" "$@" >"$here/whole" 2>"$here/err"
    status=$?
    for count in ${counts:-1 2 4}; do
        run -n $count "$program-mpi" "$@" >"$here/divided" 2>"$here/err"
        [ $? = $status ] || say "$*, $count ranks: another exit status than $status"
        cmp -s "$here/whole" "$here/divided" || {
            say "$*, $count ranks: not what one process gives"
            diff "$here/whole" "$here/divided" | head -5
        }
        compared=$((compared + 1))
    done
}
same() { compare "$CHALKLINE" "$@"; }
many='plan deepseek-v3 --on gb200-nvl72 --precision fp8,fp4 --kv-precision bf16,fp8 --ttft 3s --tpot 40ms --gpus 36'
same $many --json
same $many
same plan qwen3-32b --on h100-sxm,h200-sxm --gpus 16 --ttft 1ms --tpot 1ms --json      # nothing is within the limits
same plan qwen3-32b --on h200-sxm --gpus 8 --sweep output_tokens=100,1000 --csv
same train llama-3.1-405b --on h100-sxm --gpus 1024 --json
same train llama-3.1-405b --on h100-sxm --gpus 8                                       # no layout fits
same train llama-3.1-8b --on h100-sxm --gpus 64 --sweep training_sequences=64,256 --json
traffic='poisson:rate=2,count=300 --model llama-3.1-8b --on h100-sxm'
same simulate $traffic --repeat 20 --json
same simulate $traffic --sweep replicas=1..4 --csv
same simulate $traffic --find-saturation --tpot 20ms --band --json
same simulate $traffic --min-gpus --ttft 60ms --tpot 20ms
same simulate $traffic --min-gpus --ttft 1ms                                           # no number of servers is enough
same simulate $traffic --json                                                          # a single run is the first rank's
same deduce prices --json
sed 's/,input,5,/,input,6,/' data/prices.csv >"$here/older.csv"
same deduce prices --diff "$here/older.csv"
same deduce prices --model claude-opus-4-7,gpt-5 --draws 20000
same step llama-3.1-8b --on h100-sxm                                                   # the first rank alone

# The fit of constants, which needs cminpack.
fit=$(dirname "$CHALKLINE")/fit
if [ -x "$fit-mpi" ]; then
    counts=3
    compare "$fit" training source data/measured.csv
    counts=2
    compare "$fit" training data/measured.csv
    compare "$fit" kernels data/measured.csv
    compare "$fit" calibration data/measured.csv
    # held ROW=VALUE MESSAGE STATUS: a row that is no constant is set, and one that is not there is named.
    held() {
        "$fit" training --hold "$1" data/measured.csv >"$here/out" 2>"$here/err"
        status=$?
        [ $status = "$3" ] || say "--hold $1: exit status $status"
        [ -z "$2" ] || grep -q "$2" "$here/err" || { say "--hold $1: without '$2'"; cat "$here/err"; }
    }
    held host_hidden=1 "" 0
    held host_hiden=1 'fit: --hold host_hiden=1: ROW=VALUE, with the name of a row' 1
    held host_hidden=7 'fit: no points that a row predicts, the first since .*host_hidden' 1
    held host_hidden 'fit: --hold host_hidden: ROW=VALUE' 1
else
    echo "skipped: needs cminpack"
fi

# fails WHAT MESSAGE MPIRUN'S WORDS...: no answer, another status than 0, and the message once.
fails() {
    what=$1 message=$2 failed=$((failed + 1))
    shift 2
    run "$@" >"$here/out" 2>"$here/err" </dev/null && say "$what: exit status 0"
    [ "$(grep -c "^[a-z]*: $message" "$here/err")" = 1 ] || { say "$what: not one message"; cat "$here/err"; }
    [ -s "$here/out" ] && say "$what: an answer"
}
fails 'one error of all' 'unknown model' -n 3 "$ranks" plan deepsekk-v3 --on gb200-nvl72
fails 'an error of one' 'rank 1 of 2: .*nothere' \
    -n 1 "$ranks" plan qwen3-32b --on h200-sxm : -n 1 "$ranks" plan qwen3-32b --on h200-sxm --rows "$here/nothere.chalk"
fails 'two questions' 'rank [01] of 2 was asked another question than rank [01]' \
    -n 1 "$ranks" plan qwen3-32b --on h200-sxm : -n 1 "$ranks" plan qwen3-32b --on h200-sxm --osl 7
fails 'two kinds of traffic' 'rank [01] of 2 was asked another question than rank [01]' \
    -n 1 "$ranks" simulate $traffic --repeat 20 : -n 1 "$ranks" simulate $traffic --seed 7 --repeat 20
fails 'two seeds' 'rank [01] of 2 was asked another question than rank [01]' \
    -n 1 "$ranks" deduce prices : -n 1 "$ranks" deduce prices --seed 7
fails 'memory of one' 'rank 2 of 3: out of memory' \
    -n 2 "$ranks" $many : -n 1 env CHALKLINE_FAIL_AFTER=3000 "$ranks" $many
[ ! -x "$fit-mpi" ] || fails 'a fit without a file' 'rank 1 of 2: .*nothere' \
    -n 1 "$fit-mpi" kernels data/measured.csv : -n 1 "$fit-mpi" kernels "$here/nothere.csv"
[ ! -x "$fit-mpi" ] || fails 'two fits' 'rank [01] of 2 was asked another question than rank [01]' \
    -n 1 "$fit-mpi" kernels data/measured.csv : -n 1 "$fit-mpi" training data/measured.csv
# One that is killed, while it waits for rows from a pipe and the others for it: mpirun names it.
mkfifo "$here/pipe.chalk"
run -n 2 "$ranks" $many : -n 1 sh -c 'echo $$ >"$0"; exec "$@"' "$here/pid" "$ranks" $many --rows "$here/pipe.chalk" \
    >"$here/out" 2>"$here/err" &
timeout 60 sh -c 'exec 3>"$0"; kill -9 "$(cat "$1")"' "$here/pipe.chalk" "$here/pid" || say "no rank to kill"
wait $! && say "a killed rank: exit status 0"
grep -q 'rank 2 .*signal 9' "$here/err" || { say "a killed rank: not named"; cat "$here/err"; }
[ -s "$here/out" ] && say "a killed rank: an answer"
echo "      $compared answers of ranks compared, $failed ways to fail tried"
[ $bad = 0 ]
