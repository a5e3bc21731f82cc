/* The first screen: the question as a sentence whose words are the inputs, its answer as one, and
 * what stands between physics and that. */
import type { App } from "./app";
import type { Reply } from "./engine";
import { Figure, Waits } from "./figure";
import { boundAt, chosen, type Deployment, front, MEASURED, type Measured, planCommand, speedOf, bandOf, tpotBandOf, usersOf } from "./model_asks";
import { Num } from "./num";
import type { Numbers } from "./numbers";
import { evenLog, type Kind, lin, type Line, log, nice, type Picture } from "./picture_type";
import { commas, plain, three, two } from "./plain";
import { command, START } from "./state";
import { Below } from "./still";
import { nameMachine, nameModel, Pick, Wanted } from "./words";

/* ---- what is read from the answers ----------------------------------------------------------- */

/* Which parts of a token are of which quantity. */
const GROUPS: readonly { name: string; kind: Kind; labels: RegExp }[] = [
  { name: "matrices", kind: "weights", labels: /experts|projection|^head|FFN|GEMM|router|permutation|mixer|matri/i },
  { name: "caches", kind: "cache", labels: /attention over|KV/i },
  { name: "links between chips", kind: "network", labels: /communication|all-to-all|link|exchange/i },
  { name: "kernel launches", kind: "host", labels: /launch/i },
  { name: "prompts of others", kind: "compute", labels: /prefill|prompt/i },
  { name: "host", kind: "host", labels: /./ },
];
export function grouped(point: Deployment): Map<string, number> {
  const sums = new Map<string, number>();
  for (const part of Object.values(point.parts ?? {})) {
    const order = [1, 4, 0, 2, 3, 5], group = order.map(i => GROUPS[i]).find(g => g.labels.test(part.label))!;
    sums.set(group.name, (sums.get(group.name) ?? 0) + part.time);
  }
  return sums;
}

/* Measured pairs of speed and throughput of one run, of this model on this machine. */
interface Pair { speed: number; perGpu: number; row: Measured }
function measuredPairs(app: App, model: string, machine: string): Pair[] {
  const rows = (app.answer<Reply>("measured", MEASURED).data?.answer?.worst ?? []) as Measured[];
  const own = rows.filter(r => plain(r.model ?? "").split("/").includes(plain(model)) || plain(r.model ?? "") === plain(model)).filter(r => plain(r.machine ?? "") === plain(machine) && r.chips > 0);
  const runs = new Map<string, Partial<Record<string, Measured>>>();
  for (const r of own) {
    const key = `${r.file}:${r.source}:${r.concurrency}:${r.inputs?.prompt_tokens}:${r.inputs?.output_tokens}:${r.chips}`;
    runs.set(key, { ...runs.get(key), [r.metric]: r });
  }
  return [...runs.values()].flatMap((run): Pair[] => {
    const t = run.throughput, p = run.tpot ?? run.decode;
    const speed = p ? 1 / p.measured : t && t.concurrency > 0 ? t.measured / t.concurrency : NaN;
    const perGpu = t ? t.measured / t.chips : p && p.concurrency > 0 ? p.concurrency / p.measured / p.chips : NaN;
    return speed > 0 && perGpu > 0 ? [{ speed, perGpu, row: (t ?? p)! }] : [];
  });
}
/* Those within 1.25 of the lengths; else all of the nearest lengths, marked with them. */
function nearPairs(pairs: Pair[], isl: number, osl: number): { list: Pair[]; marked: string } {
  const far = (p: Pair): number => Math.abs(Math.log((p.row.inputs?.prompt_tokens || isl) / isl)) + Math.abs(Math.log((p.row.inputs?.output_tokens || osl) / osl));
  if (!pairs.length) return { list: [], marked: "" };
  const close = pairs.filter(p => far(p) <= 2 * Math.log(1.25));
  if (close.length) return { list: close, marked: "" };
  const best = Math.min(...pairs.map(far)), list = pairs.filter(p => far(p) < best + 0.05), { prompt_tokens: a, output_tokens: b } = list[0].row.inputs;
  return { list, marked: `at ${commas(Math.round(a))} in, ${commas(Math.round(b))} out` };
}
const sourceOf = (p: Pair): string => `${p.row.source}${p.row.inputs?.prompt_tokens ? `; ${p.row.inputs.prompt_tokens} in, ${p.row.inputs.output_tokens} out` : ""}; ${p.row.chips} GPUs`;

