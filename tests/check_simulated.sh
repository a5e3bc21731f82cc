#!/bin/sh
# check_simulated.sh -- the scores of simulations, on figures that can be reckoned by hand.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
bad=0

same() {
    [ "$2" = "$3" ] && return
    printf '%s:\n  %s\n  expected: %s\n' "$1" "$2" "$3"
    bad=1
}

# Four requests; the first one's first token takes twice as long, the rest is right.
cat >"$here/real" <<'EOF'
id,input_tokens,output_tokens,workload_arrival_s,queued_s,first_token_s,last_token_s,their_ttft_s,their_e2e_s
0,100,11,5,0,1,11,2,11
1,100,11,5,10,12,22,2,12
2,100,11,5,20,23,33,3,13
3,100,11,5,30,34,44,4,14
EOF
cat >"$here/requests" <<'EOF'
id,arrival,prompt,decode,first_token_at,completed_at,restarts
0,0,100,11,2,11,0
1,0,100,11,2,12,0
2,0,100,11,3,13,0
3,0,100,11,4,14,0
EOF
run() {
    awk -f tools/simulated.awk -v what=run -v who=x "$@" | tr -s ' ' | tr '\n' ';'
}
all='x all ttft +10.0 +0.0 +0.0 +0.0 0.0 25.0 met;x all tpot -2.5 +0.0 +0.0 +0.0 0.0 2.5 met;x all e2e +0.0 +0.0 +0.0 +0.0 0.0 0.0 met;'
same 'a run' "$(run -v skip=0 "$here/real" "$here/requests")" "$all"
same 'theirs' "$(run -v skip=0 -v theirs=their "$here/real")" "$all"
same 'without the first' "$(run -v skip=1 "$here/real" "$here/requests" | cut -d ';' -f 1)" \
    'x 2 on ttft +0.0 +0.0 +0.0 +0.0 0.0 0.0 met'
same 'a target missed' "$(sed 's/^\([0-9]\),0,/\1,-2,/' "$here/requests" >"$here/late"
                          run -v skip=0 "$here/real" "$here/late" | cut -d ';' -f 3)" \
    'x all e2e +16.0 +16.0 +14.6 +14.3 16.0 16.1 missed'

# Two stages, of 200 requests in 20 s and 100 in 5 s; twice as slow as measured or slower.
head='experiment,workload,tp,rate_per_s,input_mean,ttft_mean,ttft_p90,ttft_p99,e2e_mean,e2e_p90,e2e_p99,requests_per_sec,requests_ok,requests_failed'
cat >"$here/load" <<EOF
$head
a/stage0,codegen,1,10,600,10,10,10,260,510,510,10,200,0
a/stage1,codegen,1,20,600,20,20,20,1020,1020,1020,10,90,10
a/all,codegen,1,10+20,600,10,10,10,510,510,510,10,290,10
b/stage0,codegen,1,10,600,10,10,10,510,510,510,10,200,0
EOF
load() {
    awk -f tools/simulated.awk -v experiment=a "$@"
}
load -v what=trace -v begin=100 -v answer=51 "$here/load" >"$here/trace"
same 'arrivals' "$(awk -F, 'NR > 2 && $1 < last { print "back" } { last = $1 }
                            NR == 201 || NR == 301 { print $1 }' "$here/trace" | tr '\n' ' ')" \
    '20.000000 35.000000 '
same 'prompts' "$(sed 1d "$here/trace" | cut -d, -f 2,4 | sort -u | wc -l)" 100
same 'lengths' "$(awk -F, 'NR > 1 && ($2 < 588 || $2 > 612 || $3 != 51)' "$here/trace")" ''
same 'beginnings' "$(sed 1d "$here/trace" | cut -d, -f 4 | cut -d ' ' -f 1 | sort -u | wc -l)" 10
same 'blocks' "$(awk -F, 'NR > 1 {
                     n = split($4, runs, " "); blocks = 0
                     for (i = 1; i <= n; i++) { split(runs[i], ends, "-"); blocks += ends[2] - ends[1] + 1 }
                     if (blocks != int($2 / 16)) print }' "$here/trace")" ''
awk 'BEGIN {
    print "id,arrival,prompt,decode,first_token_at,completed_at,restarts"
    for (i = 0; i < 300; i++)
        print i ",0,600,51," (i < 200 ? "0.02,1.02" : "0.04,2.04") ",0"
}' >"$here/requests"
same 'stages' "$(load -v what=stages -v name=m-v0.1-hf -v patience=300 "$here/load" "$here/requests" |
                 tr -s ' ' | tr '\n' ';')" \
    'm codegen tp 1 10/s +100.0 +100.0 +100.0 +300.0 +292.3 +100.0 +100.0;m codegen tp 1 20/s +100.0 +100.0 +100.0 +100.0 +100.0 +100.0 +100.0 past saturation;'

# Where there are no runs the document stays as it is.
printf '<!-- simulated -->\nold\n<!-- end -->\n' >"$here/doc"
same 'without data' "$(DOC=$here/doc tools/simulated.sh "$here" | grep -c 'not here')" 1
same 'its document' "$(sed -n 2p "$here/doc")" old
printf 'new\n' >"$here/new"
tools/section.sh "$here/doc" simulated "$here/new"
same 'a section' "$(tr '\n' ';' <"$here/doc")" '<!-- simulated -->;;new;;<!-- end -->;'
exit $bad
