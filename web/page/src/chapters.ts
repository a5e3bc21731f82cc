/* The seven chapters: which deck, equation, hand and pictures. What a statement says, its reason and
 * its verdict come from `chalkline lecture`; numbers, symbols and meanings come from the rows. */
import type { Numbers } from "./numbers";
import { commas } from "./plain";
import { even, evenLog, lin, type Line, log, nice, path, type Picture, tableOf } from "./picture_type";
import { CHAPTER_OF, DECKS } from "virtual:lecture";
import { type ChapterId, give, type Scenario, scenario, type State } from "./state";

export type KindOf = "compute" | "weights" | "cache" | "network" | "host" | "result";

/* A factor: a row, a number, or a sum of rows. */
export type Factor = string | number | { sum: readonly string[] };
export interface Term { of: string; kind: KindOf; name: string; over: readonly Factor[]; under: readonly Factor[]; negative?: boolean;
  also?: string }                       // MathML of what a real model adds as a factor in place
export interface Equation { of: string; symbol?: string; items: readonly (Term | string)[]; binds: "max" | "most" | null; open?: string }

export interface Said { bold: string; rest: string; right: boolean }
export interface Hand { row: string; words: string; symbol?: string; result: string }
export interface Meets { text: readonly (string | { row: string })[] }

/* Axis ends that stay while a hand is down: what a key had, unless the need outgrows it. */
export interface Held { end(key: string, need: number): number }

export interface ChapterSpec {
  id: ChapterId; task: string;
  decks: readonly string[];                             // of data/decks.csv
  given: Readonly<Record<string, string>>;              // what the question needs beside them, and where the hand begins
  first: string;                                        // the statement whose verdict is the chapter's
  lede: readonly string[];                              // statements that are the text before the equation
  hand: Hand;
  equations(n: Numbers): readonly Equation[];
  rows: readonly string[];
  verdict(n: Numbers): Said;
  pictures(n: Numbers, held: Held): readonly Picture[];
  meets(n: Numbers): Meets;
  differ: readonly { row: string; words: string }[];    // beside the lecture's, with a model
  extra?: "rack" | "schedule" | "rounds";               // a drawing that is no chart
}

/* ---- words ---------------------------------------------------------------------------------- */

const group = (v: number): string => commas(Math.round(v));
const two = (v: number): string => v >= 100 ? group(Number(v.toPrecision(2))) : String(Number(v.toPrecision(2)));
export const three = (v: number): string => v >= 1000 ? group(Number(v.toPrecision(3))) : String(Number(v.toPrecision(3)));
const near = (a: number, b: number): boolean => Math.abs(Math.log(a / b)) < 0.025;
const short = (n: Numbers, row: string): string => n.write(row).replace("/token", "");
const usd = (n: Numbers, row: string): number => 1e6 * n.value(row);

const line = (name: string, kind: KindOf, role: Line["role"], points: [number, number][]): Line => ({ name, kind, role, of: "A", points });

/* Where f is zero between low and high, by halving in the logarithm; NaN without a change of sign. */
export function root(f: (x: number) => number, low: number, high: number): number {
  let a = Math.log(low), b = Math.log(high), fa = f(low);
  if (!(fa * f(high) <= 0)) return NaN;
  for (let i = 0; i < 60; i++) {
    const m = (a + b) / 2, fm = f(Math.exp(m));
    if (fa * fm <= 0) b = m;
    else { a = m; fa = fm; }
  }
  return Math.exp((a + b) / 2);
}

/* ---- chapter 1 ------------------------------------------------------------------------------ */

const ATTENTION = "<mo>(</mo><mn>1</mn><mo>+</mo><mfrac><mi>L</mi><msub><mi>L</mi><mtext>att</mtext></msub></mfrac><mo>)</mo>";
const TOUCHED = "<mi>t</mi><mo>(</mo><mi>B</mi><mo>)</mo>";

/* Where multiplying takes as long as reading, caches included; NaN where it never does. */
function crossing(n: Numbers): number {
  const slope = (n.value("bound_compute") - n.value("bound_kv")) / n.value("batch");
  const at = n.value("bound_weights") / slope;
  return slope > 0 && at < 1e7 ? at : NaN;
}

function stepOverBatch(n: Numbers, held: Held): Picture {
  const cross = crossing(n), start = Number.isFinite(cross) ? 2.5 * cross : 3 * Math.max(n.value("batch_crossover"), n.value("batch"));
  const end = held.end("batch", nice(Math.max(start, n.value("batch")))), x = even(end / 240, end, 49), y = n.sweep("batch", x);
  const ms = (of: string): number[] => y(of).map(v => 1e3 * v);
  const compute = ms("bound_compute"), weights = ms("bound_weights"), kv = ms("bound_kv"), step = ms("bound_step");
  const memory = weights.map((w, i) => w + kv[i]), binding = Number.isFinite(cross);
  const at = step[Math.min(48, Math.max(0, Math.round(Math.min(start, end) / end * 48)))];
  const lines = [line("multiply", "compute", "term", path(x, compute)), line("weights", "weights", "term", path(x, weights)),
                 line("caches", "cache", "term", path(x, kv)), line("all reads", "host", "sum", path(x, memory)), line("the step, T", "result", "result", path(x, step))];
  return { title: binding ? `From ${three(cross)} users on, multiplying sets the pace` : "Reading the caches sets the pace at any batch",
    x: lin("users in the step, B", "", end), y: lin("ms for a step", "", held.end("step", nice(at))), lines,
    marks: binding && cross < end ? [{ name: `crossover ${three(cross)}`, x: cross, y: 1e3 * n.value("bound_compute") * cross / n.value("batch"), sets: "params_total" }] : [],
    here: { x: n.value("batch"), y: 1e3 * n.value("bound_step"), sets: "batch", name: `you: ${n.write("bound_step")}` }, table: tableOf("users", lines) };
}

