/* The seven chapters: the same board with other rows and other pictures. What a row means, its
 * unit and its formula come from the engine; here stand only which rows are shown where. */
import type { BoardReply } from "./client";
import type { Engine, Reply } from "./engine";
import { type Live, spaced } from "./live";
import type { Bar, Curves, Drawing, Line, Span } from "./picture";
import { named, percent, small } from "./names";
import { type Scenario, type State, words } from "./state";

export interface Context {
  engine: Engine;
  live: Live;
  scenario: Scenario;
  state: State;
  server: BoardReply | null;            // the prediction, a moment later
  replies: Map<string, Reply>;          // of pictures that ask
  measured: Reply | null;
}

export interface PictureOf {
  id: string;
  needs?: string[];
  still?: boolean;                      // it shows the worker's answer and follows no slider by itself
  /* A question for the worker, in its own words; null: none here. */
  ask?(state: State, of: Scenario): string[] | null;
  draw(context: Context): Drawing | string | null;
}

export interface Chapter {
  id: string;
  name: string;
  model: boolean;                       // of a model on a machine, or of the lecture's numbers
  lines: string[];                      // rows set with their formulas; the first is the main one
  results: string[];
  inputs: string[];
  server?: string[];                    // quantities of the prediction
  claim(context: Context): string;
  pictures: PictureOf[];
}

/* ---- ranges of sliders: [low, high, whole] ------------------------------------------------- */

export const RANGES: Record<string, [number, number, boolean]> = {
  batch: [1, 65536, true], context: [128, 4194304, true], chips: [1, 2304, true],
  prompt_tokens: [16, 262144, true], output_tokens: [1, 32768, true], pipeline_parallel: [1, 64, true],
  tokens_per_pass: [1, 4096, true], chip_price: [0.2 / 3600, 30 / 3600, false],
  hold_time: [1, 2.6e6, false], model_lifetime: [7 * 86400, 730 * 86400, false], ship_probability: [0.05, 1, false],
  stacked_layers: [1, 512, true], micro_batches: [1, 128, true], scale_up_domains: [1, 16, true],
  price_step_context: [8192, 2097152, true], price_step: [1.05, 4, false], family_size: [1, 100, true], price_over_cost: [0.1, 20, false],
  hop_time: [1e-5, 0.05, false], coupling_slope: [0.001, 2, false], inference_efficiency: [0.05, 1, false],
  token_rate: [1e6, 1e10, false], resume_limit: [0.05, 100, false], hit_ratio: [0.01, 1, false],
};

const ms = (context: Context) => (v: number): string => context.engine.write(v, "s");
const count = (context: Context) => (v: number): string => context.engine.write(v, "1", 4);
const tokens = (context: Context) => (v: number): string => context.engine.write(v, "token", 3);
const usd = () => (v: number): string => `$${Number((1e6 * v).toPrecision(2))}`;

/* Values of the prediction along the batch. */
function predicted(context: Context, of: string): Float64Array | null {
  const side = context.server?.doc.server, curve = context.server?.curves["server:batch"];
  const at = side?.outputs.findIndex(output => output.of === of) ?? -1;
  return side && curve && at >= 0 ? curve[at] : null;
}
export function predictedNow(context: Context, of: string): number {
  const side = context.server?.doc.server;
  const at = side?.outputs.findIndex(output => output.of === of) ?? -1;
  return at >= 0 ? context.server!.values.server[at] : NaN;
}
/* The batches at which both are drawn. */
export const batches = (): number[] => spaced(1, 65536, 65, true);

/* Zero, infinite, and beyond what is stable: not drawn. */
const drawn = (y: ArrayLike<number>, stable: ArrayLike<number> | null): (number | null)[] =>
  Array.from(y, (v, i) => Number.isFinite(v) && v > 0 && (!stable || stable[i] > 0) ? v : null);

/* Up to the batch that memory holds. */
const fitting = (context: Context, x: number[], y: (number | null)[]): (number | null)[] => {
  const most = Math.max(context.live.value("sequences_that_fit"), 1);
  return y.map((v, i) => x[i] <= most ? v : null);
};

function band(context: Context, of: string, low: string, high: string, colour: number, name: string): Line[] {
  const y = predicted(context, of), a = predicted(context, low), b = predicted(context, high);
  const stable = predicted(context, "stable");
  if (!y || !a || !b) return [];
  const edge = (by: Float64Array): (number | null)[] => fitting(context, batches(), drawn(Array.from(y, (v, i) => v * by[i]), stable));
  return [{ name, y: fitting(context, batches(), drawn(y, stable)), colour, band: { low: edge(a), high: edge(b) } }];
}

