#!/bin/sh
# check_lecture.sh -- what the lecture's statements compare for named models, dense, sparse, with latent caches, windows and
# linear attention, computed again by a program in Python; and the claims of its summaries for seven models, whose figures
# another computes from config.json and data sheets, without rows. With CHALKLINE_SHORT one model is asked.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/needs.sh
command -v python3 >/dev/null || missing python3
chalkline=${CHALKLINE:-./chalkline} published=${CHALKLINE_SHARED:-}/lecture/claims.csv
[ -n "${CHALKLINE_SHARED:-}" ] && [ -f "$published" ] || { published=- && echo "skipped: lecture/claims.csv"; }
set -- "deepseek-v3 gb200-nvl72 --gpus 72 --batch 2400" "llama-3.3-70b h100-sxm --gpus 8 --batch 128" \
       "gpt-oss-120b h100-sxm --gpus 8 --batch 512" "gemma-3-27b h100-sxm" "qwen3.5-397b-a17b gb300-nvl72"
[ -n "${CHALKLINE_SHORT:-}" ] && set -- "$1"
python3 tests/python/questions.py "$chalkline" "$@" || exit 1
set -- "qwen3-235b-a22b h200-sxm 8 256" "qwen3-32b h100-sxm 4 64" "mixtral-8x22b h100-sxm 8 128" \
       "kimi-k2 gb200-nvl72 72 2400" "llama-3.1-8b b200-sxm 1 128" "deepseek-v3 gb200-nvl72 72 2400" \
       "llama-3.3-70b h100-sxm 8 128"
[ -n "${CHALKLINE_SHORT:-}" ] && set -- "$1"
python3 tests/python/claims.py "$chalkline" "$published" "$@"
