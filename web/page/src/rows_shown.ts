/* Rows that the first screen and the card's read; a chapter names its own. */
export const MODEL_ROWS = ["bound_step", "bound_compute", "bound_weights", "bound_kv", "bound_throughput_per_chip", "bound_cost_per_token", "sequences_that_fit",
  "batch", "context", "chips", "prompt_tokens", "output_tokens", "chip_price"] as const;
export const RUN_ROWS = ["replica_weights_per_chip", "sequence_kv_per_chip", "kv_per_token", "memory_needed", "memory_usable", "hbm_capacity", "user_speed", "context", "chips", "batch"] as const;
