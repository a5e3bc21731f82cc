# simulated.awk -- a simulation beside what was measured: errors of means and quantiles, per cent.
#
# A file of measurements and one that `chalkline simulate --requests` wrote, whose requests are in
# the same order. What is asked:
#     -v what=run     one run, request by request
#     -v what=trace   of stages of constant rate: the trace to simulate
#     -v what=stages  and then each stage

# ---- numbers ------------------------------------------------------------------------------------

function sort(list, n,   gap, i, j, x) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= n; i++) {
            x = list[i]
            for (j = i; j > gap && list[j - gap] > x; j -= gap)
                list[j] = list[j - gap]
            list[j] = x
        }
}

# Of sorted numbers, linear between neighbours.
function quantile(list, n, share,   at, low) {
    at = 1 + share * (n - 1)
    low = int(at)
    return low >= n ? list[n] : list[low] + (at - low) * (list[low + 1] - list[low])
}

function mean(list, n,   i, sum) {
    for (i = 1; i <= n; i++)
        sum += list[i]
    return sum / n
}

function size(x) { return x < 0 ? -x : x }

function percent(simulated, real) { return 100 * (simulated / real - 1) }

# The minimal standard generator: the same numbers from every awk.
function drawn() {
    state = (16807 * state) % 2147483647
    return state / 2147483647
}

# ---- files --------------------------------------------------------------------------------------

BEGIN {
    FS = ","
    state = 20260217
    sub(/(-v[0-9.]+)?(-Instruct)?(-hf)?$/, "", name)
}

FNR == 1 {
    file++
    for (i = 1; i <= NF; i++)
        column[file, $i] = i
    next
}

function cell(name) {
    if (!((file, name) in column)) {
        print "simulated.awk: " FILENAME " has no column " name > "/dev/stderr"
        failed = 1
        exit 1
    }
    return $column[file, name]
}

# ---- a run, request by request: who, skip; theirs: a simulation that stands in the same file -----

what == "run" && file == 1 {
    requests++
    real_ttft[requests] = cell("first_token_s") - cell("queued_s")
    real_e2e[requests] = cell("last_token_s") - cell("queued_s")
    gaps[requests] = cell("output_tokens") - 1
    if (theirs) {
        ttft[requests] = cell(theirs "_ttft_s")
        e2e[requests] = cell(theirs "_e2e_s")
    }
}

what == "run" && file == 2 {
    answered++
    ttft[answered] = cell("first_token_at") - cell("arrival")
    e2e[answered] = cell("completed_at") - cell("arrival")
}

function run_line(metric, target, real, simulated, n,   i, each, line) {
    for (i = 1; i <= n; i++)
        each[i] = size(percent(simulated[i], real[i]))
    sort(each, n)
    line = sprintf("%-36s  %-8s  %-6s  %+7.1f", who, skip ? skip + 1 " on" : "all", metric,
                   percent(mean(simulated, n), mean(real, n)))
    target = size(percent(mean(simulated, n), mean(real, n))) <= target ? "met" : "missed"
    sort(real, n)
    sort(simulated, n)
    for (i = 1; i <= 3; i++)
        line = line sprintf(" %+7.1f", percent(quantile(simulated, n, shares[i]),
                                               quantile(real, n, shares[i])))
    print line sprintf("  %9.1f %7.1f  %s", quantile(each, n, 0.5), mean(each, n), target)
}

function run_lines(   i, n, m, a, b, c, d, e, f) {
    shares[1] = 0.5; shares[2] = 0.9; shares[3] = 0.99
    for (i = skip + 1; i <= requests; i++) {
        n++
        a[n] = real_ttft[i]; b[n] = ttft[i]
        e[n] = real_e2e[i]; f[n] = e2e[i]
        if (gaps[i] > 0) {
            m++
            c[m] = (real_e2e[i] - real_ttft[i]) / gaps[i]
            d[m] = (e2e[i] - ttft[i]) / gaps[i]
        }
    }
    if (n)
        run_line("ttft", 20, a, b, n)
    if (m)
        run_line("tpot", 8, c, d, m)
    if (n)
        run_line("e2e", 8, e, f, n)
}

