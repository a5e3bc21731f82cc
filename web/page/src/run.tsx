/* Can I run it? One card, one user: yes or no, how fast, with how much context. */
import type { App } from "./app";
import type { BoardReply } from "./client";
import { Figure } from "./figure";
import { Num } from "./num";
import { lin, type Line, log, nice, path, type Picture, tableOf } from "./picture_type";
import { commas, plain, three, two } from "./plain";
import { cardOf, nearest, RUN_CONTEXTS, speedsOf, weightsOf } from "./run_asks";
import { nameMachine, nameModel, Pick } from "./words";

/* Of the prediction: now, and along the context. */
function served(reply: BoardReply | null): { now(of: string): number; along(of: string): number[] | null; refused: string } {
  const side = reply?.doc?.server, at = (of: string): number => side?.outputs.findIndex(o => o.of === of) ?? -1;
  return { now: of => { const i = at(of); return i < 0 ? NaN : reply!.values.server[i]; }, refused: reply?.doc?.refused ?? "",
           along: of => { const i = at(of), curve = reply?.curves["server:prompt_tokens"]; return i < 0 || !curve ? null : Array.from(curve[i]); } };
}

/* The formats people ask for, by bits; the list is the catalog's. */
const BITS: readonly [string, string][] = [["bf16", "16 bits"], ["fp8", "8 bits"], ["q8_0", "8 bits (Q8_0)"], ["q6_k", "6 bits (Q6_K)"], ["q5_k", "5 bits (Q5_K)"], ["q4_k", "4 bits"], ["nvfp4", "4 bits (NVFP4)"], ["mxfp4", "4 bits (MXFP4)"], ["q3_k", "3 bits"], ["q2_k", "2 bits"]];
const bitsOf = (format: string): string => BITS.find(b => b[0] === format)?.[1] ?? format;

function memoryPicture(app: App): Picture {
  const n = app.numbers, gb = (v: number): number => v / 1e9, weights = gb(n.value("weights_stored")), kv = gb(n.value("kv_stored")), all = gb(n.value("hbm_capacity")), reserve = all * n.value("hbm_reserve");
  const each = gb(n.value("kv_per_token")) * 1000, fits = weights + kv + reserve <= all, end = nice(Math.max(all, weights + kv + reserve) * 1.05);
  return { title: fits ? `Each thousand tokens of context takes ${app.engine.write(each * 1e9, "B")} beside the weights` : `${three(weights + kv + reserve)} GB are needed, the card has ${three(all)}`,
    x: lin("GB of the card's memory", "", end), y: lin("", "", 1), lines: [],
    bars: [{ name: "needed", total: true, parts: [{ kind: "weights", value: weights, name: `weights ${three(weights)}` }, { kind: "cache", value: kv, name: `cache ${three(kv)}` }], text: `${three(weights + kv)} GB` }, { name: "the card", total: true, role: "bound", parts: [{ kind: "host", value: all }], text: `${three(all)} GB` }],
    table: { columns: ["what", "GB"], rows: [["weights", weights], ["cache", kv], ["kept free", reserve], ["memory of the card", all]] } };
}

/* Most tokens of context that fit: the weights and the cache in all of the memory. */
export function mostContext(app: App): number {
  const n = app.numbers, per = n.value("kv_stored") / n.value("context");
  return (n.value("hbm_capacity") * (1 - n.value("hbm_reserve")) - n.value("weights_stored")) / per;
}