function costOverBatch(n: Numbers, held: Held): Picture {
  const cross = crossing(n), end = held.end("batch", nice(Math.max(Number.isFinite(cross) ? 2.5 * cross : 3 * n.value("batch_crossover"), n.value("batch"))));
  const x = evenLog(end / 2000, end, 65), y = n.sweep("batch", x), of = (row: string): number[] => y(row).map(v => 1e6 * v);
  const lines = [line("multiply", "compute", "term", path(x, of("compute_cost"))), line("weights ÷ B", "weights", "term", path(x, of("weights_cost"))),
                 line("caches", "cache", "term", path(x, of("kv_cost"))), line("cost", "result", "result", path(x, of("bound_cost_per_token")))];
  const floor = usd(n, "cost_floor"), full = n.value("compute_cost") >= n.value("kv_cost");
  return { title: full ? `The cost falls until multiplying is all one pays: ${three(floor)} USD` : `The cost falls until reading one's own cache is all one pays: ${three(floor)} USD`,
    x: lin("users in the step, B", "", end), y: lin("USD for a million tokens", "", held.end("cost", nice(4 * floor))), lines,
    here: { x: n.value("batch"), y: usd(n, "bound_cost_per_token"), sets: "batch", name: `you: ${three(usd(n, "bound_cost_per_token"))} USD` }, table: tableOf("users", lines) };
}

const batch: ChapterSpec = {
  id: "batch", task: "Drag the batch until multiplying takes as long as reading.", first: "batch.crossover", lede: ["batch.roofline", "batch.weights", "batch.kv"],
  decks: ["step200k", "crossover"], given: { chips: "64", chip_price: "2USD/h", context: "50000", batch: "1000" },
  hand: { row: "batch", words: "users in a step", result: "bound_step" },
  rows: ["bound_step", "bound_compute", "bound_weights", "bound_kv", "batch", "params_active", "params_total", "chips", "peak_flops", "weight_bytes", "hbm_bandwidth", "context", "kv_per_token",
         "bound_cost_per_token", "compute_cost", "weights_cost", "kv_cost", "cost_floor", "batch_crossover", "context_crossover", "machine_balance", "sparsity", "chip_price", "attention_equals_weights", "weights_stored"],
  equations: () => [{ of: "bound_step", binds: "max", open: "max", items: ["max", "(",
    { of: "bound_compute", kind: "compute", name: "multiply", over: [2, "batch", "params_active"], under: ["chips", "peak_flops"], also: ATTENTION }, ",",
    { of: "bound_weights", kind: "weights", name: "read the weights", over: ["params_total", "weight_bytes"], under: ["chips", "hbm_bandwidth"], also: TOUCHED }, "+",
    { of: "bound_kv", kind: "cache", name: "read the caches", over: ["batch", "context", "kv_per_token"], under: ["chips", "hbm_bandwidth"] }, ")"] }],
  verdict(n) {
    const compute = n.value("bound_compute"), memory = n.value("bound_weights") + n.value("bound_kv"), cross = crossing(n);
    if (near(compute, memory)) return { right: true, bold: `Yes: ${three(n.value("batch"))} users.`,
      rest: `The lecture's rule, without the caches, says ${three(n.value("batch_crossover"))}; reading the caches leaves less of the bandwidth for the weights.` };
    if (!Number.isFinite(cross)) return { right: true, bold: "No batch fills the multipliers.", rest: `At this context each user's cache takes longer to read than the token takes to multiply; the multipliers do at most ${two(100 * compute / n.value("batch") / (n.value("bound_kv") / n.value("batch")))} % of what they could.` };
    if (memory > compute) return { right: false, bold: "Reading binds.", rest: `It takes ${two(memory / compute)} times as long as multiplying, so the multipliers stand idle ${two(100 * (1 - compute / memory))} % of the step. ${n.value("bound_weights") > n.value("bound_kv") ? "A further user is nearly free." : "Most of it is the users' own caches, which no batch shares."}` };
    return { right: false, bold: "Multiplying binds.", rest: `It takes ${two(compute / memory)} times as long as reading: each further user costs as much as the others, and all of them wait longer.` };
  },
  pictures: (n, held) => [stepOverBatch(n, held), costOverBatch(n, held)],
  meets: n => ({ text: ["Without the caches the two times are equal at ", { row: "batch_crossover" }, " users: ", { row: "machine_balance" },
    " that the chip can multiply while it reads one parameter, times ", { row: "sparsity" }, " parameters in total for each active one. The number of chips has cancelled. With ", { row: "context" },
    " of context the caches are read as well", Number.isFinite(crossing(n)) ? `, and the lines meet at ${three(crossing(n))}.` : ", and the lines never meet."] }),
  differ: [{ row: "sparsity", words: "parameters in total for each active one" }, { row: "kv_per_token", words: "cache of a token" }, { row: "context", words: "context" },
           { row: "machine_balance", words: "tokens that share one read of the weights" }, { row: "batch_crossover", words: "users from which the weights are paid for" }, { row: "context_crossover", words: "context at which the cache takes as long as multiplying" }],
};

/* ---- chapter 2 ------------------------------------------------------------------------------ */

const exchangeTerm = (n: Numbers, two: boolean): Term => ({ of: two ? "all_to_all_time_two_domains" : "all_to_all_time_one_domain", kind: "network", name: two ? "exchange over two racks" : "exchange in one rack",
  over: ["moe_layers", "batch", n.value("dispatch_deduplicated") > 0 ? "copies_sent" : "top_k", "hidden_size", { sum: ["dispatch_bytes", "combine_bytes"] }],
  under: two ? [2, "chips", "scale_out_bandwidth"] : ["chips", "scale_up_bandwidth"] });