# ---- stages of one experiment, on one server one after the other ---------------------------------

what != "run" && file == 1 && index(cell("experiment"), experiment "/stage") == 1 {
    stages++
    label[stages] = sprintf("%-14s %-9s  tp %d  %2g/s", name, cell("workload"), cell("tp"),
                            cell("rate_per_s"))
    rate[stages] = cell("rate_per_s")
    count[stages] = cell("requests_ok") + cell("requests_failed")
    kept_up[stages] = cell("requests_per_sec") >= 0.9 * rate[stages]
    prompt = cell("input_mean")
    measured[stages, "ttft", 1] = cell("ttft_mean")
    measured[stages, "ttft", 2] = cell("ttft_p90")
    measured[stages, "ttft", 3] = cell("ttft_p99")
    measured[stages, "e2e", 1] = cell("e2e_mean")
    measured[stages, "e2e", 2] = cell("e2e_p90")
    measured[stages, "e2e", 3] = cell("e2e_p99")
}

# A hundred prompts, ten of each group that begins alike, sent in turn; gaps as of a Poisson
# process whose requests are as many as were sent.
function trace_lines(   i, k, at, sum, start, lengths, named, alike, gap) {
    print "arrival,input,output,prefix_block_ids_16"
    alike = int(begin / 16)
    for (i = 0; i < 100; i++) {
        lengths[i] = int(prompt * (0.98 + 0.04 * drawn()) + 0.5)
        named[i] = 1000 * (i % 10) "-" 1000 * (i % 10) + alike - 1 " " \
                   1000 * (i + 10) "-" 1000 * (i + 10) + int(lengths[i] / 16) - alike - 1
    }
    for (k = 1; k <= stages; k++) {
        sum = 0
        for (i = 1; i <= count[k]; i++)
            sum += gap[i] = -log(drawn())
        at = start
        for (i = 1; i <= count[k]; i++) {
            at += gap[i] / sum * count[k] / rate[k]
            printf "%.6f,%d,%d,%s\n", at, lengths[i % 100], answer, named[i % 100]
        }
        start = at + 10
    }
}

what == "stages" && file == 2 {
    if (!stage || sent == count[stage]) {
        stage_line()
        stage++
        sent = n = 0
    }
    sent++
    if (cell("completed_at") != "" && cell("completed_at") - cell("arrival") <= patience) {
        n++
        ttft[n] = 1000 * (cell("first_token_at") - cell("arrival") + api)   # a client's clock
        e2e[n] = 1000 * (cell("completed_at") - cell("arrival") + api)
    }
}

# TPOT is of as many tokens as were asked for, in both: the sheet's own divides by those that the
# text gives when it is read again.
function stage_line(   line, mean_ttft, mean_e2e, answering) {
    if (!n)
        return
    mean_ttft = mean(ttft, n)
    mean_e2e = mean(e2e, n)
    sort(ttft, n)
    sort(e2e, n)
    line = label[stage]
    line = line sprintf(" %+9.1f %+7.1f %+7.1f", percent(mean_ttft, measured[stage, "ttft", 1]),
                        percent(quantile(ttft, n, 0.9), measured[stage, "ttft", 2]),
                        percent(quantile(ttft, n, 0.99), measured[stage, "ttft", 3]))
    answering = measured[stage, "e2e", 1] - measured[stage, "ttft", 1]
    line = line sprintf(" %+9.1f", percent(mean_e2e - mean_ttft, answering))
    line = line sprintf(" %+9.1f %+7.1f %+7.1f", percent(mean_e2e, measured[stage, "e2e", 1]),
                        percent(quantile(e2e, n, 0.9), measured[stage, "e2e", 2]),
                        percent(quantile(e2e, n, 0.99), measured[stage, "e2e", 3]))
    print line (kept_up[stage] ? "" : "  past saturation")
}

END {
    if (failed)
        exit 1
    if (what == "run")
        run_lines()
    else if (what == "trace")
        trace_lines()
    else
        stage_line()
}
