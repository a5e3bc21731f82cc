#!/bin/sh
# check_this.sh -- the machine in front of you: cards of nvidia-smi, unlike ones, none, and `can` without --on. The listing
# programs are this script's own, in front of the PATH.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
export XDG_STATE_HOME="$dir/state"

# lists LINE...: what nvidia-smi says from now on; rocm-smi and lspci say nothing.
lists() {
    { echo '#!/bin/sh'; for line; do echo "echo '$line'"; done; } >"$dir/nvidia-smi"
    printf '#!/bin/sh\n' >"$dir/rocm-smi"
    cp "$dir/rocm-smi" "$dir/lspci"
    chmod +x "$dir"/*smi "$dir/lspci"
}
# says WANT WORDS...: the answer or the remark beside it has this.
says() {
    want=$1
    shift
    PATH="$dir:$PATH" "$CHALKLINE" "$@" >"$dir/out" 2>&1
    grep -qF "$want" "$dir/out" || { failed=1; echo "$*: no '$want' in"; head -5 "$dir/out"; }
}

lists 'NVIDIA GeForce RTX 4090, 24564'
says 'Qwen3-14B on RTX 4090: yes' can qwen3-14b
says 'this machine has 1 x NVIDIA GeForce RTX 4090 24GB' eval hbm_bandwidth --on this
says 'Qwen3-14B on RTX 3060' can qwen3-14b --on 'RTX 3060 12GB'
lists 'NVIDIA H100 80GB HBM3, 81559'
says 'Qwen3-32B on H100 SXM x 1,' step qwen3-32b --on this
lists 'NVIDIA H100 80GB HBM3, 81559' 'NVIDIA H100 80GB HBM3, 81559' 'NVIDIA H100 80GB HBM3, 81559' 'NVIDIA H100 80GB HBM3, 81559' \
    'NVIDIA L4, 23034' 'NVIDIA L4, 23034' 'NVIDIA L4, 23034' 'NVIDIA L4, 23034'
says 'Llama-3.3-70B on 4 x H100 SXM + 4 x L4' can llama-3.3-70b
says '4 x NVIDIA H100 80GB HBM3 80GB, 4 x NVIDIA L4 23GB: the layers are split over all' can llama-3.3-70b
says '4 x NVIDIA H100 80GB HBM3 80GB, 4 x NVIDIA L4 23GB: taken are the 4' step llama-3.3-70b --on this
says '4 x H100 SXM + 4 x L4: ' can
says 'NVIDIA L4' can llama-3.3-70b --on this,rtx-3060
lists 'NVIDIA Unheard Of 9000, 1024'
says 'timed on' eval hbm_bandwidth --on this
# What another build remembered, with facts that this one does not know, or nothing that it reads.
remembered=$XDG_STATE_HOME/chalkline/this.csv
for change in 's/,cpu_cores,/,cpu_cores_then,/' 's/.*/nonsense/' d; do
    sed -i "$change" "$remembered"
    says 'timed again now' eval hbm_bandwidth --on this
    says 'hbm_bandwidth ' eval hbm_bandwidth --on this
done
# Where nothing can be remembered it is timed for this answer alone, and nothing stays.
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp" XDG_STATE_HOME="" HOME=/dev/null
says 'not remembered (' eval hbm_bandwidth --on this
says 'hbm_bandwidth ' eval hbm_bandwidth --on this
[ -z "$(ls "$dir/tmp")" ] || { failed=1; echo "left behind: $(ls "$dir/tmp")"; }
# A container may hide /proc and /sys; an x86 processor says itself what it is.
export PATH_HERE="$dir:$PATH"
if [ "$(uname -m)" = x86_64 ] && unshare -rm mount -t tmpfs none /proc 2>/dev/null; then
    unshare -rm sh -c 'mount -t tmpfs none /proc && mount -t tmpfs none /sys; PATH="$PATH_HERE" "$CHALKLINE" can qwen3-4b' >"$dir/out" 2>&1
    { grep -q '^this is ' "$dir/out" && grep -q '^Qwen3-4B on ' "$dir/out" && ! grep -q 'unknown processor' "$dir/out"; } ||
        { failed=1; echo 'without /proc and /sys:'; head -5 "$dir/out"; }
fi
exit $failed