/* Batch from which the exchange outlasts the step: both are lines, the step with a corner. */
function outlasts(n: Numbers, of: string): number {
  const b = n.value("batch"), one = n.value(of) / b;
  const gap = (x: number): number => one * x - Math.max(n.value("bound_compute") / b * x, n.value("bound_weights") + n.value("bound_kv") / b * x);
  return gap(1e9) > 0 ? root(gap, 1e-3, 1e9) : NaN;
}

const experts: ChapterSpec = {
  id: "experts", task: "Drag the batch until two racks become too slow.", first: "experts.two_racks", lede: ["experts.all_to_all", "experts.one_rack", "experts.two_racks"],
  decks: ["rack64", "moe256"], given: { batch: "400" },
  hand: { row: "batch", words: "users in a step", result: "all_to_all_time_two_domains" },
  rows: ["bound_step", "bound_compute", "bound_weights", "bound_kv", "all_to_all_time_one_domain", "all_to_all_time_two_domains", "batch", "chips", "top_k", "copies_sent", "moe_layers", "hidden_size", "dispatch_bytes", "combine_bytes",
         "scale_up_bandwidth", "scale_out_bandwidth", "bandwidth_ratio", "experts", "experts_per_chip", "idle_chips", "expert_chips", "stage_chips", "dispatch_deduplicated", "context"],
  equations: n => [{ of: "", binds: null, items: [exchangeTerm(n, false), n.value("all_to_all_time_one_domain") < n.value("bound_step") ? "<" : ">",
    { of: "bound_step", kind: "result", name: "the step", over: ["bound_step"], under: [] }, n.value("all_to_all_time_two_domains") < n.value("bound_step") ? ">" : "<", exchangeTerm(n, true)] }],
  verdict(n) {
    const step = n.value("bound_step"), one = n.value("all_to_all_time_one_domain"), two_ = n.value("all_to_all_time_two_domains"), from = outlasts(n, "all_to_all_time_two_domains");
    if (one >= step) return { right: true, bold: "Even one rack is too slow.", rest: `Inside it the exchange takes ${two(one / step)} times as long as the step; no layout of these experts hides it.` };
    if (!Number.isFinite(from)) return { right: true, bold: "Two racks never bind.", rest: "Reading the caches grows faster with the batch than the exchange does: the experts may be spread over both." };
    if (near(two_, step)) return { right: true, bold: `Yes: at ${three(n.value("batch"))} users.`, rest: "From here on the links between racks set the pace, so the experts of a layer belong in one rack." };
    return two_ > step ? { right: false, bold: "Two racks bind.", rest: `Their exchange takes ${two(two_ / step)} times as long as the step; inside one rack it takes ${two(100 * one / step)} % of it and hides.` }
      : { right: false, bold: "Two racks would do.", rest: `Their exchange takes ${two(100 * two_ / step)} % of the step and hides behind it. The exchange grows with the batch, the read of the weights does not.` };
  },
  pictures(n, held) {
    const from = outlasts(n, "all_to_all_time_two_domains"), end = held.end("batch", nice(Math.max(Number.isFinite(from) ? 2.5 * from : 4000, n.value("batch"))));
    const x = even(end / 240, end, 49), y = n.sweep("batch", x), ms = (of: string): number[] => y(of).map(v => 1e3 * v);
    const lines = [line("one rack", "network", "term", path(x, ms("all_to_all_time_one_domain"))), line("two racks", "network", "predicted", path(x, ms("all_to_all_time_two_domains"))),
                   line("the step, T", "result", "result", path(x, ms("bound_step")))];
    return [{ title: Number.isFinite(from) ? `From ${three(from)} users on, the exchange over two racks outlasts the step` : "At any batch the exchange over two racks hides behind the step",
      x: lin("users in the step, B", "", end), y: lin("ms", "", held.end("exchange", nice(1.4 * Math.max(ms("bound_step")[30], Number.isFinite(from) ? ms("all_to_all_time_two_domains")[30] : 0)))), lines,
      marks: Number.isFinite(from) && from < end ? [{ name: `two racks bind, ${three(from)}`, x: from, y: 1e3 * n.value("all_to_all_time_two_domains") * from / n.value("batch"), sets: "scale_out_bandwidth" }] : [],
      here: { x: n.value("batch"), y: 1e3 * n.value("all_to_all_time_two_domains"), sets: "batch", name: `you: ${n.write("all_to_all_time_two_domains")}` }, table: tableOf("users", lines) }];
  },
  meets: n => ({ text: ["A token is sent to ", { row: n.value("dispatch_deduplicated") > 0 ? "copies_sent" : "top_k" }, " places in each of ", { row: "moe_layers" }, " layers and back. Leaving the rack is ", { row: "bandwidth_ratio" },
    " times slower, and half of the traffic leaves it. Of ", { row: "stage_chips" }, " GPUs ", { row: "idle_chips" }, " have no expert when each of the others has ", { row: "experts_per_chip" }, "."] }),
  differ: [{ row: "experts", words: "experts of a layer" }, { row: "top_k", words: "that a token is sent to" }, { row: "copies_sent", words: "copies that leave a GPU" }, { row: "bandwidth_ratio", words: "rack over link between racks" },
           { row: "bound_step", words: "the step" }, { row: "all_to_all_time_two_domains", words: "exchange over two racks" }],
  extra: "rack",
};

/* ---- chapter 3 ------------------------------------------------------------------------------ */

