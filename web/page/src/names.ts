/* Short names of results, and how a share or a small price is written for the eye. */
import type { Engine } from "./engine";

const NAMES: Record<string, string> = {
  bound_step: "step, lower bound", user_speed: "per user", bound_throughput: "total", bound_cost_per_token: "output, lower bound", bound_mfu: "MFU",
  all_to_all_share: "all-to-all over step", all_to_all_time: "all-to-all", all_to_all_time_two_domains: "across two domains", idle_chips: "idle chips",
  sparsity: "total over active parameters", weights_per_chip: "weights per chip", kv_per_chip: "KV cache per chip", memory_per_chip: "memory per chip",
  pp_weights_equal_kv: "stages from which the KV cache is larger", pipeline_bubble: "idle share of the pipeline",
  optimal_pretrain_tokens: "pre-training at the lowest cost", optimal_overtraining: "times Chinchilla", pretrain_tokens: "by equal costs", rl_tokens: "reinforcement learning",
  inference_tokens: "served", output_input_ratio: "output over input", implied_kv_per_token: "implied KV cache", context_crossover: "context crossover",
  hits_to_pay_short: "hits until a short-lived write pays off", hbm_hold_break_even: "in HBM, then recomputing is cheaper",
  cheapest_pause_cost: "cheapest tier, cost of the pause", recompute_pause_cost: "recomputing after the pause", sequences_that_fit: "sequences that fit",
  kv_per_token: "KV cache per token", activations_kept: "all kept", activations_checkpointed: "with checkpoints", activations_reversible: "reversible",
  reversible_flops: "times the FLOPs", inversion_error: "error of the inversion, at most",
};
const SHARES = new Set(["bound_mfu", "all_to_all_share", "pipeline_bubble", "inversion_error"]);

export const named = (of: string): string => NAMES[of] ?? of.replace(/_/g, " ");

/* 0.15 %, 80.3 %, 3,400 %. */
export const percent = (v: number): string => `${Number((100 * v).toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 12 })} %`;

export function figure(engine: Engine, of: string, value: number, unit: string): string {
  if (!Number.isFinite(value)) return "—";
  if (SHARES.has(of)) return percent(value);
  return small(engine, value, unit);
}

/* What costs less than a tenth of a cent is written for a million of it. */
export function small(engine: Engine, value: number, unit: string, digits = 3): string {
  if (unit === "USD" && value > 0 && value < 0.001) return `${engine.write(1e6 * value, "USD", digits)} a million`;
  return engine.write(value, unit, digits);
}