function speedPicture(app: App, reply: BoardReply | null): Picture {
  const n = app.numbers, most = mostContext(app), s = served(reply), x = RUN_CONTEXTS, bound = n.sweep("context", x)("user_speed"), lines: Line[] = [{ name: "bound", kind: "result", role: "bound", of: "A", points: path(x, bound) }];
  const tpot = s.along("predicted_tpot"), low = s.along("tpot_band_low"), high = s.along("tpot_band_high");
  if (tpot && low && high) {
    const c = x.map(p => p + s.now("output_tokens") / 2), at = x.map((_, i) => i).filter(i => c[i] <= most && tpot[i] > 0);       /* half of the answer is there on average */
    if (at.length) lines.push({ name: "predicted", kind: "result", role: "predicted", of: "A", points: at.map(i => [c[i], 1 / tpot[i]]), band: at.map(i => [c[i], 1 / (tpot[i] * high[i]), 1 / (tpot[i] * low[i])]) });
  }
  const here = n.value("context"), now = here <= most ? predictedRate(app) : NaN, full = Math.min(most, x[x.length - 1]);
  const last = lines[1]?.points[lines[1].points.length - 1];
  return { title: lines[1] && last ? `One user gets ${two(lines[1].points[0][1])} token/s at short contexts, ${two(last[1])} ${most < x[x.length - 1] ? "when the card is full" : "at the longest"}` : "What the card's bandwidth allows, at each context",
    x: log("tokens of context", "", x[0], x[x.length - 1]), y: lin("token/s", "", nice(1.05 * Math.max(...bound))), lines,
    ...(most > x[0] && most < x[x.length - 1] ? { areas: [{ name: "memory is full", of: "x" as const, from: full }] } : {}),
    here: { x: here, y: Number.isFinite(now) && now > 0 ? now : n.value("user_speed"), sets: "context", name: here > most ? "does not fit" : `you: ${two(Number.isFinite(now) && now > 0 ? now : n.value("user_speed"))}` }, table: tableOf("context", lines) };
}