const STAGES = [1, 2, 3, 4, 6, 8, 12, 16];
const pipeline: ChapterSpec = {
  id: "pipeline", task: "Drag the number of stages until the cache takes more of the memory than the weights.", first: "pipeline.two_enough", lede: ["pipeline.weights_divide", "pipeline.kv_cancels", "pipeline.bubble"],
  decks: ["capacity"], given: { pipeline_stages: "1", micro_batches: "1", hbm_capacity: "192GB" },
  hand: { row: "pipeline_stages", words: "stages, each a rack", result: "memory_per_chip" },
  rows: ["memory_per_chip", "weights_per_chip", "kv_per_chip", "pipeline_stages", "params_total", "weight_bytes", "weights_stored", "batch", "context", "kv_per_token", "kv_needed", "stage_chips", "pipeline_bubble", "micro_batches",
         "pp_weights_equal_kv", "hbm_capacity", "pipeline_latency", "hop_time", "bound_step"],
  equations: () => [{ of: "memory_per_chip", binds: "most", items: [
    { of: "weights_per_chip", kind: "weights", name: "weights of a chip", over: ["params_total", "weight_bytes"], under: ["stage_chips", "pipeline_stages"] }, "+",
    { of: "kv_per_chip", kind: "cache", name: "caches of a chip", over: ["pipeline_stages", "batch", "context", "kv_per_token"], under: ["stage_chips", "pipeline_stages"] }] }],
  verdict(n) {
    const w = n.value("weights_per_chip"), k = n.value("kv_per_chip"), from = n.value("pp_weights_equal_kv"), p = n.value("pipeline_stages");
    if (from <= 1) return { right: true, bold: "One stage is enough.", rest: `The caches of a chip take ${n.write("kv_per_chip")} beside ${n.write("weights_per_chip")} of weights already; a stage would divide the smaller part.` };
    return k >= w ? { right: true, bold: `Yes: from ${three(from)} stages on.`, rest: `${p} stages leave ${n.write("weights_per_chip")} of weights beside ${n.write("kv_per_chip")} of caches. The caches stay as they are, since every stage needs a batch of its own in flight.` }
      : { right: false, bold: "The weights are still the larger part.", rest: `${n.write("weights_per_chip")} beside ${n.write("kv_per_chip")}. ${p === 1 ? "A second stage would halve them" : `A further stage would save ${n.live.write("weights_per_chip") && three(w / (p + 1) / 1e9)} GB a chip`}, and would not make a step shorter.` };
  },
  pictures(n) {
    const list = STAGES.includes(n.value("pipeline_stages")) ? STAGES : [...STAGES, n.value("pipeline_stages")].sort((a, b) => a - b);
    const y = n.sweep("pipeline_stages", list), w = y("weights_per_chip"), k = y("kv_per_chip"), from = n.value("pp_weights_equal_kv"), here = n.value("pipeline_stages");
    const end = nice(Math.max(...w.map((v, i) => v + k[i])) / 1e9);
    return [{ title: from <= 1 ? "The caches are the larger part with one stage already" : `Stages divide the weights and not the caches: from ${three(from)} stages on the caches are larger`, x: lin("GB of a chip's memory", "", end), y: lin("stages", "", 1), lines: [],
      bars: list.map((p, i) => ({ name: `${p === here ? "you: " : ""}${p} stage${p > 1 ? "s" : ""}`, total: true, parts: [{ kind: "weights" as const, value: w[i] / 1e9, name: "weights" }, { kind: "cache" as const, value: k[i] / 1e9, name: "caches" }], text: `${three((w[i] + k[i]) / 1e9)} GB` })),
      table: { columns: ["stages", "weights GB", "caches GB"], rows: list.map((p, i) => [p, w[i] / 1e9, k[i] / 1e9]) } }];
  },
  meets: () => ({ text: ["Every stage holds its share of the weights, but to keep all stages busy a batch must be under way in each: ", { row: "pipeline_stages" }, " stages times ", { row: "batch" }, " users over as many times the chips. With ", { row: "micro_batches" },
    " micro-batches the stages stand idle ", { row: "pipeline_bubble" }, " of one pass. A token takes ", { row: "pipeline_latency" }, " through all stages, of which each hop takes ", { row: "hop_time" }, "."] }),
  differ: [{ row: "weights_stored", words: "weights" }, { row: "kv_needed", words: "caches of one batch" }, { row: "pp_weights_equal_kv", words: "stages from which the caches are larger" }, { row: "hbm_capacity", words: "memory of a chip" }],
  extra: "schedule",
};

/* ---- chapter 4 ------------------------------------------------------------------------------ */

