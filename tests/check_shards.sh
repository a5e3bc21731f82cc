#!/bin/sh
# check_shards.sh -- a search in parts gives the bytes of the search in one: shards, ranks,
# threads, killed at random moments and gone on with.
set -u
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
bad=0
say() { echo "$*"; bad=1; }
# The searches: one with a front and limits that are moved, one that nothing is within.
few='plan deepseek-v3 --on gb200-nvl72 --precision fp8,fp4 --kv-precision bf16,fp8 --ttft 3s --tpot 40ms'
many="$few --gpus 36"
none='plan qwen3-32b --on h100-sxm,h200-sxm --gpus 16 --ttft 1ms --tpot 1ms'
train='train llama-3.1-405b --on h100-sxm --gpus 1024'
small='train llama-3.1-405b --on h100-sxm --gpus 8'

# same FILE WHAT: as the search in one.
same() {
    cmp -s "$here/whole" "$1" && return
    say "$2: not what the search in one gives"
    diff "$here/whole" "$1" | head -5
}

# parts SHARDS SHOW QUESTION...: on as many threads as the shard's number.
parts() {
    shards=$1 show=$2 i=1
    shift 2
    rm -f "$here"/*.store
    "$CHALKLINE" "$@" $show >"$here/whole"
    whole=$?
    while [ $i -le $shards ]; do
        OMP_NUM_THREADS=$i "$CHALKLINE" "$@" --shard $i/$shards --store "$here/$i.store" \
            >"$here/out" || say "shard $i/$shards: exit $?"
        grep -q "^shard $i/$shards of " "$here/out" || say "shard $i/$shards says nothing"
        i=$((i + 1))
    done
    "$CHALKLINE" merge "$here"/*.store $show >"$here/merged"
    [ $? = $whole ] || say "merge of $shards shards: another exit status than $whole"
    same "$here/merged" "$* $show, $shards shards"
}

# ---- shards, threads, and how the answer is shown
for shards in 1 2 4; do
    parts $shards --json $many
    parts $shards --json $none
    parts $shards --json $train
done
parts 2 --csv $train
parts 2 '' $small
parts 3 '' $many
parts 3 '' $none
"$CHALKLINE" $many --csv >"$here/whole"
OMP_NUM_THREADS=1 "$CHALKLINE" $many --csv --store "$here/all.store" >"$here/merged"
same "$here/merged" "--store alone, CSV"
rm -f "$here"/*.store

# ---- what is wrong with stores
"$CHALKLINE" $many --shard 1/3 --store "$here/1.store" >"$here/out"
"$CHALKLINE" $many --shard 3/3 --store "$here/3.store" >"$here/out"
"$CHALKLINE" $none --store "$here/none.store" >"$here/out"
"$CHALKLINE" merge "$here/1.store" "$here/3.store" >"$here/out" 2>&1
[ $? = 1 ] || say "a merge without all blocks: exit status not 1"
grep -qx '  shards   2/3: [0-9,]* blocks' "$here/out" || say "a merge does not say which shard is missing"
"$CHALKLINE" merge "$here/1.store" "$here/3.store" --csv | sed -n 1p | grep -qx block ||
    say "a merge without all blocks has no table of them"
# refused WHAT MESSAGE WORDS...: status 2 and a message.
refused() {
    what=$1 message=$2
    shift 2
    "$CHALKLINE" "$@" >"$here/out" 2>&1
    [ $? = 2 ] || say "$what: exit status not 2"
    grep -q -- "$message" "$here/out" || { say "$what: no message"; cat "$here/out"; }
}
refused 'stores of two questions' 'none.store: of another question than .*1.store: it has "qwen3-32b"' \
    merge "$here/1.store" "$here/none.store"
refused 'a store of another question' '1.store: of another question than this search: it lacks "--set=output_tokens=600"' \
    $many --set output_tokens=600 --store "$here/1.store"
head -c 40000 "$here/1.store" >"$here/cut.store"
refused 'a cut store' 'cut.store: ' merge "$here/cut.store" "$here/3.store"
# A file that may not grow; what is in it stays, and more room is enough.
(trap '' XFSZ; ulimit -f 1200; exec "$CHALKLINE" $many --store "$here/small.store") >"$here/out" 2>&1
[ $? = 2 ] || say "a store without room: exit status not 2"
grep -q 'small.store: ' "$here/out" || say "a store without room: no message"
"$CHALKLINE" $many --store "$here/small.store" --csv >"$here/merged"
same "$here/merged" "a store without room, gone on with"
rm -f "$here"/*.store

# ---- kill -9
# Killed when the store and its log have grown by so much, not after so long: a machine may be busy.
size() { stat -c %s "$1" "$1-wal" 2>/dev/null | awk '{ bytes += $1 } END { print bytes + 0 }'; }
long="$few --gpus 72"
"$CHALKLINE" $long --json >"$here/whole"
"$CHALKLINE" $long --shard 1/1 --store "$here/full.store" >"$here/shard"
full=$(size "$here/full.store")
rm -f "$here/full.store"
kept=0 killed=0
for seed in 1 2; do
    for try in 1 2 3; do
        has=$(size "$here/$seed.store")
        enough=$(awk -v seed=$seed$try -v has="$has" -v full="$full" \
                     'BEGIN { srand(seed); print int(has + (full - has) * 0.4 * rand()) + 1 }')
        OMP_NUM_THREADS=$((seed % 2 + 1)) "$CHALKLINE" $long --shard 1/1 --json \
            --store "$here/$seed.store" >"$here/shard" 2>&1 &
        pid=$!
        while [ "$(size "$here/$seed.store")" -lt "$enough" ] && kill -0 $pid 2>/dev/null; do
            sleep 0.002
        done
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        [ $? = 137 ] && killed=$((killed + 1))
    done
    "$CHALKLINE" $long --shard 1/1 --json --store "$here/$seed.store" >"$here/shard"
    kept=$((kept + $(sed -n 's/.*"blocks": \([0-9]*\).*/\1/p' "$here/shard") -
                   $(sed -n 's/.*"blocks_searched": \([0-9]*\).*/\1/p' "$here/shard")))
    "$CHALKLINE" merge "$here/$seed.store" --json >"$here/merged"
    same "$here/merged" "killed, seed $seed"
