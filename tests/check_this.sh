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
says 'Llama-3.3-70B on 4 x H100 SXM' can llama-3.3-70b
says '4 x NVIDIA H100 80GB HBM3 80GB, 4 x NVIDIA L4 23GB: taken are the 4' can llama-3.3-70b
lists 'NVIDIA Unheard Of 9000, 1024'
says 'timed on' eval hbm_bandwidth --on this
exit $failed
