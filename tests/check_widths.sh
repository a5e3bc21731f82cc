#!/bin/sh
# check_widths.sh -- every verb in terminals of 60, 80 and 120 columns, and piped: no line is wider than the terminal,
# no number stands at the end of a line with its unit in the next, and nothing is bold but on a terminal.
# COLUMNS stands for the width of a terminal. Needs a POSIX shell, awk and sed alone.
set -u
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
bad=0
trap 'rm -rf "$here"' EXIT
unset COLUMNS
printf 'vllm:num_requests_running{model_name="Llama-3.1-8B"} 3\nvllm:kv_cache_usage_perc 0.5\n' >"$here/now.prom"
printf 'vllm:request_success_total 500\nvllm:prompt_tokens_total 500000\nvllm:generation_tokens_total 100000\n' \
    >>"$here/now.prom"

# Columns are characters: mawk counts bytes, so the further bytes of a character are taken out first.
characters() {
    LC_ALL=C tr -d '\200-\277'
}

# looks WIDTH: the lines of standard input that are too wide, or end in a number whose unit begins the next line.
looks() {
    characters | awk -v most="$1" '
        length($0) > most { printf "%d columns: %s\n", length($0), $0 }
        cut && $1 ~ /^(%|s|ms|us|ns|min|h|d|years|x|[kMGTP]?B|[kMGTPE]?B\/s|USD|[A-Z]?FLOP(\/s)?|tokens?|GPUs?|W|kW|GB|TB)[,;:.)]*$|^(token|USD|requests|tokens)\// {
            printf "separated: %s | %s\n", before, $0
        }
        scaled && $1 ~ /^tokens?$/ { printf "separated: %s | %s\n", before, $0 }
        { scaled = / [0-9.,]+ [kMBTP]$/; cut = / [(~+-]*[0-9][0-9.,]*(e-?[0-9]+)?$/ && !/  [^ ]*$/ && !/[.,]$/; before = $0 }'
}

check() {
    for width in 60 80 120; do
        COLUMNS=$width "$CHALKLINE" "$@" >"$here/out" 2>"$here/err"
        [ $? -le 1 ] || { echo "$*: $(cat "$here/err")"; bad=1; }
        looks $width <"$here/out" >"$here/found"
        [ -s "$here/found" ] && { echo "$* at $width columns:"; sed 's/^/    /' "$here/found"; bad=1; }
    done
    "$CHALKLINE" "$@" >"$here/out" 2>/dev/null
    looks 100000 <"$here/out" >"$here/found"
    [ -s "$here/found" ] && { echo "$* piped:"; sed 's/^/    /' "$here/found"; bad=1; }
    tr -d '\033' <"$here/out" | cmp -s - "$here/out" || { echo "$*: escape sequences in a pipe"; bad=1; }
}

model='llama-3.3-70b --on h100-sxm'
check
check help plan
check plan -h
check $model
check brief deepseek-v3 --on gb200-nvl72
check step $model --batch 64
check curve bound_step batch=1..256 --model $model
check curve predicted_tpot on=h100-sxm,h200-sxm,b200-sxm --model llama-3.3-70b
check why predicted_tpot --model $model
check solve batch --where bound_compute=bound_memory --model $model
check eval predicted_tpot throughput_per_chip --model $model
check can qwen3-8b --on rtx-4090

check lecture 1
check lecture 2 --model $model
check find kv cache
check quiz --count 3 --seed 1
check list models
check list hardware
check list rows
check show h100-sxm
check show deepseek-v3
check import tests/fixtures/qwen-7b.json
check check --by hardware
check simulate poisson:rate=2,count=50 --model $model --gpus 8
check tiers deepseek-v3 --on h200-sxm --gpus 8
check bill agent --model claude-opus-4-7
check plan $model
check plan $model --front
check plan $model --sweep ttft_limit=0.5,1,2
check plan $model --ttft 5ms
check train llama-3.1-8b --on h100-sxm --gpus 64
check life deepseek-v3 --served 200T
check watch "$here/now.prom" --model llama-3.1-8b --on h100-sxm --gpus 1 --once
check measure --help

# The command of `reproduce`, pasted from a narrow terminal, gives the figures of the best deployment bit for bit.
reproduces() {
    "$CHALKLINE" plan "$@" --json | sed '/"front"/,$d' >"$here/plan"
    COLUMNS=60 "$CHALKLINE" plan "$@" | sed -n '/^  reproduce/,/^$/p' | sed '1d' >"$here/command"
    printf '%s --json\n' "$(cat "$here/command")" | sed "s|^ *chalkline|'$CHALKLINE'|" >"$here/pasted"
    sh "$here/pasted" >"$here/figures" || { echo "plan $*: the command of reproduce fails"; bad=1; }
    sed -n 's/^  "\([a-z_]*\)": {$/\1/p' "$here/figures" >"$here/names"
    sed -n 's/^    "value": \(.*\),$/\1/p' "$here/figures" >"$here/values"
    [ "$(wc -l <"$here/names")" = 3 ] || { echo "plan $*: reproduce has no three figures"; bad=1; }
    paste -d' ' "$here/names" "$here/values" | while read -r name value; do
        grep -q "\"$name\": $value,*\$" "$here/plan" || echo "plan $*: $name is not $value"
    done >"$here/found"
    [ -s "$here/found" ] && { cat "$here/found"; bad=1; }
}
reproduces $model
reproduces $model --aggregated
reproduces deepseek-v3 --on gb200-nvl72,h200-sxm --precision fp8,fp4 --rate 50
exit $bad
