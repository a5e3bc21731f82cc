#!/bin/sh
# check_threads.sh -- many runs of a simulation give the same bits on any number of threads.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
bad=0

# same WORDS...: on one thread and on three.
same() {
    OMP_NUM_THREADS=1 "$CHALKLINE" simulate "$@" --json >"$here/one"
    OMP_NUM_THREADS=3 "$CHALKLINE" simulate "$@" --json >"$here/three"
    if ! cmp -s "$here/one" "$here/three"; then
        echo "one thread and three differ: simulate $*"
        diff "$here/one" "$here/three" | head -5
        bad=1
    fi
}

traffic='poisson:rate=20,count=400,input=exponential(300),output=exponential(60)'
same "$traffic" --blocks 1000 --step-time '10ms + 0.05ms*tokens' --sweep time-scale=0.5..4 --points 12
same "$traffic" --blocks 1000 --step-time '10ms + 0.05ms*tokens' --repeat 7 --fails-every 5s --replicas 3
same "$traffic" --blocks 1000 --step-time '10ms + 0.05ms*tokens' --find-saturation --ttft 1s
same "$traffic" --model llama-3.1-8b --on h100-sxm --gpus 1 --sweep max-seqs=1..16 --points 6
same "$traffic" --model llama-3.1-8b --on h100-sxm --gpus 1 --ttft 200ms --band
same "$traffic" --model llama-3.1-8b --on h100-sxm --gpus 1 --ttft 200ms --band --find-saturation
same "$traffic" --blocks 1000 --step-time '10ms + 0.05ms*tokens' --replicas 12 --router least-tokens --refresh 1s
same "$traffic" --model llama-3.1-8b --on h100-sxm --gpus 1 --replicas 12 --router round-robin
[ "$bad" = 0 ]
