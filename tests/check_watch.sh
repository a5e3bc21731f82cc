#!/bin/sh
# check_watch.sh -- `watch` beside a real Prometheus server: it scrapes `simulate --listen` and `watch --listen`,
# promtool accepts both pages, and `watch` reads what it has stored. And servers that no metrics come from. Without
# Prometheus `watch` reads the two pages alone.
set -u
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
. "$(dirname "$0")/needs.sh"
bad=0
processes=
trap 'kill $processes 2>/dev/null; wait; rm -rf "$here"' EXIT

fail() {
    printf '%s\n' "$1"
    [ -z "${2:-}" ] || sed 's/^/    /' "$2" | head -20
    bad=1
}

# starts NAME COMMAND...: in the background, with its own files of output.
starts() {
    name=$1
    shift
    "$@" >"$here/$name.out" 2>"$here/$name.err" &
    eval "$name=$!"
    processes="$processes $!"
}

# until COMMAND...: for a minute at most.
until_is() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.2
    done
}

address() {
    sed -n 's,.*http://\([0-9.:]*\).*,\1,p' "$1" | head -1
}

# ---- the real Prometheus ------------------------------------------------------------------------
machine='--on h100-sxm --gpus 1'
starts sim "$CHALKLINE" simulate --model llama-3.1-8b $machine --listen 0
until_is test -s "$here/sim.out" || fail 'simulate --listen does not start' "$here/sim.err"
engine=$(address "$here/sim.out")
starts eye "$CHALKLINE" watch "http://$engine" --every 1s $machine --listen 0 --record "$here/record"
until_is test -s "$here/eye.err" || fail 'watch --listen does not start' "$here/eye.out"
eye_at=$(address "$here/eye.err")
cat >"$here/prometheus.yml" <<EOF
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: engines, static_configs: [ { targets: [ '$engine' ] } ] }
  - { job_name: watch, static_configs: [ { targets: [ '$eye_at' ] } ] }
EOF
port=$((20000 + $$ % 20000))
store_at=http://127.0.0.1:$port
if has_program prometheus && has_program promtool; then
    stored=prometheus
    starts store prometheus --config.file="$here/prometheus.yml" --storage.tsdb.path="$here/data" \
        --web.listen-address="127.0.0.1:$port" --log.level=warn
    until_is curl -sf "$store_at/-/ready" || fail 'prometheus does not start' "$here/store.err"
else
    stored=
fi

# query EXPRESSION: the first value.
query() {
    curl -sf "$store_at/api/v1/query" --data-urlencode "query=$1" |
        sed -n 's/.*"value":\[[0-9.]*,"\([^"]*\)".*/\1/p'
}
has() {
    [ -n "$(query "$1")" ]
}
"$CHALKLINE" measure "http://$engine" --loads 4,12 --isl 300 --osl 40 --budget 12s >/dev/null 2>"$here/measured" ||
    fail 'measure' "$here/measured"
for page in "$engine" "$eye_at"; do
    curl -sf "http://$page/metrics" >"$here/page" || fail "$page does not answer"
    [ $stored ] || continue
    # Names of vLLM have colons, which are its own; all else is ours.
    sed 's/vllm:/vllm_/g' "$here/page" | promtool check metrics >"$here/lint" 2>&1
    grep -v -e '^vllm_' "$here/lint" | grep . && fail "promtool refuses the page of $page" "$here/lint"
done
grep -q '^chalkline_watch_replicas_wanted 1$' "$here/page" || fail 'no replicas wanted' "$here/page"

# What is stored is what the engine says: the counters of both ways agree.
finished() {
    sed -n 's/.*"requests": \([0-9.]*\).*/\1/p' "$1" | head -1
}
agree() {
    [ "$(query 'sum(vllm:request_success_total)')" = "$(finished "$here/direct")" ]
}
"$CHALKLINE" watch "http://$engine" --once --json >"$here/direct" 2>&1 || fail 'watch the engine' "$here/direct"
reads_prometheus() {
    until_is has 'chalkline_watch_saturation_requests_per_second > 0' || fail 'prometheus has not read watch'
    [ "$(query chalkline_watch_up)" = 1 ] || fail 'the watched server is not up'
    until_is has 'vllm:request_success_total > 0'
    "$CHALKLINE" watch "$store_at" --once --json --window 60s $machine >"$here/stored" 2>"$here/why" ||
        fail 'watch prometheus' "$here/why"
    "$CHALKLINE" watch "$store_at" --job engines --every 1s --json --record "$here/stored.record" >"$here/followed" 2>&1 &
    follower=$!
    until_is grep -q '"engine":"vllm"\|"engine": "vllm"' "$here/followed" || fail 'watch follows prometheus' "$here/followed"
    sleep 3
    kill -INT $follower
    wait $follower || fail 'an end by SIGINT is not 0'
    "$CHALKLINE" watch "$here/stored.record" --json >"$here/replayed" || fail 'the recording of prometheus'
    cmp -s "$here/followed" "$here/replayed" || fail 'a recording of prometheus replays otherwise'
    until_is agree ||
        fail "prometheus counts $(query 'sum(vllm:request_success_total)') requests" "$here/direct"
    for job in nobody 'a"b'; do
        "$CHALKLINE" watch "$store_at" --job "$job" --once >"$here/none" 2>&1
        [ $? = 2 ] && grep -q 'no series of an engine' "$here/none" || fail "--job $job" "$here/none"
    done
}
[ ! $stored ] || reads_prometheus

# ---- a server that goes away, and comes back -----------------------------------------------------
kill -INT $sim
wait $sim
until_is grep -q 'away: ' "$here/eye.out" || fail 'nobody is missed' "$here/eye.out"
until_is curl -sf "http://$eye_at/metrics" -o "$here/page"
grep -q '^chalkline_watch_up 0$' "$here/page" || fail 'the server is still up' "$here/page"
grep -q '^chalkline_watch_replicas_wanted 1$' "$here/page" || fail 'wanted replicas are forgotten' "$here/page"
blocks=$(grep -c 'UTC' "$here/eye.out")
starts again "$CHALKLINE" simulate --model llama-3.1-8b $machine --listen "${engine#*:}"
more() {
    [ "$(grep -c 'UTC  vllm' "$here/eye.out")" -gt "$before" ]
}
before=$(grep -c 'UTC  vllm' "$here/eye.out")
until_is more || fail 'the server that came back is not read' "$here/eye.out"
kill -INT $eye
wait $eye || fail 'an end by SIGINT is not 0'
"$CHALKLINE" watch "$here/record" $machine >"$here/replay" || fail 'the recording'
cmp -s "$here/replay" "$here/eye.out" || fail 'the recording replays otherwise'
# A pipe can be read once.
curl -sf "http://$engine/metrics" >"$here/page"
"$CHALKLINE" watch "$here/page" --json >"$here/file"
cat "$here/page" | "$CHALKLINE" watch /dev/stdin --json >"$here/pipe" 2>"$here/why" || fail 'watch a pipe' "$here/why"
cmp -s "$here/file" "$here/pipe" || fail 'a pipe is read otherwise' "$here/pipe"

[ "$bad" = 0 ] && echo "      $blocks readings${stored:+, scraped and stored by prometheus $(prometheus --version 2>&1 | sed -n 's/.*version \([0-9.]*\).*/\1/p;q')}"
exit $bad