/* ---- pictures ---------------------------------------------------------------------------------- */

export function waterfall(point: Deployment, bound: Record<string, { value: number }> | null, near: Pair | null): Picture {
  const ms = (v: number): number => 1e3 * v, sums = grouped(point), total = point.tpot;
  const weights = bound?.bound_weights?.value ?? 0, kv = bound?.bound_kv?.value ?? 0, compute = bound?.bound_compute?.value ?? 0, least = bound?.bound_step?.value ?? 0;
  const printed = bound?.layout_step?.value ?? least, copied = bound?.layout_weights_time?.value ?? weights, copies = bound?.layout_kv_time?.value ?? kv;
  const bars: NonNullable<Picture["bars"]> = [], byCompute = compute > weights + kv, stillByCompute = compute > copied + copies;
  if (bound && byCompute) bars.push({ name: "multiply", parts: [{ kind: "compute", value: ms(compute) }] });
  else if (bound) bars.push({ name: "read the weights", parts: [{ kind: "weights", value: ms(weights) }] }, { name: "read the caches", parts: [{ kind: "cache", value: ms(kv) }] });
  if (bound) bars.push({ name: "the bound", total: true, role: "bound", parts: [{ kind: "result", value: ms(least) }] });
  const matrices = (sums.get("matrices") ?? 0) - (stillByCompute ? compute : copied), caches = (sums.get("caches") ?? 0) - (stillByCompute ? 0 : copies);
  let rest: { name: string; kind: Kind; value: number; beyond?: boolean }[] = bound && (matrices < 0 || caches < 0)
    ? [{ name: "kernels beyond it", kind: byCompute ? "compute" : "weights", value: matrices + caches, beyond: true }]
    : [{ name: bound ? "matrices beyond it" : "matrices", kind: "weights", value: matrices, beyond: !!bound }, { name: bound ? "caches beyond it" : "caches", kind: "cache", value: caches, beyond: !!bound }];
  if (bound) rest.unshift({ name: "layout", kind: "weights", value: printed - least, beyond: true });
  for (const g of GROUPS.slice(2)) rest.push({ name: g.name, kind: g.kind, value: sums.get(g.name) ?? 0 });
  const explained = least + rest.reduce((sum, r) => sum + r.value, 0);
  rest.push({ name: "waiting, imbalance", kind: "host", value: total - explained });
  const small = rest.filter(r => Math.abs(r.value) < 0.02 * total), kept = rest.filter(r => !small.includes(r)), left = small.reduce((sum, r) => sum + r.value, 0);
  const host = kept.find(r => r.name === "host") ?? kept[kept.length - 1];
  if (host) host.value += left;
  rest = kept;
  bars.push(...rest.map(r => ({ name: r.name, parts: [{ kind: r.kind, value: ms(r.value), beyond: r.beyond }] })));
  const [low, high] = tpotBandOf(point).map(end => ms(total * end)) as [number, number];
  bars.push({ name: "predicted", total: true, parts: [{ kind: "result", value: ms(total) }], band: [low, high], ...(near ? { measured: undefined } : {}) });
  if (near) bars.push({ name: "measured", total: true, parts: [], measured: 1e3 / near.speed, text: three(1e3 / near.speed) });
  return { title: bound ? `The bound is ${three(ms(least))} ms a token; a real server needs ${three(ms(total))} ms, 80 % between ${three(low)} and ${three(high)}` : `A real server needs ${three(ms(total))} ms a token, 80 % between ${three(low)} and ${three(high)}`,
    x: lin("ms from one token of a user to the next", "", nice(Math.max(high, near ? 1e3 / near.speed : 0) * 1.05)), y: lin("", "", 1), lines: [], bars,
    table: { columns: ["part", "ms"], rows: bars.map(b => [b.name, b.measured ?? b.parts.reduce((sum, p) => sum + p.value, 0)]) } };
}

/* The roofline's own front: for every batch that fits, the speed and what a GPU makes. */
function boundLine(n: Numbers): [number, number][] {
  const most = n.value("sequences_that_fit");
  if (!(most >= 1)) return [];
  const b = evenLog(1, Math.max(most, 1.01), 49), y = n.sweep("batch", b), step = y("bound_step"), made = y("bound_throughput_per_chip");
  return b.map((_, i): [number, number] => [1 / step[i], made[i]]).filter(p => p[0] > 0 && p[1] > 0).reverse();
}