/* ---- pictures of a step --------------------------------------------------------------------- */

const latency: PictureOf = {
  id: "latency", needs: ["bound_step", "bound_compute", "bound_memory", "latency_floor_touched", "sequences_that_fit"],
  draw(context) {
    const x = batches(), curve = context.live.sweep("batch", x);
    const step = curve?.("bound_step");
    if (!step) return null;
    const now = context.live.value("batch"), at = context.live.value("bound_step");
    const floor = context.live.value("bound_weights"), rows = measuredOf(context, "tpot").filter(row => row.chips === context.live.value("chips"));
    return { kind: "curves", xLog: true, yLog: true, x, xName: "batch", yName: "time per output token",
      title: at < 1.15 * floor ? `At batch ${count(context)(now)} a step takes little longer than reading the weights: ${ms(context)(at)}`
           : `Batch ${count(context)(now)}: ${ms(context)(at)} lower bound${context.server ? `, ${ms(context)(predictedNow(context, "predicted_tpot"))} predicted` : ""}`,
      xUnit: "1", yUnit: "s",
      lines: [{ name: "bound", y: fitting(context, x, drawn(step, null)), colour: 0, thin: true },
              ...band(context, "predicted_tpot", "tpot_band_low", "tpot_band_high", 1, "predicted"),
              ...(rows.length ? [{ name: "measured", x: rows.map(r => r.concurrency), y: rows.map(r => r.measured), sources: rows.map(sourceOf), colour: 3, points: true }] : [])],
      mark: { x: now, text: "here" }, xWrite: count(context), yWrite: ms(context) };
  },
};

const cost: PictureOf = {
  id: "cost", needs: ["bound_cost_per_token", "cost_floor", "sequences_that_fit"],
  draw(context) {
    const x = batches(), curve = context.live.sweep("batch", x);
    const y = curve?.("bound_cost_per_token");
    if (!y) return null;
    const fit = fitting(context, x, drawn(y, null)), least = Math.min(...fit.map(v => v ?? Infinity));
    if (least === Infinity) return "No batch fits in memory";
    const cheap = x[fit.findIndex(v => v !== null && v <= 1.05 * least)], full = fit[fit.length - 1] === null;
    const end = context.live.value("sequences_that_fit");
    return { kind: "curves", xLog: true, yLog: true, x, xName: "batch", yName: "USD per million tokens",
      title: full && cheap > 0.6 * end ? `Cheapest when memory is full, at batch ${count(context)(end)}` : `Within 5 % of cheapest from batch ${count(context)(cheap)}; beyond it nothing is gained`,
      xUnit: "1", yUnit: "USD/token",
      lines: [{ name: "bound", y: fit, colour: 0, thin: true },
              ...(predicted(context, "output_cost_per_token")
                ? [{ name: "predicted", y: fitting(context, x, drawn(predicted(context, "output_cost_per_token")!, predicted(context, "stable"))), colour: 1 }] : [])],
      mark: { x: context.live.value("batch"), text: "here" }, xWrite: count(context), yWrite: usd() };
  },
};

const roofline: PictureOf = {
  id: "roofline", needs: ["achieved_intensity", "achieved_flops", "peak_flops", "hbm_bandwidth", "flops_per_byte"],
  draw(context) {
    const { live } = context, peak = live.value("peak_flops"), w = live.value("hbm_bandwidth");
    const here = live.value("achieved_intensity"), ridge = live.value("flops_per_byte");
    if (!(here > 0)) return null;
    const x = spaced(Math.min(here, ridge) / 30, Math.max(here, ridge) * 30, 49, false);
    const operators = Object.entries(context.replies.get("operators")?.answer?.operators ?? {}) as [string, Record<string, number>][];
    const dots = operators.map(([name, o]) => ({ name, i: o.operator_compute_time * peak / (o.operator_read_time * w),
      f: peak * o.operator_compute_time / Math.max(o.operator_compute_time, o.operator_read_time) })).filter(d => d.i > 0 && Number.isFinite(d.i) && d.i > x[0] && d.i < x[x.length - 1]);
    return { kind: "curves", xLog: true, yLog: true, x, xName: "FLOPs per byte read", yName: "FLOP/s per chip",
      title: here < ridge ? `Memory-bound: ${context.engine.write(here, "FLOP/B")} the chip is balanced at ${context.engine.write(ridge, "FLOP/B")}`
                          : `Compute-bound: ${context.engine.write(here, "FLOP/B")}, above the chip's ${context.engine.write(ridge, "FLOP/B")}`,
      xUnit: "FLOP/B", yUnit: "FLOP/s",
      lines: [{ name: "roofline", y: x.map(i => Math.min(peak, w * i)), colour: 0 },
              { name: "operators", x: dots.map(d => d.i), y: dots.map(d => d.f), sources: dots.map(d => d.name), colour: 2, points: true },
              { name: "this step", x: [here], y: [live.value("achieved_flops")], colour: 3, points: true }],
      xWrite: v => context.engine.write(v, "1", 3), yWrite: v => context.engine.write(v, "FLOP/s", 3) };
  },
};

