#!/bin/sh
# check_beside.sh -- hf_quant_config.json, quantize_config.json and quant_config.json beside config.json say the format of the
# weights: 1 B, 4 bits in groups of 128 with a scale of 16 and a zero point of 4 bits, 4 bits in groups of 64.
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
rm "$here/hf_quant_config.json"
printf '{"zero_point": true, "q_group_size": 64, "w_bit": 4, "version": "GEMM"}\n' >"$here/quant_config.json"
awq=$(bytes)
printf '{"bits": 4, "group_size": 128, "desc_act": false, "sym": true}\n' >"$here/quantize_config.json"
gptq=$(bytes)
printf '[]\n' >"$here/quantize_config.json"
if "$CHALKLINE" import "$here/config.json" >"$here/out2" 2>&1; then list=0; else list=$?; fi
[ "$awq" = 0.5390625 ] && [ "$gptq" = 0.51953125 ] && [ "$list" = 2 ] && grep -q "no object" "$here/out2" &&
    [ "$plain" = 2 ] && [ "$beside" = 1 ] && [ "$status" = 2 ] &&
    grep -q "no object 'quantization'" "$here/out" && exit 0
echo "plain $plain, beside $beside, broken exit $status; awq $awq, gptq $gptq, a list exit $list"
exit 1