export function RunScreen({ app }: { app: App }) {
  const { state, numbers: n } = app, question = cardOf(app), reply = app.board("card", question), s = served(reply.data);
  const model = n.live.doc.model ?? state.card.model, machine = n.live.doc.machine ?? state.card.on, format = state.card.options.precision ?? "";
  const most = mostContext(app), fits = most >= n.value("context"), any = most >= 1;
  const rate = predictedRate(app), known = reply.data && Number.isFinite(rate) && rate > 0;
  const all = weightsOf(app), weighed = app.answer<any[]>("weights", all), list = weighed.data && weighed.fresh ? nearest(app, weighed.data) : [], speeds = app.answer<any[]>("speeds", list.length ? speedsOf(app, list) : null);
  const index = new Map(app.list("models").map((m, i) => [m.name, i]));
  const needed = n.value("weights_stored") + n.value("kv_stored"), larger = app.list("hardware").filter((m: any) => m.scale_up_chips === "1" || /Max|Ultra|M\d/.test(m.title)).map((m: any) => ({ title: m.title as string, name: m.name as string, gb: Number.parseFloat(m.hbm_capacity) })).filter(m => m.gb * 1e9 * 0.95 >= needed).sort((p, q) => p.gb - q.gb)[0];
  const host = needed - n.value("hbm_capacity") * (1 - n.value("hbm_reserve"));
  const fewer = BITS.filter(b => bytesOf(app, b[0]) / bytesOf(app, format) * n.value("weights_stored") + n.value("kv_stored") <= n.value("hbm_capacity") * (1 - n.value("hbm_reserve"))).filter(b => bytesOf(app, b[0]) < bytesOf(app, format))[0];
  return <>
    <p class="query">Can I run <Pick app={app} list="models" value={state.card.model} shown={model} label="model" field="model" take={nameModel(app, "card")} /> in{" "}
      <span class={`pick sized${app.refused?.field === "precision" ? " guilty" : ""}`} data-text={bitsOf(format)}><select aria-label="format of the weights" value={format} onChange={event => { app.dispatch({ do: "option", side: "card", name: "precision", text: event.currentTarget.value }); }}>
        {!BITS.some(b => b[0] === format) && <option value={format}>{format || "the checkpoint's format"}</option>}{BITS.map(b => <option key={b[0]} value={b[0]}>{b[1]}</option>)}</select></span> on{" "}
      <Pick app={app} list="hardware" value={state.card.on} shown={machine} label="card" field="on" take={nameMachine(app, "card")} /> with{" "}
      <Num app={app} row="context" name="tokens of context" text={commas(n.value("context"))} /> tokens of context?</p>
    <h1 class="answer" aria-live="polite">{fits ? known ? <>Yes, at <b data-first>{two(rate)} token/s</b>.</> : <>Yes: <b data-first>{n.write("weights_stored")}</b> of {n.write("hbm_capacity")} are weights.</>
      : any ? <>Not with so much context: <b data-first>{two(most)} tokens</b> fit.</> : <>No: the weights alone are <b data-first>{n.write("weights_stored")}</b>.</>}</h1>
    <p class={`detail${reply.fresh ? "" : " old"}`}>{fits ? <>{known ? <>80 % between {two(rate / s.now("tpot_band_high"))} and {two(rate / s.now("tpot_band_low"))}; no software is faster than {two(n.value("user_speed"))} on this bandwidth. First token after {app.engine.write(s.now("predicted_ttft"), "s")}. </> : s.refused ? `${s.refused}. ` : ""}Up to {two(most)} tokens of context fit.</>
      : <>It would do {fewer && <>in <button type="button" class="word" onClick={() => app.dispatch({ do: "option", side: "card", name: "precision", text: fewer[0] })}>{fewer[1]}</button>, </>}{larger && <>on <button type="button" class="word" onClick={() => nameMachine(app, "card")(larger.name)}>{larger.title}</button>, </>}or with {app.engine.write(host, "B")} of it in the host's memory.</>}</p>
    <div class="two">
      <div class="pane">{app.begun ? <Figure app={app} id="memory" low picture={memoryPicture(app)} /> : <div class="drawn low" />}
        <h2 class="small">In {bitsOf(format)} on this card</h2>
        <table class="fits"><thead><tr><th scope="col">model</th><th scope="col">weights</th><th scope="col">share of memory</th><th scope="col">token/s</th></tr></thead><tbody>{(list.length ? list : []).map((m, i) => {
          const w = weighed.data![index.get(m.name)!]?.answer, step = speeds.fresh ? speeds.data?.[i] : null, tpot = step?.answer?.predicted_tpot;
          const own = plain(m.name) === plain(state.card.model);
          return <tr key={m.name} class={own ? "own" : ""}><th scope="row">{own ? m.title : <button type="button" class="word" onClick={() => nameModel(app, "card")(m.name)}>{m.title}</button>}</th><td>{w ? app.engine.write(w.weights_stored.value, "B") : ""}</td><td>{w ? `${two(100 * w.hbm_share.value)} %` : ""}</td><td>{!step ? "" : tpot > 0 && !(w.hbm_share.value > 1) ? two(1 / tpot) : "does not fit"}</td></tr>; })}</tbody></table></div>
      <div class="pane">{!app.begun ? <div class="reserved" /> : <Figure app={app} id="speed" picture={speedPicture(app, reply.data)} old={!reply.fresh && !!reply.data} moves={{ drag: (x, _y, done) => { const c = Math.round(Math.min(262144, Math.max(256, x))); app.dispatch({ do: "set", side: "card", row: "context", text: String(Number(c.toPrecision(3))) }, !done); } }} />}</div>
    </div>
  </>;
}

/* Of one user: exact where the answer is of this context, between the points of its curve while it moves. */
export function predictedRate(app: App): number {
  const reply = app.board("card", cardOf(app)), s = served(reply.data), tpot = s.along("predicted_tpot"), context = app.numbers.value("context");
  if (reply.fresh || !tpot) return 1 / s.now("predicted_tpot");
  const c = RUN_CONTEXTS.map(p => p + s.now("output_tokens") / 2), i = Math.max(1, c.findIndex(v => v >= context)), t = (context - c[i - 1]) / (c[i] - c[i - 1]);
  return 1 / (tpot[i - 1] + (tpot[i] - tpot[i - 1]) * Math.min(1, Math.max(0, t)));
}

const bytesOf = (app: App, format: string): number => Number((app.list("formats") as any[]).find(f => f.name === format)?.bytes ?? 2);