const memory: PictureOf = {
  id: "memory", needs: ["weights_per_chip", "kv_per_chip", "hbm_capacity", "hbm_reserve", "hbm_share"],
  draw(context) {
    const { live } = context, b = (v: number): string => context.engine.write(v, "B");
    const weights = live.value("weights_per_chip"), kv = live.value("kv_per_chip"), all = live.value("hbm_capacity");
    const reserve = all * live.value("hbm_reserve");
    const over = weights + kv + reserve > all, share = (weights + kv) / (all - reserve);
    return { kind: "bars", unit: "B", total: Math.max(all, weights + kv + reserve), write: b,
      title: over ? `Does not fit: ${b(weights + kv + reserve)} of ${b(all)} on each chip` : `Each chip is ${percent(share)} full; ${b(all - weights - kv - reserve)} free`,
      bars: [{ name: "one chip", text: b(all), parts: [{ name: "weights", value: weights, colour: 0 }, { name: "KV cache", value: kv, colour: 1 },
               { name: "reserve", value: reserve, colour: 2 }, ...(over ? [] : [{ name: "free", value: all - weights - kv - reserve, colour: -1 }])] },
             { name: "weights", text: b(weights), parts: [{ name: "weights", value: weights, colour: 0 }] },
             { name: "KV cache", text: b(kv), parts: [{ name: "KV cache", value: kv, colour: 1 }] },
             ...(reserve > 0 ? [{ name: "reserve", text: b(reserve), parts: [{ name: "reserve", value: reserve, colour: 2 }] }] : [])] };
  },
};

/* The parts of a time, those of one label together, longest first. */
const partsOf = (answer: unknown): [string, number][] => {
  const sums = new Map<string, number>();
  for (const part of Object.values((answer as { parts?: Record<string, { label: string; time: number }> } | undefined)?.parts ?? {}))
    sums.set(part.label, (sums.get(part.label) ?? 0) + part.time);
  return [...sums].filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
};

const time: PictureOf = {
  id: "operators", still: true,
  ask: (_, of) => of.model && of.on ? ["step", ...words(of)] : null,
  draw(context) {
    const reply = context.replies.get("operators");
    if (!reply) return "Computing where the time per token goes…";
    if (reply.error) return reply.error.what;
    const parts = partsOf(reply.answer);
    if (!parts.length) return "No server keeps up with these requests";
    const all = parts.reduce((sum, [, value]) => sum + value, 0), write = ms(context);
    return { kind: "bars", write, unit: "s", title: `A token's ${write(all)}: ${parts[0][0]} ${(100 * parts[0][1] / all).toFixed(0)} %`,
      bars: parts.slice(0, 10).map(([name, value]): Bar => ({ name, text: `${write(value)} (${(100 * value / all).toFixed(0)} %)`,
        parts: [{ name, value, colour: name.startsWith("prefill") ? 1 : name.includes("overhead") ? 2 : 0 }] })) };
  },
};

interface Measured { model: string; machine: string; metric: string; measured: number; chips: number; concurrency: number; source: string; file: string; line: number;
  inputs: Record<string, number> }

const near = (a: number | undefined, b: number): boolean => a === undefined || (a <= 1.25 * b && b <= 1.25 * a);

/* What was measured of this model on this machine with requests about as long, where a source
 * says with how many. */
function measuredOf(context: Context, metric: string): Measured[] {
  const model = plain(context.live.doc.model ?? "-"), machine = plain(context.live.doc.machine ?? "-");
  return ((context.measured?.answer?.worst ?? []) as Measured[]).filter(row =>
    row.metric === metric && plain(row.model ?? "") === model && plain(row.machine ?? "") === machine && row.concurrency > 0 && row.chips > 0 &&
    near(row.inputs.prompt_tokens, predictedNow(context, "prompt_tokens")) && near(row.inputs.output_tokens, predictedNow(context, "output_tokens")));
}
const sourceOf = (row: Measured): string => `${row.source}; ${row.inputs.prompt_tokens ?? "?"} in, ${row.inputs.output_tokens ?? "?"} out (${row.file}:${row.line})`;

