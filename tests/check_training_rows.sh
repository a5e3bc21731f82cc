#!/bin/sh
# check_training_rows.sh -- the rows of `simulate --training-rows` beside those of --requests of the same run: what a router
# saw of one replica when it sent a request follows from when each request arrived, began to answer and ended.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$CHALKLINE" simulate 'poisson:rate=40,count=300,input=lognormal(800,cv=1),output=exponential(60)' --blocks 2000 --max-seqs 24 \
    --step-time 8ms+0.04ms*tokens+2e-5ms*cached --training-rows "$here/rows" --requests "$here/requests" >"$here/answer"
tr -d '{},' <"$here/rows" | awk -v asked=300 '
    function wrong(name, is, should, most) {
        if (is - should <= most && should - is <= most)
            return
        printf "row %d: %s is %s, and %s by the requests\n", n, name, is, should
        bad = 1
    }
    FNR == NR { split($0, f, ","); if (FNR > 1) { at[FNR - 1] = f[2]; prompt[FNR - 1] = f[3]; out[FNR - 1] = f[4]; first[FNR - 1] = f[5]; last[FNR - 1] = f[6] } next }
    {
        n++
        for (i = 1; i < NF; i += 2) { name = $i; gsub(/[":]/, "", name); is[name] = $(i + 1) }
        open = prompts = answers = 0
        for (j = 1; j < n; j++)
            if (last[j] > at[n]) {
                open++
                prompts += prompt[j]
                if (first[j] <= at[n])
                    answers += int(1 + (out[j] - 1) * (at[n] - first[j]) / (last[j] - first[j]))
            }
        wrong("input_token_length", is["input_token_length"], prompt[n], 0)
        wrong("num_tokens_generated", is["num_tokens_generated"], out[n], 0)
        wrong("num_request_running", is["num_request_running"], open, 0)
        wrong("prefill_tokens_in_flight", is["prefill_tokens_in_flight"], prompts, 0)
        wrong("decode_tokens_in_flight", is["decode_tokens_in_flight"], answers, 1)
        wrong("actual_ttft_ms", is["actual_ttft_ms"], 1000 * (first[n] - at[n]), 2e-6)
        wrong("actual_tpot_ms", is["actual_tpot_ms"], out[n] > 1 ? 1000 * (last[n] - first[n]) / (out[n] - 1) : 0, 2e-6)
        wrong("num_request_waiting above the seats", is["num_request_waiting"] >= open - 24, 1, 0)
        wrong("kv_cache_percentage above 0", is["kv_cache_percentage"] > 0, is["num_request_running"] > is["num_request_waiting"], 0)
        waited += is["num_request_waiting"]
        most = open > most ? open : most
    }
    END {
        if (n != asked || !waited || most < 30) { printf "%d rows, %d waiting, at most %d at once\n", n, waited, most; bad = 1 }
        if (!bad) printf "      %d rows, up to %d requests at once\n", n, most
        exit bad
    }' "$here/requests" -