const training: ChapterSpec = {
  id: "training", task: "Drag the tokens of pre-training until it costs as much as serving the model.", first: "training.overtraining", lede: ["training.six", "training.thirds_inf", "training.served_one"],
  decks: ["life"], given: { pretrain_tokens: "20e12token", rl_tokens: "170e12token" },
  hand: { row: "pretrain_tokens", words: "tokens of pre-training", result: "pretrain_flops" },
  rows: ["pretrain_flops", "rl_flops", "inference_flops", "pretrain_tokens", "rl_tokens", "inference_tokens", "params_active", "training_flop_per_param", "rl_flop_per_param", "inference_efficiency", "rl_efficiency",
         "optimal_pretrain_tokens", "training_optimal_tokens", "overtraining", "optimal_overtraining", "token_rate", "model_lifetime", "family_size", "ship_probability", "tokens_per_param"],
  equations: n => [{ of: "", binds: null, items: [
    { of: "pretrain_flops", kind: "compute", name: "pre-training", over: [6, "params_active", "pretrain_tokens"], under: [] }, n.value("pretrain_flops") < n.value("rl_flops") * 0.975 ? "<" : n.value("pretrain_flops") > n.value("rl_flops") * 1.025 ? ">" : "=",
    { of: "rl_flops", kind: "compute", name: "reinforcement learning", over: ["rl_flop_per_param", "params_active", "rl_tokens"], under: ["rl_efficiency"] }, n.value("rl_flops") < n.value("inference_flops") * 0.975 ? "<" : n.value("rl_flops") > n.value("inference_flops") * 1.025 ? ">" : "=",
    { of: "inference_flops", kind: "compute", name: "serving", over: [2, "params_active", "inference_tokens"], under: ["inference_efficiency"] }] }],
  verdict(n) {
    const pre = n.value("pretrain_flops"), serve = n.value("inference_flops"), times = n.value("overtraining");
    const best = `At equal loss the least compute is at ${n.write("optimal_pretrain_tokens")}.`;
    if (near(pre, serve)) return { right: true, bold: `Yes: ${n.write("pretrain_tokens")}, ${two(times)} times Chinchilla.`, rest: `Equal costs are a rule of thumb. ${best}` };
    return pre < serve ? { right: false, bold: "Serving costs more.", rest: `${two(serve / pre)} times as much as pre-training: a longer training, ${two(times)} times Chinchilla now, would let a smaller model do the same.` }
      : { right: false, bold: "Pre-training costs more.", rest: `${two(pre / serve)} times as much as serving ever will: training for ${two(times)} times Chinchilla's tokens is too long for so few answers.` };
  },
  pictures(n, held) {
    const f = 1e24, bars = [["pre-training", "pretrain_flops"], ["reinforcement learning", "rl_flops"], ["serving", "inference_flops"]] as const;
    const most = Math.max(...bars.map(b => n.value(b[1]))) / f;
    const served = n.value("inference_tokens"), rate = n.value("token_rate"), x = evenLog(served / 1000, served * 100, 25), y = n.sweep("token_rate", x.map(v => v * rate / served));
    const t = (of: string): number[] => y(of).map(v => v / 1e12), best = t("optimal_pretrain_tokens");
    const lines = [line("least compute", "result", "result", path(x.map(v => v / 1e12), best)), line("equal costs", "compute", "term", path(x.map(v => v / 1e12), x.map(v => n.value("inference_flops") / served * v / (n.value("pretrain_flops") / n.value("pretrain_tokens")) / 1e12))),
                   line("nothing served", "host", "term", path(x.map(v => v / 1e12), t("training_optimal_tokens")))];
    return [{ title: `Serving ${n.write("inference_tokens")} costs ${three(n.value("inference_flops") / n.value("pretrain_flops"))} times the pre-training`, x: lin("10²⁴ FLOP, at the utilization of training", "", held.end("flops", nice(most))), y: lin("", "", 1), lines: [],
      bars: bars.map(([name, row]) => ({ name, total: true, parts: [{ kind: "compute" as const, value: n.value(row) / f }], text: three(n.value(row) / f) })), table: { columns: ["what", "FLOP"], rows: bars.map(b => [b[0], n.value(b[1])]) } },
      { title: `The least compute at equal loss is ${n.write("optimal_pretrain_tokens")}, ${two(n.value("optimal_overtraining"))} times Chinchilla`, x: log("T tokens served", "", x[0] / 1e12, x[24] / 1e12), y: log("T tokens of pre-training", "", Math.min(...lines[2].points.map(p => p[1])) / 3, Math.max(...best, ...lines[1].points.map(p => p[1]))), lines,
        here: { x: served / 1e12, y: n.value("pretrain_tokens") / 1e12, sets: "pretrain_tokens", name: `you: ${n.write("pretrain_tokens")}` }, table: tableOf("T tokens served", lines) }];
  },
  meets: () => ({ text: ["A token of pre-training costs ", { row: "training_flop_per_param" }, " a parameter, one served costs 2 at ", { row: "inference_efficiency" }, " of the utilization. ", { row: "token_rate" }, " over ", { row: "model_lifetime" }, ", shared among ", { row: "family_size" },
    " models makes ", { row: "inference_tokens" }, ". The training here is ", { row: "overtraining" }, " times as long as Chinchilla's ", { row: "tokens_per_param" }, " per parameter."] }),
  differ: [{ row: "params_active", words: "active parameters" }, { row: "inference_tokens", words: "tokens served" }, { row: "training_optimal_tokens", words: "best if nothing is served" }, { row: "optimal_pretrain_tokens", words: "best with what is served" }],
};

/* ---- chapter 5 ------------------------------------------------------------------------------ */