/* Names compare without case and marks, as the catalog's do. */
const plain = (name: string): string => name.toLowerCase().replace(/[\s_.-]/g, "");

const frontier: PictureOf = {
  id: "frontier", still: true,
  ask: (_, of) => {
    if (!of.model || !of.on) return null;
    const kept: Scenario = { ...of, options: new Map([...of.options].filter(([name]) => ["gpus", "isl", "osl", "precision", "experts-precision", "kv-precision", "engine"].includes(name))) };
    return ["plan", ...words(kept)];
  },
  draw(context) {
    const reply = context.replies.get("frontier");
    if (!reply) return "Searching every layout at every load…";
    if (reply.error) return `${reply.error.what}: ${reply.error.hint}`;
    const front = ((reply.answer?.front ?? []) as { speed_per_user?: number; disagg_speed_per_user?: number; per_gpu: number; deployment: string }[])
      .map(p => ({ ...p, speed_per_user: p.disagg_speed_per_user ?? p.speed_per_user ?? 0 }));
    if (!front.length) return "No layout meets the limits";
    const best = reply.answer.best;
    const points = [...front].sort((a, b) => a.speed_per_user - b.speed_per_user);
    const rows = measuredOf(context, "throughput");
    const rate = (v: number): string => context.engine.write(v, "token/s"), short = (v: number): string => context.engine.write(v, "1", 3);
    return { kind: "curves", xLog: true, yLog: true, x: points.map(p => p.speed_per_user), xName: "token/s per user", yName: "token/s per GPU",
      title: best ? `Best within the TTFT and TPOT limits of plan: ${best.deployment}, ${rate(best.per_gpu)} per GPU at ${rate(best.disagg_speed_per_user ?? best.speed_per_user)} per user` : "Speed against throughput",
      xUnit: "token/s", yUnit: "token/s",
      lines: [{ name: "best", y: points.map(p => p.per_gpu), colour: 0 },
              { name: "a layout", x: points.map(p => p.speed_per_user), y: points.map(p => p.per_gpu), sources: points.map(p => p.deployment), colour: 2, points: true },
              ...(rows.length ? [{ name: "measured", x: rows.map(r => r.measured / r.concurrency), y: rows.map(r => r.measured / r.chips), sources: rows.map(sourceOf), colour: 3, points: true }] : [])],
      xWrite: short, yWrite: short };
  },
};

/* ---- the others ------------------------------------------------------------------------------ */

function along(id: string, input: string, low: number, high: number, whole: boolean, lines: [string, string, number][],
               names: (context: Context) => { title: string; xName: string; yName: string; xWrite: (v: number) => string; yWrite: (v: number) => string },
               log: { x?: boolean; y?: boolean } = { x: true, y: true }): PictureOf {
  return { id, needs: [input, ...lines.map(line => line[0])], draw(context) {
    const x = spaced(low, high, whole && !log.x ? high - low + 1 : 65, whole), curve = context.live.sweep(input, x);
    if (!curve) return null;
    const drawing: Curves = { kind: "curves", x, xLog: log.x, yLog: log.y, xUnit: context.live.unit(input), yUnit: context.live.unit(lines[0][0]), ...names(context),
      lines: lines.flatMap(([of, name, colour]) => { const y = curve(of); return y ? [{ name, y: Array.from(y, v => Number.isFinite(v) && (!log.y || v > 0) ? v : null), colour }] : []; }),
      mark: { x: context.live.value(input), text: "here" } };
    return drawing;
  } };
}

const short = (v: number): string => v >= 1e6 ? `${Number((v / 1e6).toPrecision(3))}M` : v >= 1e3 ? `${Number((v / 1e3).toPrecision(3))}k` : String(Number(v.toPrecision(3)));
const seconds = (context: Context) => ({ xWrite: count(context), yWrite: ms(context) });

const exchange = along("exchange", "batch", 1, 65536, true,
  [["all_to_all_time", "all-to-all", 1], ["bound_step", "step", 0], ["all_to_all_time_two_domains", "across two racks", 3]],
  context => ({ title: context.live.value("all_to_all_share") < 1 ? `The all-to-all can overlap with the step: ${(100 * context.live.value("all_to_all_share")).toFixed(0)} % of it`
                                                               : `The all-to-all takes ${context.live.value("all_to_all_share").toFixed(1)} times as long as the step`,
               xName: "batch", yName: "time per step", ...seconds(context) }));

