# worlds.awk -v first=1 -v count=100 -v here=DIR -- a line of options of `simulate` for each of so many random worlds, each
# drawn from its number alone. Traces with shared prefixes are written into the folder. With -v apart=1, nothing but a router
# that looks now and then couples the replicas of a world (sim/apart.h).

function uniform() { state = state * 16807 % 2147483647; return state / 2147483647 }
function often(share) { return uniform() < share }
function couples(share) { return often(share) && !apart }
function whole(low, high) { return low + int(uniform() * (high - low + 1)) }
function one(list,    all, n) { n = split(list, all, " "); return all[whole(1, n)] }

# Prompts that begin alike, as blocks of 512 tokens by their hashes: some groups, each of some common blocks.
function prefixes(file, count, rate,    i, k, group, common, own, now, line) {
    printf "" >file
    for (i = 0; i < count; i++) {
        group = whole(1, 6)
        common = group % 4
        own = whole(0, 3)
        line = ""
        for (k = 0; k < common + own + 1; k++)
            line = line (k ? ", " : "") (k < common ? 100 * group + k : 100000 + 8 * i + k)
        now += -log(1 - uniform()) / rate
        printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": %d, \"hash_ids\": [%s]}\n",
            1000 * now, 512 * (common + own) + whole(1, 512), whole(1, 200), line >file
    }
    close(file)
    return file
}

function trace(count, rate,    words) {
    if (often(0.18))
        return prefixes(here "/prefixes-" number ".jsonl", count, rate)
    words = one("poisson gamma constant") ":rate=" sprintf("%.3g", rate) ",count=" count ",seed=" whole(1, 1000)
    words = words ",input=" one("1000 200 17 100..3000 lognormal(900,cv=1) exponential(1500)")
    words = words ",output=" one("200 1 40 1..300 lognormal(150,cv=1) exponential(120)")
    if (couples(0.25))
        words = words ",turns=" one("3 geometric(4)") ",wait=" one("0s 2s exponential(5s)")
    if (classes = often(0.15))
        words = words ",class=fast(1)|slow(3)"
    return words
}

function server(ranks,    all, n) {
    n = split("llama-3.1-8b --on h100-sxm --gpus 1|llama-3.1-8b --on h100-sxm --gpus 1|qwen3-32b --on h200-sxm --gpus 2 --tp 2|" \
              "deepseek-v3 --on h200-sxm --gpus 8 --tp 8|qwen3-30b-a3b --on h100-sxm --gpus 4 --dp 4|" \
              "llama-3.3-70b --on h100-sxm --gpus 8 --pp 2", all, "|")
    return all[whole(1, ranks ? n : n - 2)]
}

function world(    replicas, scheduler, words, model, count, vllm, cache) {
    replicas = often(0.3) ? 1 : often(0.45) ? whole(2, 8) : whole(9, 70)
    scheduler = one("vllm-v1 vllm-v1 vllm-v1 sglang trtllm sarathi sarathi vllm-2023")
    vllm = scheduler == "vllm-v1"
    count = whole(20, 120) + (often(0.7) ? 4 * replicas : 0)
    model = often(0.4)
    cache = vllm || scheduler == "sglang" || scheduler == "trtllm"
    words = trace(count, replicas * exp(log(0.5) + uniform() * log(60))) " --scheduler " scheduler " --replicas " replicas
    if (model) {
        words = words " --model " server(vllm)
        if (often(0.15))
            words = words " --band"
    } else {
        words = words " --step-time " one("10ms+0.05ms*tokens+8e-5ms*cached 8ms+0.04ms*tokens+2e-5ms*cached 20ms 5ms+0.02ms*tokens+0.1ms*sequences")
    }
    if (!model || often(0.4))
        words = words " --blocks " one("1200 1200 2000 28000")
    if (often(0.6))
        words = words " --router " one("round-robin least-pending least-tokens least-tokens" (cache ? " prefix" : ""))
    if (often(0.2))
        words = words " --max-seqs " one("1 4 16 300")
    if (scheduler == "vllm-2023")
        words = words " --max-batched-tokens 40000"
    else if (often(0.2))
        words = words " --max-batched-tokens " one("128 2048 8192")
    if (vllm && often(0.15))
        words = words " --no-async-scheduling"
    if (vllm && often(0.15))
        words = words " --draft " one("1 3") " --acceptance " one("0.6 0.9")
    if (vllm && !model && often(0.15))
        words = words " --dp " one("2 3 8")
    if (vllm && !model && often(0.1))
        words = words " --set pipeline_parallel=" one("2 4") (often(0.5) ? " --set stages_even=0" : "")
    if (vllm && model && couples(0.3))
        words = words " --tier " one("ddr ddr disk ddr:capacity=20GB") (often(0.4) ? " --tier flash" : "") (often(0.3) ? " --fetch cheaper" : "")
    if (vllm && classes && often(0.5))
        words = words " --priority-class fast=" one("2 8 50")
    if (cache && model && couples(0.25))
        words = words " --prefill-replicas " whole(1, 10) " --link 25GB/s"
    if (couples(0.15))
        words = words " --fails-every " one("20s 2min 10min") " --restart " one("1s 10s 1min")
    if (couples(0.12))
        words = words " --scale-to " (replicas + whole(1, 12)) " --scale-load " one("2 8 40") " --scale-every " one("2s 15s") " --start-up " one("1s 20s")
    if (couples(0.2))
        words = words " --users " whole(1, 8 * replicas) (often(0.6) ? " --think " one("0.5s 3s") : "") (often(0.3) ? " --warm-up 0s" : "")
    if (couples(0.1))
        words = words " --patience " one("1s 10s")
    if (couples(0.1))
        words = words " --max-waiting " one("1 10")
    if (often(0.1))
        words = words " --stepping"
    words = words " --seed " whole(1, 1000)
    if (apart)
        sub(/--router prefix/, "--router least-tokens", words)
    if (number != 411 && (often(0.25) || apart) && words !~ /--router (round-robin|prefix)/)
        words = words " --refresh " one("1us 0.1s 1s 30s")
    return words
}

BEGIN {
    for (number = first; number < first + count; number++) {
        state = number * 7919 + 104729
        for (i = 0; i < 5; i++)
            uniform()
        classes = 0
        print number "\t" world()
    }
}