const thinned = (points: readonly Deployment[], n = 90): Deployment[] => points.filter((_, i) => i === points.length - 1 || i % Math.max(1, Math.ceil(points.length / n)) === 0);

export function frontier(app: App, at: Deployment | null, pairsA: Pair[], pairsB: Pair[], nearest: Pair | null): Picture {
  const A = front(app, "A").points, B = app.state.B ? front(app, "B").points : [], nameA = app.numbers.live.doc.machine ?? app.state.A.on, nameB = app.lecture.live.doc.machine ?? app.state.B?.on ?? "";
  const toLine = (points: Deployment[], of: "A" | "B", name: string): Line => ({ name, kind: "result", role: "predicted", of, points: thinned(points).map(p => [speedOf(p), p.per_gpu]),
    band: thinned(points).map(p => [speedOf(p), ...bandOf(p)]) });
  const low = 5, all = [...A, ...B], most = Math.max(50, ...all.map(speedOf), ...[...pairsA, ...pairsB].map(p => p.speed));
  const to = [50, 100, 200, 500, 1000, 2000, 5000, 10000, 1e5].find(v => v >= most * 1.05)!;
  const lines: Line[] = [];
  const bound = (n: Numbers, of: "A" | "B", name: string): void => { const points = boundLine(n).filter(p => p[0] <= to * 1.3); if (points.length > 1) lines.push({ name, kind: "result", role: "bound", of, points }); };
  bound(app.numbers, "A", app.state.B ? `bound, ${nameA}` : "bound");
  if (app.state.B) bound(app.lecture, "B", `bound, ${nameB}`);
  if (A.length) lines.push(toLine(A, "A", app.state.B ? nameA : "predicted"));
  if (B.length) lines.push(toLine(B, "B", nameB));
  const values = [...all.map(p => p.per_gpu), ...lines.filter(l => l.role === "bound").flatMap(l => l.points.filter(p => p[0] >= low && p[0] <= to).map(p => p[1]))];
  const top = 10 ** Math.ceil(Math.log10(Math.max(10, ...values))), bottom = Math.max(top / 1e4, 10 ** Math.floor(Math.log10(Math.max(0.1, Math.min(...all.map(p => p.per_gpu), top / 100)))));
  const speed = app.state.speed, b = B.length ? chosen(B, speed) : null;
  const ratio = at && b && speedOf(b) >= speed && speedOf(at) >= speed ? at.per_gpu / b.per_gpu : NaN;
  const title = !at ? "What each speed leaves of a GPU's throughput" : Number.isFinite(ratio) ? `At ${two(speed)} token/s a user, ${nameA} makes ${two(ratio)} times the tokens a GPU of ${nameB}` : `At ${two(speed)} token/s for each user a GPU makes ${two(at.per_gpu)} token/s`;
  return { title, x: log("token/s for each user", "", low, to), y: log("token/s of a GPU", "", bottom, top), lines,
    points: [...pairsA.map(p => ({ p, of: "A" as const })), ...pairsB.map(p => ({ p, of: "B" as const }))].map(({ p, of }) => ({ x: p.speed, y: p.perGpu, of, what: `${three(p.perGpu)} token/s a GPU at ${three(p.speed)} a user`, source: sourceOf(p), date: p.row.date ?? "", near: p === nearest })),
    ...(at ? { here: { x: Math.max(low, speedOf(at)), y: at.per_gpu, sets: "speed", name: `${two(at.per_gpu)} a GPU` } } : {}),
    table: { columns: ["token/s a user", "token/s a GPU", "USD a million", "layout"], rows: thinned(A, 12).map(p => [speedOf(p), p.per_gpu, 1e6 * p.cost, p.deployment]) } };
}

/* ---- the screen -------------------------------------------------------------------------------- */

/* A layout in words. */
export function layoutWords(p: Deployment): string {
  const many = (n: number, one: string): string => `${commas(n)} ${one}${n === 1 ? "" : "s"}`;
  return p.servers.map(s => `${many(s.count, "server")} of ${many(s.chips, "GPU")} ${s.role === "prefill" ? "read prompts" : s.role === "decode" ? "answer" : "do both"}`).join(", ");
}

const deploymentName = (p: Deployment): string => p.deployment_chips === 1 ? "One GPU answers" : `${commas(p.deployment_chips)} GPUs answer`;