const idle = along("idle", "chips", 1, 576, true, [["idle_chips", "idle chips", 3], ["experts_per_chip", "experts per chip", 0]],
  context => ({ title: `${count(context)(context.live.value("experts"))} experts on ${count(context)(context.live.value("chips"))} chips: ${count(context)(context.live.value("idle_chips"))} idle`,
               xName: "chips", yName: "chips, experts", xWrite: count(context), yWrite: count(context) }), { x: false, y: false });

const stages = along("stages", "pipeline_parallel", 1, 64, true,
  /* stages of as many chips each as a replica has now */
  [["AT(weights_per_chip, chips = chips * pipeline_parallel)", "weights", 0], ["AT(kv_per_chip, chips = chips * pipeline_parallel)", "KV cache", 1], ["AT(memory_per_chip, chips = chips * pipeline_parallel)", "both", 2]],
  context => ({ title: `Stages divide the weights; the KV cache per chip stays ${context.engine.write(context.live.value("kv_per_chip"), "B")}`,
               xName: "pipeline stages", yName: "memory per chip", xWrite: count(context), yWrite: v => context.engine.write(v, "B") }), { x: true, y: true });

const bubble = along("bubble", "pipeline_parallel", 1, 64, true, [["pipeline_bubble", "idle share", 3], ["pipeline_bubble_interleaved", "interleaved", 1], ["pipeline_bubble_decode", "decode", 0]],
  context => ({ title: `${count(context)(context.live.value("pipeline_parallel"))} stages, ${count(context)(context.live.value("micro_batches"))} micro-batches: ${(100 * context.live.value("pipeline_bubble")).toFixed(0)} % of the time is filling and draining`,
               xName: "pipeline stages", yName: "idle share", xWrite: count(context), yWrite: v => `${(100 * v).toFixed(0)} %` }), { x: true, y: false });

const balance = along("tokens", "model_lifetime", 7 * 86400, 730 * 86400, false, [["pretrain_tokens", "equal costs", 0], ["optimal_pretrain_tokens", "cheapest", 1], ["training_optimal_tokens", "nothing served", 2]],
  context => ({ title: `Serve ${tokens(context)(context.live.value("inference_tokens"))}: train on ${tokens(context)(context.live.value("optimal_pretrain_tokens"))}`,
               xName: "lifetime of the model", yName: "pre-training tokens", xWrite: v => context.engine.write(v, "s"), yWrite: tokens(context) }));

const laws: PictureOf = {
  id: "laws", still: true,
  ask: (_, of) => of.model || of.sets.has("params_active")
    ? ["life", ...words({ ...of, on: "", options: new Map([...of.options].filter(([name]) => name === "tokens")) })] : null,
  draw(context) {
    const reply = context.replies.get("laws");
    if (!reply) return "Comparing the scaling laws…";
    if (reply.error) return `${reply.error.what}: ${reply.error.hint}`;
    const rows = ((reply.answer?.laws ?? []) as { title: string; tokens: number }[])
      .map(law => ({ title: law.title, at: law.tokens })).filter(law => law.at > 0);
    const range = reply.answer?.range_of_law?.optimal_pretrain_tokens as number[] | undefined;
    const each = reply.answer.overtraining as number;
    return { kind: "bars", write: tokens(context), unit: "token",
      title: `${context.engine.write(each, "1", 2)} times the 20 tokens per parameter of Chinchilla${range ? `; ${tokens(context)(range[0])} to ${tokens(context)(range[1])} from the standard errors of the law` : ""}`,
      bars: rows.map((law, i): Bar => ({ name: law.title.replace(/ et al\.? \d+/, ""), text: tokens(context)(law.at), parts: [{ name: law.title, value: law.at, colour: i ? 2 : 0 }] })) };
  },
};