done
[ $killed -gt 0 ] && [ $kept -gt 0 ] || say "killed $killed times, $kept blocks kept: nothing tried"
rm -f "$here"/*.store

# ---- ranks, where mpirun and a program built for it are there
"$CHALKLINE" $many --json >"$here/whole"
ranks="$CHALKLINE-mpi"
export ASAN_OPTIONS=detect_leaks=0          # Open MPI keeps what it has until the end
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [ -x "$ranks" ] && mpirun --oversubscribe -n 2 true >/dev/null 2>&1; then
    for count in 1 2 4; do
        mpirun --oversubscribe -n $count "$ranks" $many --json >"$here/merged"
        same "$here/merged" "$count ranks"
        mpirun --oversubscribe -n $count "$ranks" $many --json --store "$here/r" >"$here/merged"
        same "$here/merged" "$count ranks with stores"
    done
    "$CHALKLINE" merge "$here"/r.* --json >"$here/merged"
    same "$here/merged" "the stores of ranks"
    "$CHALKLINE" $train --json >"$here/whole"
    mpirun --oversubscribe -n 3 "$ranks" $train --json >"$here/merged"
    same "$here/merged" "3 ranks, training"
    "$CHALKLINE" $many --json >"$here/whole"
    for wait in 0.7 0.9; do
        mpirun --oversubscribe -n 2 "$ranks" $many --json --store "$here/k" >"$here/out" 2>&1 &
        pid=$!
        sleep $wait
        kill $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    mpirun --oversubscribe -n 4 "$ranks" $many --json --store "$here/k" >"$here/merged"
    same "$here/merged" "killed ranks, gone on with by more"
    said=$(mpirun --oversubscribe -n 3 "$ranks" plan deepsek-v3 --on gb200-nvl72 2>&1 >"$here/out" |
           grep -c '^chalkline: unknown model')
    [ "$said" = 1 ] || say "three ranks, one error: said $said times"
    mkdir "$here/x.2"                                           # of one rank alone
    mpirun --oversubscribe -n 3 "$ranks" $many --store "$here/x" >"$here/out" 2>"$here/err"
    [ "$(grep -c '^chalkline: .*/x.2: ' "$here/err")" = 1 ] || { say "an error of one rank"; cat "$here/err"; }
    [ -s "$here/out" ] && say "an error of one rank, and an answer"
    told="; ranks too"
else
    echo "skipped: needs mpirun and mpicc"
fi
echo "      killed $killed times, $kept blocks kept${told:-}"
[ $bad = 0 ]