const prices: ChapterSpec = {
  id: "prices", task: "Drag the price step onto the corner of the cost.", first: "prices.kv_from_step", lede: ["prices.flat_then_linear", "prices.kv_from_step", "prices.output_input"],
  decks: ["crossover", "step200k"], given: { price_step_context: "100000", batch: "600", context: "200000" },
  hand: { row: "price_step_context", words: "tokens, where the price steps up", result: "implied_kv_per_token" },
  rows: ["implied_kv_per_token", "kv_per_token", "price_step_context", "price_step", "machine_balance", "weight_bytes", "params_active", "context_crossover", "cost_growth", "output_input_ratio", "batch_over_crossover", "context_over_crossover", "memory_over_compute", "context", "batch", "price_step_break_even"],
  equations: () => [{ of: "", binds: null, items: [{ of: "implied_kv_per_token", kind: "cache", name: "cache of a token", over: ["weight_bytes", "params_active"], under: ["machine_balance", "price_step_context"] }] },
                    { of: "output_input_ratio", binds: "max", items: ["max", "(", 1, ",",
                      { of: "1/batch_over_crossover", kind: "weights", name: "weights", over: [1], under: ["batch_over_crossover"] }, "+", { of: "context_over_crossover", kind: "cache", name: "caches", over: ["context_over_crossover"], under: [] }, ")"].map(v => v === 1 ? { of: "1", kind: "compute", name: "multiply", over: [1], under: [] } : v) as Equation["items"] }],
  verdict(n) {
    const implied = n.value("implied_kv_per_token"), real = n.value("kv_per_token");
    if (near(implied, real)) return { right: true, bold: `Yes: ${n.write("price_step_context")}.`, rest: `A seller who steps here and asks what it costs has a cache of ${short(n, "implied_kv_per_token")} a token.` };
    return implied > real ? { right: false, bold: "The step is before the corner.", rest: `It would mean a cache of ${short(n, "implied_kv_per_token")} a token, ${two(implied / real)} times the real one: the seller is paid for a cost that does not arise yet.` }
      : { right: false, bold: "The step is beyond the corner.", rest: `It would mean a cache of ${short(n, "implied_kv_per_token")} a token, ${two(100 * implied / real)} % of the real one: below the step every long prompt costs more than it brings.` };
  },
  pictures(n, held) {
    const corner = n.value("context_crossover"), at = n.value("price_step_context"), end = held.end("context", nice(Math.max(Number.isFinite(corner) && corner > 0 ? 3 * corner : 0, 1.2 * at))), x = even(end / 400, end, 61), y = n.sweep("context", x), growth = y("cost_growth");
    const top = nice(Math.max(2, growth[Math.min(60, Math.round(60 * Math.max(at, corner > 0 ? 2 * corner : 0) / end))])), step = n.value("price_step");
    const lines = [line("cost", "result", "result", path(x, growth)), line("price", "host", "predicted", [[0, 1], [at, 1], [at, step], [end, step]])];
    const multiply = 1, weights = 1 / n.value("batch_over_crossover"), cache = n.value("context_over_crossover");
    return [{ title: corner > 0 && Number.isFinite(corner) ? `The cost bends at ${n.write("context_crossover")}; the price steps at ${n.write("price_step_context")}` : "The cost has no corner: the cache is never the larger part", x: lin("tokens of context", "", end), y: lin("times the cost without context", "", held.end("growth", top)), lines,
      here: { x: at, y: step, sets: "price_step_context", name: "price step" }, marks: corner > 0 && corner < end ? [{ name: "corner", x: corner, y: 1, sets: "kv_per_token" }] : [], table: tableOf("context", lines) },
      { title: `A token of output costs ${three(n.value("output_input_ratio"))} times one of input`, x: lin("time, in multiplications of a token", "", held.end("ratio", nice(Math.max(1, weights + cache)))), y: lin("", "", 1), lines: [],
        bars: [{ name: "input: multiply", total: true, parts: [{ kind: "compute", value: multiply }] }, { name: "output: multiply", total: true, parts: [{ kind: "compute", value: multiply }] },
               { name: "output: read", total: true, parts: [{ kind: "weights", value: weights, name: "weights" }, { kind: "cache", value: cache, name: "caches" }] }], table: { columns: ["what", "multiplications"], rows: [["multiply", multiply], ["weights", weights], ["caches", cache]] } }];
  },
  meets: () => ({ text: ["Reading ", { row: "kv_per_token" }, " for each token of context takes as long as multiplying ", { row: "params_active" }, " parameters at ", { row: "context_crossover" }, ". At ", { row: "context" }, " the cost is ", { row: "cost_growth" }, " times that of no context, and a step of ", { row: "price_step" }, " pays for it up to ", { row: "price_step_break_even" }, "."] }),
  differ: [{ row: "kv_per_token", words: "cache of a token" }, { row: "params_active", words: "active parameters" }, { row: "context_crossover", words: "context at which the cost bends" }, { row: "output_input_ratio", words: "output over input" }],
};

/* ---- chapter 6 ------------------------------------------------------------------------------ */

const TIERS = [["hbm", "HBM"], ["ddr", "host memory"], ["flash", "flash"], ["disk", "disk"]] as const;
const tierNow = (n: Numbers): string => TIERS.map(t => t[0]).filter(t => n.has(`tier_total[${t}]`)).reduce((a, b) => n.value(`tier_total[${b}]`) < n.value(`tier_total[${a}]`) ? b : a, "flash");
const tierWords = (tier: string): string => tier === "hbm" ? "HBM" : tier === "ddr" ? "the host's memory" : tier;

/* Pauses at which another place becomes the cheapest: each cost is a straight line of the pause. */
function borders(n: Numbers): { from: string; to: string; at: number }[] {
  const have = TIERS.map(t => t[0]).filter(t => n.has(`tier_total[${t}]`)), out: { from: string; to: string; at: number }[] = [];
  const cost = (t: string, at: number): number => n.value(`tier_retrieve[${t}]`) + n.value(`tier_hold[${t}]`) * at;
  const best = (at: number): string => have.reduce((a, b) => cost(b, at) < cost(a, at) ? b : a);
  for (const a of have) for (const b of have) {
    const at = (n.value(`tier_retrieve[${b}]`) - n.value(`tier_retrieve[${a}]`)) / (n.value(`tier_hold[${a}]`) - n.value(`tier_hold[${b}]`));
    if (at > 0 && Number.isFinite(at) && best(at * 0.999) === a && best(at * 1.001) === b) out.push({ from: a, to: b, at });
  }
  return out.sort((p, q) => p.at - q.at);
}