const training: PictureOf = {
  id: "training-step", still: true,
  ask: (_, of) => of.model && of.on ? ["train", ...words({ ...of, options: new Map([...of.options, ["gpus", of.options.get("gpus") ?? "1024"]].filter(([name]) => ["gpus", "precision"].includes(name)) as [string, string][]) })] : null,
  draw(context) {
    const reply = context.replies.get("training-step");
    if (!reply) return "Searching every layout of the training run…";
    if (reply.error) return `${reply.error.what}: ${reply.error.hint}`;
    const best = reply.answer?.best;
    if (!best) return "No layout fits";
    const write = ms(context), parts = partsOf(best);
    return { kind: "bars", write, unit: "s", title: `${best.layout}: MFU ${(100 * best.train_mfu).toFixed(0)} %, ${write(best.train_step)} a step`,
      bars: parts.map(([name, value]): Bar => ({ name, text: write(value), parts: [{ name, value, colour: name === "GEMMs" || name === "attention" ? 0 : name.includes("communication") || name === "experts" ? 1 : 2 }] })) };
  },
};

const priceStep = along("price-step", "context", 1024, 4194304, true, [["cost_growth", "cost relative to no context", 0]],
  context => ({ title: `Cost rises where reading the KV cache takes longer than compute: ${context.engine.write(context.live.value("context_crossover"), "token")}`,
               xName: "tokens of context", yName: "cost relative to compute alone", xWrite: short, yWrite: v => v.toPrecision(2) }), { x: true, y: false });

/* Units of rows that are not on the board. */
const units = new Map<string, string>();
function unitOf(engine: Engine, row: string): string {
  if (!units.size)
    for (const r of (engine.ask(["list", "rows"]).answer?.rows ?? []) as { name: string; unit: string }[]) units.set(r.name, r.unit);
  return units.get(row) ?? "1";
}

const deduced: PictureOf = {
  id: "deduced", still: true,
  ask: state => ["deduce", state.sheet, "--model", state.prices || "claude-opus-4-7", "--draws", "65536"],
  draw(context) {
    const reply = context.replies.get("deduced");
    if (!reply) return "Reading the price list backward…";
    if (reply.error) return `${reply.error.what}: ${reply.error.hint}`;
    const [name, entry] = Object.entries(reply.answer ?? {})[0] as [string, any];
    const quantities = Object.entries(entry.quantities ?? {}) as [string, any][];
    const spans = quantities.filter(q => q[1].bits >= 0.1).sort((a, b) => b[1].bits - a[1].bits).slice(0, 10).map(([key, q]): Span => {
      const unit = unitOf(context.engine, key);
      const [a, b, c] = ["q05", "q50", "q95"].map(k => context.engine.write(q.posterior[k], unit, 2));
      return { name: named(key), low: q.posterior.q05, lowQ: q.posterior.q25, mid: q.posterior.q50, highQ: q.posterior.q75, high: q.posterior.q95,
               faintLow: q.prior.q05, faintHigh: q.prior.q95, text: `${a} … ${b} … ${c}; ${q.bits.toFixed(1)} bits` };
    });
    return { kind: "spans", title: `What the prices of ${name} imply: bars are 50 and 90 % intervals, the line is the prior, bits are what the prices tell`, spans, write: (_, v) => String(v) };
  },
};

const TIERS = ["hbm", "ddr", "flash", "disk"];
const tiers: PictureOf = {
  id: "tiers", needs: ["hold_time", "recompute_pause_cost", ...TIERS.map(tier => `tier_pause_cost[${tier}]`)],
  draw(context) {
    const x = spaced(0.1, 1e7, 73, false), curve = context.live.sweep("hold_time", x);
    if (!curve) return null;
    const lines: Line[] = TIERS.flatMap((tier, i) => { const y = curve(`tier_pause_cost[${tier}]`); return y ? [{ name: tier, y: Array.from(y, v => v > 0 ? v : null), colour: i }] : []; });
    const again = curve("recompute_pause_cost");
    if (again) lines.push({ name: "recompute", y: Array.from(again), colour: 3, thin: true });
    const now = TIERS.map(tier => [tier, context.live.value(`tier_pause_cost[${tier}]`)] as const).filter(t => Number.isFinite(t[1]));
    const cheapest = now.concat([["recomputing", context.live.value("recompute_pause_cost")] as never]).reduce((a, b) => b[1] < a[1] ? b : a);
    return { kind: "curves", xLog: true, yLog: true, x, xName: "pause", yName: "cost of one pause", lines, mark: { x: context.live.value("hold_time"), text: "here" },
      title: `For a pause of ${context.engine.write(context.live.value("hold_time"), "s")} the cheapest is ${cheapest[0] === "recomputing" ? cheapest[0] : cheapest[0].toUpperCase()}, ${small(context.engine, cheapest[1], "USD", 2)}`, xUnit: "s", yUnit: "USD",
      xWrite: v => context.engine.write(v, "s"), yWrite: v => `$${v >= 0.001 ? Number(v.toPrecision(2)) : v.toExponential(0)}` };
  },
};

