#!/bin/sh
# check_lecture.sh -- what the lecture's statements compare for named models, dense, sparse, with latent caches, windows and
# linear attention, computed again by a program in Python. With CHALKLINE_SHORT one model is asked.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/needs.sh
command -v python3 >/dev/null || missing python3
set -- "deepseek-v3 gb200-nvl72 --gpus 72 --batch 2400" "llama-3.3-70b h100-sxm --gpus 8 --batch 128" \
       "gpt-oss-120b h100-sxm --gpus 8 --batch 512" "gemma-3-27b h100-sxm" "qwen3.5-397b-a17b gb300-nvl72"
[ -n "${CHALKLINE_SHORT:-}" ] && set -- "$1"
python3 tests/python/questions.py "${CHALKLINE:-./chalkline}" "$@"
