#!/bin/sh
# simulated.sh DATA -- write the part of docs/accuracy.md on simulations of real runs.
#
# DATA has traces/vllm-ground-truth/ and measurements/vllm_load_h100.csv; where it has not, the
# part stays as it is. What stands between "<!-- simulated -->" and "<!-- end -->" is replaced.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
DOC=${DOC:-docs/accuracy.md}
data=$1
runs=$data/traces/vllm-ground-truth
load=$data/measurements/vllm_load_h100.csv
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

ls "$runs"/*.meta.json "$load" >/dev/null 2>&1 || {
    echo "simulated.sh: real runs are not here ($data): that part of $DOC stays as it is"
    exit 0
}

# setting FILE KEY: of a meta.json; nothing where it is null or missing.
setting() {
    sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" |
        grep -vx null | head -n 1
}

counted() {
    sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$here/answer"
}

# score WHO THEIRS FILE...: all requests, and without the first 40, while the server warms up.
score() {
    who=$1 theirs=$2
    shift 2
    for skip in 0 40; do
        awk -f tools/simulated.awk -v what=run -v who="$who" -v skip=$skip -v theirs="$theirs" "$@"
    done
}

# ---- runs, request by request --------------------------------------------------------------------

# replay WHO OPTION...: the run of $meta with more options, scored.
replay() {
    run=$1 ranks=$(setting "$meta" data_parallel_size)
    shift
    "$CHALKLINE" simulate "$file" --scheduler vllm-v1 --model "$(setting "$meta" model)" \
        --on "$(setting "$meta" hardware)" --dp "$ranks" \
        --gpus $((ranks * $(setting "$meta" tensor_parallel_size))) \
        --set max_num_seqs="$(setting "$meta" max_num_seqs)" \
        --set chunked_prefill_size="$(setting "$meta" max_num_batched_tokens)" \
        --set gpu_memory_utilization=0.9 --set host_hidden=1 --requests "$here/requests" --json "$@" >"$here/answer"
    score "$run" "" "$file" "$here/requests" >>"$here/lines"
    echo "$run: $(counted iterations) steps, $(counted preemptions) preemptions" >>"$here/counts"
}

one_run() {
    file=${meta%.meta.json}.csv
    blocks=$(setting "$meta" num_gpu_blocks)
    : >"$here/lines"
    : >"$here/counts"
    score "LLMServingSim, profiles of that chip" llmservingsim "$file" >>"$here/lines"
    [ -z "$blocks" ] || replay "chalkline, $blocks blocks as reported" --blocks "$blocks"
    replay "chalkline, blocks reckoned"
    printf '%s on %s, vLLM %s:\n\n```text\n' "$(setting "$meta" model)" \
        "$(setting "$meta" hardware)" "$(setting "$meta" vllm_version)"
    printf '%-36s  %-8s  %-6s  %7s %7s %7s %7s  %9s %7s  %s\n' '' requests metric 'mean %' 'p50 %' \
        'p90 %' 'p99 %' 'each: p50' mean target
    cat "$here/lines"
    echo
    cat "$here/counts"
    printf '```\n\n'
}

# ---- stages of constant rate ---------------------------------------------------------------------

# Tokens with which the prompts of a group begin, and of each answer (`ignore_eos`), by workload:
# inference-sim/training, default_args/*/results/config.yaml.
workload() {
    case $1 in
        *codegen*) echo 100 247 ;;
        *general*) echo 100 248 ;;
        *roleplay*) echo 150 251 ;;
        *reasoning*) echo 100 1448 ;;
    esac
}

# one_experiment NAME MODEL CHIPS. The clients hang up after 300 s; 128 sequences: exp-config.yaml.
one_experiment() {
    set -- "$1" "$2" "$3" $(workload "$1")
    awk -f tools/simulated.awk -v what=trace -v experiment="$1" -v begin="$4" -v answer="$5" \
        "$load" >"$here/trace.csv"
    "$CHALKLINE" simulate "$here/trace.csv" --scheduler vllm-v1 --model "$2" --on h100-sxm --gpus "$3" \
        --dp 1 --set max_num_seqs=128 --set chunked_prefill_size=2048 --set gpu_memory_utilization=0.9 \
        --set host_hidden=1 --patience 300s --requests "$here/requests" >/dev/null
    awk -f tools/simulated.awk -v what=stages -v experiment="$1" -v name="${2##*/}" \
        -v patience=300 -v api="$("$CHALKLINE" eval api_time --engine vllm --model "$2" \
            --on h100-sxm --json | sed -n 's/.*"value": \([0-9.e-]*\),*/\1/p' | head -n 1)" "$load" "$here/requests"
}

summary() {
    for row in mean median; do
        printf '%-38s' "$row of sizes, $(grep -vc past "$here/stages") stages"
        for column in 1 2 3 4 5 6 7; do
            awk -v column=$column '!/past/ { x = 0 + $(NF - 7 + column); print x < 0 ? -x : x }' \
                "$here/stages" | sort -n |
                awk -v row=$row -v column=$column '
                    { x[NR] = $1; sum += $1 }
                    END {
                        middle = (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2
                        printf column == 1 || column == 4 || column == 5 ? " %9.1f" : " %7.1f",
                               row == "mean" ? sum / NR : middle }'
        done
        echo
    done
}

loads() {
    awk -F, 'NR > 1 { sub("/.*", "", $1); print $1, $2, $4 }' "$load" | uniq |
        while read -r experiment model chips; do
            one_experiment "$experiment" "$model" "$chips"
        done >"$here/stages"
    printf '```text\n%-38s %9s %7s %7s %9s %9s %7s %7s\n' '' \
        'TTFT mean' p90 p99 TPOT 'E2E mean' p90 p99
    cat "$here/stages"
    summary
    printf '```\n'
}

for meta in "$runs"/*.meta.json; do
    one_run
done >"$here/section"
loads >>"$here/section"
tools/section.sh "$DOC" simulated "$here/section"
echo "$DOC"