const reversible = along("reversible", "stacked_layers", 1, 512, true, [["activations_kept", "all kept", 3], ["activations_checkpointed", "checkpoints", 1], ["activations_reversible", "reversible", 0]],
  context => ({ title: `${count(context)(context.live.value("stacked_layers"))} layers: ${context.engine.write(context.live.value("activations_kept"), "B")} kept, ${context.engine.write(context.live.value("activations_reversible"), "B")} when undone`,
               xName: "layers", yName: "activations", xWrite: count(context), yWrite: v => context.engine.write(v, "B") }));

const inversion = along("inversion", "stacked_layers", 1, 512, true, [["inversion_error", "error of the inversion", 3]],
  context => ({ title: `Inverting all layers changes the input by ${percent(context.live.value("inversion_error"))} at most`, xName: "layers", yName: "relative error",
               xWrite: count(context), yWrite: v => v.toExponential(0) }));

/* ---- the seven -------------------------------------------------------------------------------- */

const SERVER = ["predicted_tpot", "predicted_ttft", "predicted_throughput", "throughput_per_chip", "speed_per_user", "output_cost_per_token", "input_cost_per_token",
  "tpot_band_low", "tpot_band_high", "ttft_band_low", "ttft_band_high", "throughput_band_low", "throughput_band_high", "utilization", "stable", "predicted_energy_per_token", "prompt_tokens", "output_tokens"];

