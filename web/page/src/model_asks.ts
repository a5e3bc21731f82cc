/* What the first screen asks of the worker, and what it reads from the answers. */
import type { App } from "./app";
import type { Question } from "./client";
import type { Reply } from "./engine";
import { type Scenario, words } from "./state";

export interface Server { role: string; count: number; machine: string; chips: number; tensor_parallel: number; attention_dp: number; pipeline_parallel: number; expert_parallel: number }
export interface Deployment {
  deployment: string; kind: string; machine: string; words: string[]; servers: Server[]; running: number; per_gpu: number; tpot: number; ttft: number; cost: number;
  speed_per_user?: number; disagg_speed_per_user?: number; deployment_chips: number; chips_paid: number; engine: string; startable: boolean;
  tpot_band_low?: number; tpot_band_high?: number; disagg_tpot_band_low?: number; disagg_tpot_band_high?: number;
  throughput_band_low?: number; throughput_band_high?: number;
  parts?: Record<string, { label: string; time: number }>;
}
export interface Measured { model: string; machine: string; metric: string; measured: number; predicted: number; chips: number; concurrency: number; source: string; file: string; line: number; inputs: Record<string, number>; engine?: string; date?: string }

const SLOWEST = 5;                      // token/s: below, nobody reads along
const KEPT = ["gpus", "isl", "osl", "precision", "experts-precision", "kv-precision", "engine", "calibration"];

const planned = (of: Scenario): Scenario => ({ ...of, options: Object.fromEntries(Object.entries(of.options).filter(([name]) => KEPT.includes(name))) });
export const frontOf = (of: Scenario): Question => ({ kind: "ask", words: ["plan", ...words(planned(of)), "--speed", String(SLOWEST)] });
/* The same as a person asks it: within the speed that is wanted. */
export const planCommand = (of: Scenario, speed: number): string[] => [...words(planned(of)), "--speed", String(Number(speed.toPrecision(4)))];

export const speedOf = (p: Deployment): number => p.disagg_speed_per_user ?? p.speed_per_user ?? NaN;
/* Both ends of the interval of tokens per second and GPU. */
export const bandOf = (p: Deployment): [number, number] => [p.per_gpu * (p.throughput_band_low ?? NaN),
                                                            p.per_gpu * (p.throughput_band_high ?? NaN)];
/* What the time of a token is multiplied with at both ends of its interval. */
export const tpotBandOf = (p: Deployment): [number, number] => [p.disagg_tpot_band_low ?? p.tpot_band_low ?? NaN,
                                                                p.disagg_tpot_band_high ?? p.tpot_band_high ?? NaN];
/* Sequences that decode, of the whole deployment. */
export const usersOf = (p: Deployment): number => p.running;

export interface Front { points: Deployment[]; says: string; fresh: boolean; waits: boolean }

/* Of plan's front, which is one of time to the first token too, the points that no faster one surpasses; by speed. */
const kept = new WeakMap<Reply, Deployment[]>();
function best(reply: Reply): Deployment[] {
  let points = kept.get(reply);
  if (points) return points;
  let most = 0;
  points = ((reply.answer?.front ?? []) as Deployment[]).filter(p => Number.isFinite(speedOf(p))).sort((a, b) => speedOf(b) - speedOf(a) || b.per_gpu - a.per_gpu)
    .filter(p => p.per_gpu > most && (most = p.per_gpu)).reverse();
  kept.set(reply, points);
  return points;
}

export function front(app: App, side: "A" | "B"): Front {
  const of = side === "A" ? app.state.A : app.state.B;
  const { data, fresh } = app.answer<Reply>("front" + side, of && frontOf(of));
  const points = data ? best(data) : [];
  const says = data?.error ? data.error.what + (data.error.hint ? `: ${data.error.hint}` : "") : data && !points.length ? String(data.answer?.best_reason ?? data.answer?.reason ?? "no layout of these chips holds the model") : "";
  return { points, says, fresh, waits: !data };
}
/* The first point of the front that is fast enough; the fastest where none is. */
export const chosen = (points: readonly Deployment[], speed: number): Deployment | null => points.find(p => speedOf(p) >= speed) ?? points[points.length - 1] ?? null;

const BOUND = ["bound_step", "bound_weights", "bound_kv", "bound_compute", "layout_step", "layout_weights_time", "layout_kv_time"];
export const boundAt = (p: Deployment): Question => ({ kind: "ask", words: ["eval", ...BOUND, ...p.words] });
export const MEASURED: Question = { kind: "ask", words: ["check", "--worst", "1000"] };

export function modelQuestions(app: App): [string, Question][] {
  const { state } = app, list: [string, Question][] = [];
  if (state.A.model && state.A.on) list.push(["frontA", frontOf(state.A)]);
  const point = chosen(front(app, "A").points, state.speed);
  if (point) list.push(["point", boundAt(point)]);
  if (state.B) list.push(["frontB", frontOf(state.B)]);
  list.push(["measured", MEASURED]);
  return [...list, ...panelQuestions(app)];
}

export const TRACE = "poisson:rate=2,count=1200,input=2000,output=300";
/* The panels' own: a replay of traffic, problems, a search. */
export function panelQuestions(app: App): [string, Question][] {
  const { panel, words: said } = app.state, list: [string, Question][] = [];
  if (panel === "traffic") list.push(["traffic", trafficOf(app)]);
  if (panel === "find" && said.trim() && "find" in app.tables.verbs) list.push(["find", findOf(said)]);
  if (panel === "measured" && said.trim()) list.push(["calibrated", calibratedOf(said)]);
  if (panel === "quiz") list.push(["quiz", quizOf(app)]);
  return list;
}
export const trafficOf = (app: App): Question => {
  const { prompt: _, ...of } = { ...app.state.A, prompt: 0 };
  const options = Object.fromEntries(Object.entries(of.options).filter(([name]) => ["gpus", "precision", "kv-precision", "experts-precision", "engine"].includes(name)));
  return { kind: "ask", words: ["simulate", app.state.words || TRACE, ...words({ ...of, options }), "--requests", "-"] };
};
/* Files that were dropped, and what options say of their server where they do not. */
export const calibratedOf = (said: string): Question => ({ kind: "ask", words: ["calibrate", ...said.trim().split(/\s+/), "--output", "calibration.csv"] });
export const findOf = (said: string): Question => ({ kind: "ask", words: ["find", ...said.trim().split(/\s+/), "--most", "12"] });
export const quizOf = (app: App): Question => ({ kind: "ask", words: ["quiz", ...(app.state.entry === "lecture" ? ["--chapter", String(app.chapterNumber)] : []), "--count", "5", "--seed", app.state.words || "1"] });
