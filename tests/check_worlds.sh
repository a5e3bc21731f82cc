#!/bin/sh
# check_worlds.sh [FIRST [COUNT]] -- random worlds (tests/plain/worlds.awk) simulated by the program and by a second one, in
# which files of tests/plain/ stand in the place of the calendar, the router's index and other short cuts of the core: answer,
# messages, requests and series are the same bytes. A world is drawn from its number alone; by default the first 100 of them,
# or 20 where CHALKLINE_SHORT is set, and numbers 411, whose series of blocks in use once followed from a fast-forward that a
# wrong count of nameless blocks made longer, and 760, where a turn finds what the one before it still decodes. Half as many
# worlds have replicas that run apart.
set -u
CHALKLINE=${CHALKLINE:-build/gcc/chalkline}
plain=$(dirname "$CHALKLINE")/chalkline-plain
first=${1:-1}
count=${2:-${CHALKLINE_SHORT:+20}}
count=${count:-100}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
[ -x "$plain" ] || { echo "no $plain: make $plain"; exit 1; }

# told PROGRAM THREADS WORDS...: all that it says of a world.
told() {
    program=$1 OMP_NUM_THREADS=$2
    export OMP_NUM_THREADS
    shift 2
    "$program" simulate "$@" --json --requests "$here/requests" --series "$here/series" 2>&1 </dev/null
    echo "exit $?"
    cat "$here/requests" "$here/series" 2>/dev/null
    rm -f "$here/requests" "$here/series"
}

awk -v first="$first" -v count="$count" -v here="$here" -f "$(dirname "$0")/plain/worlds.awk" >"$here/worlds" || exit 1
for number in 411 760; do
    [ $# -gt 0 ] || awk -v first=$number -v count=1 -v here="$here" -f "$(dirname "$0")/plain/worlds.awk" >>"$here/worlds"
done
count=$(wc -l <"$here/worlds")
bad=0 ran=0
while IFS='	' read -r number words; do
    case $((number % 3)) in 0) threads=1 ;; 1) threads=2 ;; *) threads=8 ;; esac
    set -f
    told "$CHALKLINE" $threads $words >"$here/fast"
    told "$plain" 1 $words >"$here/plain"
    set +f
    grep -q '^exit 0$' "$here/plain" && ran=$((ran + 1))
    cmp -s "$here/fast" "$here/plain" && continue
    bad=$((bad + 1))
    echo "world $number: simulate $words"
    diff "$here/plain" "$here/fast" | head -6
done <"$here/worlds"

# Worlds whose replicas run apart (sim/apart.h), on several numbers of threads, and a long trace of each scheduler.
apart() {
    OMP_NUM_THREADS=1 "$plain" simulate "$@" --json >"$here/plain" 2>&1 </dev/null
    for threads in 1 2 8; do
        OMP_NUM_THREADS=$threads "$CHALKLINE" simulate "$@" --json >"$here/fast" 2>&1 </dev/null
        cmp -s "$here/fast" "$here/plain" && continue
        bad=$((bad + 1))
        echo "apart in $threads threads: simulate $*"
        diff "$here/plain" "$here/fast" | head -6
    done
}
awk -v first="$first" -v count=$(((count + 1) / 2)) -v here="$here" -v apart=1 -f "$(dirname "$0")/plain/worlds.awk" >"$here/worlds"
while IFS='	' read -r number words; do
    set -f
    apart $words
    set +f
done <"$here/worlds"
# Long traces, which are the same whatever worlds are asked for.
traces() {
    for scheduler in vllm-v1 sglang trtllm sarathi; do
        for router in round-robin least-tokens\ --refresh\ 0.5s; do
            apart poisson:rate=90,count=120000,output=exponential\(100\) --scheduler $scheduler --replicas 9 --blocks 2000 \
                --step-time 8ms+0.04ms*tokens+2e-5ms*cached --router $router
        done
    done

    # Requests that are forgotten on the way (sim/window.h), and the same ones kept for --requests.
    for scheduler in vllm-v1 sglang trtllm sarathi; do
        set -- poisson:rate=90,count=120000,output=exponential\(100\) --scheduler $scheduler --replicas 9 --blocks 2000 \
            --step-time 8ms+0.04ms*tokens+2e-5ms*cached --fails-every 5min --patience 10s --json
        "$CHALKLINE" simulate "$@" >"$here/fast" 2>&1
        "$CHALKLINE" simulate "$@" --requests "$here/requests" >"$here/plain" 2>&1
        grep -q '"ttft"' "$here/plain" && cmp "$here/fast" "$here/plain" && continue
        bad=$((bad + 1))
        echo "requests that are forgotten: simulate $*"
    done
}
[ $# -gt 0 ] || traces
echo "      $count worlds, $ran of them run, $bad differ"
[ $bad = 0 ] && [ $((10 * ran)) -ge $((8 * count)) ]