export function ModelScreen({ app }: { app: App }) {
  const { state, numbers: n } = app, A = front(app, "A"), at = chosen(A.points, state.speed), fast = at && speedOf(at) >= state.speed * 0.999;
  const model = n.live.doc.model ?? state.A.model, machine = n.live.doc.machine ?? state.A.on;
  const bound = at ? app.answer<Reply>("point", boundAt(at)) : { data: null, fresh: true };
  const isl = n.value("prompt_tokens"), osl = n.value("output_tokens");
  const a = nearPairs(measuredPairs(app, model, machine), isl, osl), b = state.B ? nearPairs(measuredPairs(app, model, app.lecture.live.doc.machine ?? ""), isl, osl) : { list: [], marked: "" };
  const nearest = a.list.length && at ? a.list.reduce((p, q) => Math.abs(Math.log(q.speed / speedOf(at))) < Math.abs(Math.log(p.speed / speedOf(at))) ? q : p) : null;
  const close = nearest && at && Math.abs(Math.log(nearest.speed / speedOf(at))) < Math.log(1.5) ? nearest : null;
  const end = A.points.length ? speedOf(A.points[A.points.length - 1]) : 500, speed = (v: number, moving: boolean): void => { app.dispatch({ do: "speed", value: Math.min(v, Math.max(end, 6)) }, moving); };
  const fall = (): Picture => waterfall(at!, bound.data?.answer ?? null, close);
  const parts = at ? [...grouped(at)].sort((p, q) => q[1] - p[1]) : [], sum = parts.reduce((s, p) => s + p[1], 0), Bp = state.B ? chosen(front(app, "B").points, state.speed) : null;
  const first = !at && !A.says && !A.fresh && state.A === START.A && !state.B && state.speed === START.speed ? app.first : null;
  return <>
    <p class="query">Serve <Pick app={app} list="models" value={state.A.model} shown={model} label="model" field="model" take={name => { nameModel(app, "A")(name); if (state.B) app.dispatch({ do: "name", side: "B", of: "model", text: name }); }} /> on{" "}
      <Pick app={app} list="hardware" value={state.A.on} shown={machine} label="machine" field="on" take={nameMachine(app, "A")} />{" "}
      {state.B ? <>beside <Pick app={app} list="hardware" value={state.B.on} shown={app.lecture.live.doc.machine ?? state.B.on} label="machine beside it" field="beside" take={name => app.dispatch({ do: "beside", on: name })} /><button type="button" class="word" aria-label="leave out the second machine" onClick={() => app.dispatch({ do: "beside", on: null })}>×</button></>
        : <button type="button" class="word" onClick={() => app.dispatch({ do: "beside", on: state.A.on === "b200-sxm" ? "h100-sxm" : "b200-sxm" })}>beside …</button>},{" "}
      <Num app={app} row="prompt_tokens" name="tokens in" text={commas(isl)} /> tokens in and <Num app={app} row="output_tokens" name="tokens out" text={commas(osl)} /> out, at{" "}
      <Wanted app={app} value={state.speed} low={5} high={Math.max(end, 6)} set={speed} unit="token/s" label="wanted speed" /> for each user.</p>
    {first ? <h1 class="answer" aria-live="polite" dangerouslySetInnerHTML={{ __html: first.answer }} /> : <h1 class="answer" aria-live="polite">{A.says ? `No layout holds this: ${A.says}.`
      : !at ? <>A token takes at least <b data-first>{n.write("bound_step")}</b> on {commas(n.value("chips"))} GPUs; what a server needs is being searched.</>
      : fast ? <>{deploymentName(at)} <b data-first>{two(usersOf(at))} {usersOf(at) === 1 ? "user" : "users"}</b> at once, for <b>{two(1e6 * at.cost)} USD</b> of rent a million tokens of output.</>
      : <>No layout gives {two(state.speed)} token/s; the fastest is <b data-first>{two(speedOf(at))}</b>, for {usersOf(at) === 1 ? "one user" : `${two(usersOf(at))} users`}.</>}</h1>}
    {first ? <p class="detail" dangerouslySetInnerHTML={{ __html: first.detail }} /> : <p class={`detail${A.fresh ? "" : " old"}`}>{at && <><b>{three(at.per_gpu)}</b> token/s a GPU, 80 % between {two(bandOf(at)[0])} and {two(bandOf(at)[1])}. First token after <b>{app.engine.write(at.ttft, "s")}</b>. {layoutWords(at)}.{" "}
      {nearest ? `Measured nearby: ${three(nearest.perGpu)} a GPU at ${three(nearest.speed)} token/s (${sourceOf(nearest)})${a.marked ? `, ${a.marked}` : ""}.` : "The catalog has no measurement of this model on this machine."}</>}</p>}
    <div class="two">
      <div class="pane">{!app.begun ? <Waits /> : at ? <Figure app={app} id="waterfall" picture={fall} old={!bound.fresh} /> : <Waits why={A.says ? "No layout holds this, so that no token has parts to show." : "The layouts of these GPUs are being searched; the parts of a token are those of the best one."} />}</div>
      <div class="pane">{!app.begun ? <Waits /> : <Figure app={app} id="frontier" picture={() => frontier(app, at, a.list, b.list, nearest)} old={!A.fresh && !A.waits} moves={{ drag: (x, _y, done) => { speed(x < 100 ? Number(x.toPrecision(2)) : Number(x.toPrecision(3)), !done); } }} />}
        {app.begun && A.waits && <p class="note">So far the bound alone: the layouts are being searched.</p>}
        {(a.marked || b.marked) && <p class="note">Measured points are {a.marked || b.marked}.</p>}</div>
    </div>
    <Below app={app} class="notes">{() => <>
      <section><h2>What binds</h2><p>{parts.length ? <>{(bound.data?.answer?.bound_compute?.value ?? 0) > (bound.data?.answer?.bound_weights?.value ?? 0) + (bound.data?.answer?.bound_kv?.value ?? 0) ? "The bound is set by multiplying" : (bound.data?.answer?.bound_weights?.value ?? 1) >= (bound.data?.answer?.bound_kv?.value ?? 0) ? "The bound is set by reading the weights" : "The bound is set by reading the caches"}. On a real server {parts.slice(0, 3).map((p, i) => `${i ? (i === 2 ? " and " : ", ") : ""}${p[0]} ${p[0].endsWith("s") ? "take" : "takes"} ${two(100 * p[1] / sum)} %`).join("")}{parts[0][1] / sum > 0.45 ? `: a saving begins with ${parts[0][0]}.` : ": no single thing binds."}</> : ""}</p></section>
      <section><h2>{state.B ? `Against ${app.lecture.live.doc.machine ?? state.B.on}` : "Beside another machine"}</h2><p>{state.B ? Bp ? speedOf(Bp) >= state.speed * 0.999 ? `There the same speed gives ${two(Bp.per_gpu)} token/s a GPU for ${two(1e6 * Bp.cost)} USD a million. ${reason(app, at, Bp)}` : `It gives ${two(speedOf(Bp))} token/s at most.` : front(app, "B").says || "Its front is being searched; the bounds stand already." : <>What would <button type="button" class="word" onClick={() => app.dispatch({ do: "beside", on: state.A.on === "b200-sxm" ? "h100-sxm" : "b200-sxm" })}>another machine</button> change? Both stand in one picture then.</>}</p></section>
      <section><h2>The same on the command line</h2><p class="code"><code>{command("plan", planCommand(state.A, state.speed))}</code></p><p class="note">The point above: <code class="point">{at ? at.deployment : ""}</code></p></section></>}
    </Below>
  </>;
}

/* The one difference that made most of it. */
function reason(app: App, at: Deployment | null, b: Deployment): string {
  if (!at) return "";
  const ms = (n: Numbers): string => app.engine.write(n.value("bound_weights"), "s");
  const here = grouped(at), there = grouped(b), gaps = [...new Set([...here.keys(), ...there.keys()])].map(k => [k, (there.get(k) ?? 0) - (here.get(k) ?? 0)] as const).sort((p, q) => Math.abs(q[1]) - Math.abs(p[1]));
  return `${gaps.length ? `Most of it is ${gaps[0][0]}: ${app.engine.write(there.get(gaps[0][0]) ?? 0, "s")} of a token there, ${app.engine.write(here.get(gaps[0][0]) ?? 0, "s")} here. ` : ""}All its ${three(app.lecture.value("chips"))} chips need ${ms(app.lecture)} to read the weights once; here ${three(app.numbers.value("chips"))} share them in ${ms(app.numbers)}.`;
}