const memory: ChapterSpec = {
  id: "memory", task: "Drag the pause until disk becomes cheaper than flash.", first: "memory.border", lede: ["memory.two_costs", "memory.drain_rule", "memory.recompute"],
  decks: ["remat"], given: { hold_time: "5min", context: "100000" },
  hand: { row: "hold_time", words: "until the next turn", result: "cheapest_tier_cost" },
  rows: ["cheapest_tier_cost", "hold_time", "kv_per_token", "recompute_cost", "context", "context_over_crossover", "context_crossover", "cost_growth", "hbm_hold_break_even", "machine_balance", "params_active",
         ...TIERS.flatMap(([t]) => [`tier_total[${t}]`, `tier_hold[${t}]`, `tier_retrieve[${t}]`, `tier_price[${t}]`, `tier_capacity[${t}]`, `tier_bandwidth[${t}]`, `tier_drain_time[${t}]`])],
  equations(n) {
    const t = tierNow(n);
    return [{ of: `tier_total[${t}]`, symbol: "<msub><mi>c</mi><mi>x</mi></msub>", binds: "most", items: [
      { of: "hold", kind: "cache", name: `hold it in ${tierWords(t)}`, over: ["kv_per_token", `tier_price[${t}]`, "hold_time"], under: [`tier_capacity[${t}]`] }, "+",
      { of: `tier_retrieve[${t}]`, kind: "cache", name: "bring it back", over: t === "hbm" ? [0] : ["kv_per_token", `tier_price[${t}]`], under: t === "hbm" ? [] : [`tier_bandwidth[${t}]`] }] }];
  },
  verdict(n) {
    const now = tierNow(n), list = borders(n), last = list[list.length - 1], pause = n.value("hold_time");
    const again = n.value("recompute_cost") < n.value("cheapest_tier_cost");
    if (again) return { right: true, bold: "Forget it.", rest: "After such a pause it is cheaper to multiply the whole conversation again than to have kept its cache anywhere." };
    if (last && near(pause, last.at)) return { right: true, bold: `Yes: ${n.live.inputOf("hold_time") ? n.write("hold_time") : ""}.`, rest: `${tierWords(last.to)} rents a byte for less, but keeps a drive busy for longer while it reads; here the two are equal.` };
    const next = list.find(b => b.from === now);
    return { right: now === "disk", bold: `${now === "ddr" ? "The host's memory" : now === "hbm" ? "HBM" : now === "flash" ? "Flash" : "Disk"} is the cheapest.`, rest: next ? `${tierWords(next.to)[0].toUpperCase()}${tierWords(next.to).slice(1)} takes over at a pause of ${timeOf(next.at)}. Model and bytes have cancelled: only rents and drain times decide.` : "No place is cheaper for a longer pause." };
  },
  pictures(n) {
    const x = evenLog(0.001, 1e7, 81), have = TIERS.filter(([t]) => n.has(`tier_total[${t}]`)), y = n.sweep("hold_time", x), million = (of: string): number[] => y(of).map(v => 1e6 * v), now = tierNow(n);
    const lines: Line[] = have.map(([t, words], i) => ({ ...line(words, "cache", t === now ? "result" : "term", path(x, million(`tier_total[${t}]`)).filter(p => p[1] > 0)), shade: i as 0 | 1 | 2 | 3 }));
    lines.push(line("recompute", "compute", "term", path(x, million("recompute_cost"))));
    const L = evenLog(1000, 1e8, 41), z = n.sweep("context", L), growth = z("cost_growth"), cap = n.value("context_crossover");
    const wall = [line("cost of a token", "result", "result", path(L, growth)), line("multiply", "compute", "term", path(L, L.map(() => 1))), line("read the cache", "cache", "term", path(L, z("context_over_crossover")).filter(p => p[1] > 0.01))];
    const low = Math.min(...lines.flatMap(l => l.points.map(p => p[1])));
    return [{ title: `For ${timeOf(n.value("hold_time"))} the cheapest place is ${tierWords(now)}`, x: { ...log("pause", "", 0.001, 1e7), time: true }, y: log("USD for a million tokens kept", "", Math.max(low, 1e-9), 10 ** Math.ceil(Math.log10(1e6 * n.value("recompute_cost") * 3))), lines,
      marks: borders(n).filter(b => b.at > 0.002).map(b => ({ name: `${b.to} from ${timeOf(b.at)}`, x: b.at, y: 1e6 * (n.value(`tier_retrieve[${b.to}]`) + n.value(`tier_hold[${b.to}]`) * b.at) })),
      here: { x: n.value("hold_time"), y: usd(n, "cheapest_tier_cost"), sets: "hold_time", name: "you" }, table: tableOf("pause, s", lines) },
      { title: cap > 0 && Number.isFinite(cap) ? `The wall: beyond ${n.write("context_crossover")} every token of context costs` : "The cost grows with the context, and has no corner", x: log("tokens of context", "", 1000, 1e8), y: log("times the cost without context", "", 0.1, 10 ** Math.ceil(Math.log10(Math.max(10, growth[40])))), lines: wall,
        here: { x: n.value("context"), y: n.value("cost_growth"), sets: "context", name: "you" }, marks: cap > 1000 && cap < 1e8 ? [{ name: "corner", x: cap, y: 1, sets: "kv_per_token" }] : [], table: tableOf("context", wall) }];
  },
  meets: n => ({ text: ["To hold a byte costs rent for the pause; to bring it back costs rent while the place is read, which takes ", { row: `tier_drain_time[${tierNow(n)}]` }, ` for all of ${tierWords(tierNow(n))}. To multiply a token again costs as much as to keep it in HBM for `, { row: "hbm_hold_break_even" }, "."] }),
  differ: [{ row: "kv_per_token", words: "cache of a token" }, { row: "recompute_cost", words: "to multiply a token again" }, { row: "hbm_hold_break_even", words: "which pays for a wait in HBM of" }, { row: "context_crossover", words: "context at which the wall begins" }],
};

