#!/bin/sh
# check_beside.sh -- hf_quant_config.json beside config.json says the format of the weights.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cp tests/fixtures/configs/qwen2.5-7b.json "$here/config.json"
bytes() {
    "$CHALKLINE" import "$here/config.json" --json | sed -n 's/.*"weight_bytes": \([0-9.]*\).*/\1/p'
}
plain=$(bytes)
printf '{"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}\n' >"$here/hf_quant_config.json"
beside=$(bytes)
printf '{"quantization": 8}\n' >"$here/hf_quant_config.json"
if "$CHALKLINE" import "$here/config.json" >"$here/out" 2>&1; then status=0; else status=$?; fi
[ "$plain" = 2 ] && [ "$beside" = 1 ] && [ "$status" = 2 ] &&
    grep -q "no object 'quantization'" "$here/out" && exit 0
echo "plain $plain, beside $beside, broken exit $status"
exit 1
