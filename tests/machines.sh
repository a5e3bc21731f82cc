#!/bin/sh
# machines.sh [MACHINE...] -- chalkline built for other machines (aarch64, and s390x, whose bytes have the other order), run
# by qemu, and its answers to the questions below beside those of this machine's build: the same to the bit. A line a
# machine: answers alike, seconds of the build and of the answers. Libraries are Debian's packages for that machine,
# unpacked into build/MACHINE/root; the system stays as it is. A machine without compiler or qemu is skipped.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# != 0 ] || set -- aarch64 s390x
here=$PWD/build/machines
mkdir -p "$here"
passed=0 failed=0 skipped=0
export OMP_NUM_THREADS=1 XDG_STATE_HOME="$here"

# root MACHINE FOLDER: the libraries that a build links with and what they need, with an apt of their own.
root() {
    [ ! -f "$2/done" ] || return 0
    rm -rf "$2"
    mkdir -p "$2/apt/lists/partial" "$2/apt/archives/partial"
    : >"$2/apt/status"
    arch=$(echo "$1" | sed 's/aarch64/arm64/')
    set -- "$2" apt-get -q -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User="$(id -un)" -o Dir::State="$2/apt" -o Dir::State::status="$2/apt/status" -o Dir::Cache="$2/apt"
    to=$1
    shift
    "$@" update && "$@" install -y --download-only --no-install-recommends libc6-dev libgomp1 \
        $(sed -n 's/^core  *\(lib[^ ]*-dev\) .*/\1/p' tools/packages.txt) || return 1
    for one in "$to"/apt/archives/*.deb; do dpkg-deb -x "$one" "$to" || return 1; done
    rm -rf "$to/apt"
    touch "$to/done"
}

# answers FOLDER PROGRAM...: a file for each question.
answers() {
    to=$1
    shift
    mkdir -p "$to"
    i=0
    while read -r question; do
        i=$((i + 1))
        # shellcheck disable=SC2086
        "$@" $question >"$to/$i" 2>&1 </dev/null
        echo "status $?" >>"$to/$i"
    done <"$here/questions"
}

cat >"$here/questions" <<'END'
step deepseek-v3 --on gb200-nvl72 --json
brief llama-3.1-8b --on h100-sxm
plan qwen3-32b --on h200-sxm --gpus 16 --csv
train llama-3.1-8b --on h100-sxm --gpus 64 --csv
deduce prices
simulate poisson:rate=5,count=500 --model llama-3.1-8b --on h100-sxm --gpus 1 --json
curve bound_step batch=1..4096 --model kimi-k2 --on gb200-nvl72 --csv
lecture
life llama-3.1-8b --json
tiers --json
why inference_tokens
can qwen3-32b --on rtx-4090 --json
calibrate ./tests/fixtures/benchmarks/vllm.json --model llama-3.1-8b --on h100-sxm --gpus 2 --json
END
questions=$(wc -l <"$here/questions")
answers "$here/here" ./chalkline
for machine; do
    cc=$machine-linux-gnu-gcc
    for tool in "$cc" "qemu-$machine" apt-get dpkg-deb; do
        command -v "$tool" >/dev/null || { echo "skip $machine: needs $tool"; skipped=$((skipped + 1)); continue 2; }
    done
    root=$PWD/build/$machine/root
    root "$machine" "$root" >"$here/$machine.log" 2>&1 ||
        { echo "skip $machine: needs packages of Debian for it: $(tail -1 "$here/$machine.log")"; skipped=$((skipped + 1)); continue; }
    begin=$(date +%s)
    if ! ${MAKE:-make} CC="$cc --sysroot=$root" HOST=build/gcc B="build/$machine" WERROR=-Werror "build/$machine/chalkline" \
            >"$here/$machine.log" 2>&1; then
        echo "FAIL $machine: it does not build"
        tail -5 "$here/$machine.log"
        failed=$((failed + 1))
        continue
    fi
    built=$(date +%s)
    answers "$here/$machine" "qemu-$machine" -L "$root" "build/$machine/chalkline"
    alike=0
    for i in $(seq "$questions"); do
        if cmp -s "$here/here/$i" "$here/$machine/$i"; then
            alike=$((alike + 1))
        else
            echo "$machine differs: $(sed -n "${i}p" "$here/questions")"
            diff "$here/here/$i" "$here/$machine/$i" | head -4
        fi
    done
    [ "$alike" = "$questions" ] && passed=$((passed + 1)) || failed=$((failed + 1))
    printf '%-8s %d of %d answers have the same bits; built in %d s, answered in %d s\n' "$machine" "$alike" "$questions" \
        $((built - begin)) $(($(date +%s) - built))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