export const CHAPTERS: Chapter[] = [
  { id: "batch", name: "batch", model: true, server: SERVER,
    lines: ["bound_step", "bound_compute", "bound_memory", "bound_weights", "bound_kv", "bound_cost_per_token", "batch_crossover", "context_crossover"],
    results: ["bound_step", "user_speed", "bound_throughput", "bound_cost_per_token", "bound_mfu"],
    inputs: ["batch", "context", "chips", "chip_price", "hbm_bandwidth", "tokens_per_pass", "prompt_tokens", "output_tokens"],
    claim: context => {
      const b = context.live.value("batch_crossover"), ratio = context.live.value("unbatched_cost_ratio");
      return `A single user costs ${context.engine.write(ratio, "1", 2)} times the lowest cost; the lecture's crossover is at batch ${context.engine.write(b, "1", 3)} here (it says about 300 times total over active parameters).`;
    },
    pictures: [latency, cost, time, memory, frontier, roofline] },
  { id: "experts", name: "experts", model: true,
    lines: ["all_to_all_share", "all_to_all_time", "all_to_all_time_one_domain", "all_to_all_bytes", "copies_sent", "experts_per_chip", "two_domain_slowdown"],
    results: ["all_to_all_share", "all_to_all_time", "all_to_all_time_two_domains", "idle_chips", "sparsity"],
    inputs: ["batch", "chips", "context", "scale_up_bandwidth", "scale_out_bandwidth", "dispatch_bytes", "scale_up_domains"],
    claim: context => {
      const inside = context.live.value("all_to_all_time_one_domain"), two = context.live.value("all_to_all_time_two_domains"), step = context.live.value("bound_step");
      const times = `Inside one scale-up domain the all-to-all takes ${ms(context)(inside)}, across two ${ms(context)(two)}; a step takes ${ms(context)(step)}`;
      return two > step && inside < step ? `${times}: the experts should stay within one domain. The lecture's conclusion holds here.`
        : inside >= step ? `${times}: it cannot overlap even inside one.` : `${times}: at this batch it can overlap even across two domains, so the lecture's conclusion does not apply.`;
    },
    pictures: [exchange, idle, memory] },
  { id: "pipeline", name: "pipeline", model: true,
    lines: ["memory_per_chip", "weights_per_chip", "kv_per_chip", "pipeline_bubble", "pipeline_latency", "scale_up_over_scale_out"],
    results: ["weights_per_chip", "kv_per_chip", "memory_per_chip", "pp_weights_equal_kv", "pipeline_bubble"],
    inputs: ["pipeline_parallel", "batch", "context", "chips", "micro_batches", "hop_time", "virtual_stages"],
    claim: context => {
      const from = context.live.value("pp_weights_equal_kv");
      return `Stages divide the weights but not the KV cache: ${from <= 1 ? "here the cache is the larger part even with one stage" : `from ${Math.ceil(from)} stages on the cache is the larger part`}, so more stages gain little memory, and no speed.`;
    },
    pictures: [stages, bubble, memory] },
  { id: "training", name: "training", model: true,
    lines: ["optimal_pretrain_tokens", "life_balance", "pretrain_tokens", "inference_tokens", "optimal_overtraining", "rl_tokens", "pretrain_flops"],
    results: ["optimal_pretrain_tokens", "optimal_overtraining", "pretrain_tokens", "rl_tokens", "inference_tokens"],
    inputs: ["model_lifetime", "token_rate", "family_size", "ship_probability", "inference_efficiency", "rl_flop_per_param", "params_active", "training_tokens", "training_sequences", "sequence_length"],
    claim: context => `With ${tokens(context)(context.live.value("inference_tokens"))} served, the model of this size with the lowest cost is trained on ${context.engine.write(context.live.value("optimal_overtraining"), "1", 2)} times the tokens that would be optimal for training alone; equal costs is a rule of thumb for it. In the lecture ten models share the tokens of a provider: family_size says how many do.`,
    pictures: [balance, laws, training] },
  { id: "prices", name: "prices", model: true,
    lines: ["cost_growth", "implied_kv_per_token", "context_crossover", "output_input_ratio", "price_step_break_even", "hbm_hold_break_even"],
    results: ["output_input_ratio", "implied_kv_per_token", "context_crossover", "hits_to_pay_short", "hbm_hold_break_even"],
    inputs: ["price_step_context", "price_step", "price_over_cost", "batch", "context", "hit_ratio", "mfu_prefill", "prompt_tokens"],
    claim: context => `Output costs ${context.engine.write(context.live.value("output_input_ratio"), "1", 2)} times input here, from costs alone; sellers ask 3 to 6 times. A step at ${tokens(context)(context.live.value("price_step_context"))} would mean ${context.engine.write(context.live.value("implied_kv_per_token"), "B/token")} of cache; this model has ${context.engine.write(context.live.value("kv_per_token"), "B/token")}.`,
    pictures: [deduced, priceStep] },
  { id: "memory", name: "memory", model: true, server: SERVER,
    lines: ["cheapest_pause_cost", "recompute_pause_cost", "recompute_cost", "hbm_hold_cost", "hbm_hold_break_even", "sequences_that_fit"],
    results: ["cheapest_pause_cost", "recompute_pause_cost", "hbm_hold_break_even", "sequences_that_fit", "kv_per_token"],
    inputs: ["hold_time", "context", "batch", "chips", "chip_price", "resume_limit"],
    claim: context => {
      const at = (of: string): number => context.live.value(of), slower = at("tier_pause_cost[ddr]");
      return `Recomputing a token costs as much as ${context.engine.write(at("hbm_hold_break_even"), "s")} in HBM; a slower tier becomes cheaper long before that: ${Number.isFinite(slower)
        ? `a pause of ${context.engine.write(at("hold_time"), "s")} costs ${context.engine.write(at("tier_pause_cost[hbm]") / slower, "1", 2)} times as much in HBM as in host memory` : "see the chart"}.`;
    },
    pictures: [tiers, memory] },
  { id: "reversible", name: "reversible", model: false,
    lines: ["activations_reversible", "activations_kept", "activations_checkpointed", "reversible_flops", "feistel_output", "feistel_undone", "inversion_error"],
    results: ["activations_kept", "activations_checkpointed", "activations_reversible", "reversible_flops", "inversion_error"],
    inputs: ["stacked_layers", "activation_bytes_per_layer", "coupling_slope", "significand_bits", "layer_couplings", "feistel_left", "feistel_right"],
    claim: context => `A network of Feistel rounds can be inverted: its saved activations stay ${context.engine.write(context.live.value("activations_reversible"), "B")} at any depth, for ${((context.live.value("reversible_flops") - 1) * 100).toFixed(0)} % more FLOPs.`,
    pictures: [reversible, inversion] },
];

/* Rows that a chapter's sentence, pictures and sliders read. */
export function quantitiesOf(chapter: Chapter): string[] {
  const extra = ["bound_step", "bound_weights", "batch", "chips", "context", "all_to_all_share", "all_to_all_time_one_domain", "all_to_all_time_two_domains", "idle_chips", "experts", "unbatched_cost_ratio",
    "output_input_ratio", "price_step_context", "implied_kv_per_token"];
  return [...new Set([...chapter.lines, ...chapter.results, ...chapter.inputs, ...chapter.pictures.flatMap(p => p.needs ?? []), ...extra,
    ...(chapter.id === "prices" ? ["params_active", "params_total", "kv_per_token", "batch", "price_over_cost"] : [])])];
}