export function timeOf(s: number): string {
  const units: [number, string][] = [[86400, "days"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"]];
  const [size, name] = units.find(([u]) => s >= u * 0.999) ?? [1e-6, "µs"];
  return `${Number((s / size).toPrecision(3))} ${name}`;
}

/* ---- chapter 7 ------------------------------------------------------------------------------ */

const reversible: ChapterSpec = {
  id: "reversible", task: "Drag the layers until forgetting saves more than nine tenths of the memory of checkpoints.", first: "reversible.flat", lede: ["reversible.feistel", "reversible.flat", "reversible.flops"],
  decks: [], given: { feistel_left: "3", feistel_right: "5", stacked_layers: "16", activation_bytes_per_layer: "1GB" },
  hand: { row: "stacked_layers", words: "layers", result: "activations_kept" },
  rows: ["feistel_output", "feistel_undone", "feistel_left", "feistel_right", "feistel_function", "activations_kept", "activations_checkpointed", "activations_reversible", "stacked_layers", "activation_bytes_per_layer", "reversible_flops", "inversion_error", "significand_bits", "coupling_slope", "layer_couplings"],
  equations: () => [
    { of: "feistel_output", binds: null, items: [{ of: "feistel_right", kind: "result", name: "the half that changes", over: ["feistel_right"], under: [] }, "+", { of: "feistel_function", kind: "compute", name: "any function of the other half", over: ["feistel_left", "feistel_left"], under: [] }] },
    { of: "feistel_undone", binds: null, items: [{ of: "feistel_output", kind: "result", name: "what came out", over: ["feistel_output"], under: [] }, "−", { of: "feistel_function", kind: "compute", name: "the same function", over: ["feistel_left", "feistel_left"], under: [] }] }],
  verdict(n) {
    const kept = n.value("activations_kept"), points = n.value("activations_checkpointed"), flat = n.value("activations_reversible");
    const save = 1 - flat / points;
    return save > 0.9 ? { right: true, bold: `Yes: ${three(n.value("stacked_layers"))} layers.`, rest: `${n.write("activations_reversible")} instead of ${n.write("activations_checkpointed")} with checkpoints and ${n.write("activations_kept")} kept, for ${three(n.value("reversible_flops"))} times the FLOPs.` }
      : { right: false, bold: `It saves ${two(100 * save)} % of what checkpoints need.`, rest: `${n.write("activations_reversible")} instead of ${n.write("activations_checkpointed")}, and of ${two(kept / 1e9)} GB if every layer keeps its own. Checkpoints grow with the root of the depth, a reversible net not at all.` };
  },
  pictures(n, held) {
    const end = held.end("layers", nice(Math.max(128, 1.3 * n.value("stacked_layers")))), x = even(1, end, 64), y = n.sweep("stacked_layers", x), gb = (of: string): number[] => y(of).map(v => v / 1e9);
    const lines = [line("all kept", "cache", "term", path(x, gb("activations_kept"))), line("checkpoints", "host", "term", path(x, gb("activations_checkpointed"))), line("undone", "result", "result", path(x, gb("activations_reversible")))];
    const l = evenLog(1, 512, 41), error = n.sweep("stacked_layers", l)("inversion_error"), exact = [line("largest error", "result", "result", path(l, error).filter(p => p[1] > 0))];
    return [{ title: `${three(n.value("stacked_layers"))} layers need ${n.write("activations_checkpointed")} with checkpoints, ${n.write("activations_reversible")} when they are undone`, x: lin("layers", "", end), y: lin("GB of activations", "", held.end("gb", nice(4 * gb("activations_checkpointed")[63]))), lines,
      here: { x: n.value("stacked_layers"), y: n.value("activations_checkpointed") / 1e9, sets: "stacked_layers", name: "you" }, table: tableOf("layers", lines) },
      { title: `Undoing ${three(n.value("stacked_layers"))} layers returns the input to within ${Number(n.value("inversion_error").toPrecision(2))} of it`, x: log("layers", "", 1, 512), y: log("relative error", "", 10 ** Math.floor(Math.log10(error[0])), Math.min(1, 10 ** Math.ceil(Math.log10(error[40])))), lines: exact,
        here: { x: n.value("stacked_layers"), y: n.value("inversion_error"), sets: "stacked_layers", name: "you" }, table: tableOf("layers", exact) }];
  },
  meets: () => ({ text: ["From ", { row: "feistel_left" }, " and ", { row: "feistel_right" }, " comes ", { row: "feistel_output" }, ", and from that, with the half that was kept, ", { row: "feistel_undone" }, " again: the function itself is never inverted. A net of such layers keeps ", { row: "activation_bytes_per_layer" }, " and multiplies ", { row: "reversible_flops" }, " times as much."] }),
  differ: [],
  extra: "rounds",
};

export const CHAPTERS: readonly ChapterSpec[] = [batch, experts, pipeline, training, prices, memory, reversible];
export const chapterOf = (id: ChapterId): ChapterSpec => CHAPTERS.find(c => c.id === id)!;

/* The words of the chapter: number, title, clock time, question, as data/chapters.csv has them. */
export const toldOf = (id: ChapterId): { number: number; title: string; time: string; question: string } => CHAPTER_OF[id];
export const clock = (time: string): string => time.replace(/^(\d+:\d+):\d+$/, "$1");

/* "crossover; batch=6000": decks by name, then single rows. */
function rowsOfDeck(text: string): [string, string][] {
  return text.split(";").map(part => part.trim()).filter(Boolean).flatMap((part): [string, string][] =>
    part.includes("=") ? [[part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]] : Object.entries(DECKS[part] ?? {}));
}

/* Bounds of a machine are those of its whole domain, unless the chips are given. */
export const wholeDomain = (of: Scenario): Scenario => of.on && !of.options.gpus ? { ...of, options: { ...of.options, gpus: "scale_up_chips" } } : of;
/* A chapter has context and batch of its own; of the first screen it takes model, machine, formats, facts. */
export const mineOf = (of: Scenario): Scenario => ({ ...of, options: Object.fromEntries(Object.entries(of.options).filter(([name]) => ["gpus", "precision", "kv-precision", "experts-precision"].includes(name))) });

/* The scenario of a chapter: its decks with what the hand has changed, or the reader's model with it. */
export function lectureScenario(state: State): Scenario {
  const chapter = chapterOf(state.chapter), { deck } = state;
  if (state.mine && chapter.differ.length) {
    const of = wholeDomain(mineOf(state.A));
    return { ...of, options: { ...of.options, ...deck.options }, given: { ...of.given, ...deck.given } };
  }
  const rows = [...chapter.decks.flatMap(name => Object.entries(DECKS[name])), ...Object.entries(chapter.given), ...rowsOfDeck(state.statementDeck)];
  const base = rows.reduce((of, [row, text]) => give(of, row, text), scenario("", ""));
  return { ...base, options: { ...base.options, ...deck.options }, given: { ...base.given, ...deck.given } };
}
