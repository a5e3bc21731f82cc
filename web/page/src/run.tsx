/* Can I run it? One's own card: yes or no, in which file type, how fast, with how much context, and what to change. */
import type { App } from "./app";
import type { Reply } from "./engine";
import { Figure, Waits } from "./figure";
import { Num } from "./num";
import { lin, type Line, log, nice, path, type Picture, tableOf } from "./picture_type";
import { commas, three, two } from "./plain";
import { type Amount, type Can, type CanType, canCommand, chosenOf, contextsOf, largerOf, largerThan, speedsOf, typesOf } from "./run_asks";
import { command } from "./state";
import { nameMachine, nameModel, Pick } from "./words";

/* The answers that the screen is of: every type, and the one that was chosen or is the best. */
function answered(app: App): { all: Can | undefined; one: Can | undefined; fresh: boolean; refused: string } {
  const every = app.answer<Reply>("can", typesOf(app)), question = chosenOf(app), own = question ? app.answer<Reply>("one", question) : every, error = own.data?.error;
  return { all: every.data?.answer, one: own.data?.answer, fresh: own.fresh && !!own.data, refused: own.fresh && error ? `${error.what}${error.hint ? `: ${error.hint}` : ""}` : "" };
}

function memoryPicture(app: App): Picture {
  const n = app.numbers, gb = (row: string): number => n.value(row) / 1e9, needed = gb("memory_needed"), usable = gb("memory_usable"), weights = gb("replica_weights_per_chip"), kv = gb("sequence_kv_per_chip"), buffers = needed - weights - kv;
  const end = nice(Math.max(usable, needed) * 1.1), chips = n.value("chips") > 1 ? "a card" : "the card";
  return { title: needed <= usable ? `Each thousand tokens of context takes ${app.engine.write(n.value("kv_per_token") * 1000, "B")} beside the weights` : `${three(needed)} GB are needed, an engine may fill ${three(usable)} of ${chips}`,
    x: lin(`GB of ${chips}’s memory`, "", end), y: lin("", "", 1), lines: [],
    bars: [{ name: "needed", total: true, parts: [{ kind: "weights", value: weights, name: `weights ${three(weights)}` }, { kind: "cache", value: kv, name: `cache ${three(kv)}` }, { kind: "host", value: buffers }], text: `${three(needed)} GB` }, { name: "usable", total: true, role: "bound", parts: [{ kind: "host", value: usable }], text: `${three(usable)} GB` }],
    table: { columns: ["what", "GB"], rows: [["weights", weights], ["cache", kv], ["buffers", buffers], ["usable by an engine", usable]] } };
}

/* The bound of contexts that are half full, as `can` has them. */
const halfFull = (app: App, contexts: number[]): number[] => app.numbers.sweep("context", contexts.map(v => v / 2))("user_speed");

/* Speeds of the points of `speeds` that fit, by context. */
function speedPoints(app: App, c: Can): { context: number; at: Amount }[] {
  const said = app.answer<Reply[]>("speeds", speedsOf(app, c)), x = contextsOf(c);
  return (said.data ?? []).flatMap((reply, i) => reply.answer?.fits ? [{ context: said.fresh ? x[i] : reply.answer.context as number, at: reply.answer.decode_speed as Amount }] : []);
}

function speedPicture(app: App, c: Can | undefined): Picture {
  const n = app.numbers, points = c ? speedPoints(app, c) : [], most = c?.context_most.value ?? 0, end = Math.max(32768, most * 1.25), x = [512, ...Array.from({ length: 40 }, (_, i) => 512 * (end / 512) ** ((i + 1) / 40))], bound = halfFull(app, x), lines: Line[] = [{ name: "bound", kind: "result", role: "bound", of: "A", points: path(x, bound) }];
  if (points.length) lines.push({ name: "predicted", kind: "result", role: "predicted", of: "A", points: points.map(p => [p.context, p.at.value]), band: points.map(p => [p.context, p.at.low ?? p.at.value, p.at.high ?? p.at.value]) });
  const here = n.value("context"), rate = decodeRate(app), y = rate > 0 ? rate : halfFull(app, [here])[0], last = points[points.length - 1];
  return { title: last ? `Half full, a short context writes ${two(points[0].at.value)} token/s, the longest that fits ${two(last.at.value)}` : "What the memory’s bandwidth allows, at each context half full",
    x: log("tokens of context, half of them used", "", x[0], end), y: lin("token/s", "", nice(1.05 * Math.max(...bound))), lines,
    ...(most > x[0] && most < end ? { areas: [{ name: "no more fit", of: "x" as const, from: most }] } : {}),
    here: { x: Math.min(end, Math.max(x[0], here)), y, sets: "context", name: c && here > most ? "does not fit" : `you: ${two(y)}` }, table: tableOf("context", lines.slice(1).concat(lines.slice(0, points.length ? 0 : 1))) };
}

/* Of one conversation: exact where the answer is of this context, between the points of its curve while it moves. */
export function decodeRate(app: App): number {
  const { one, fresh } = answered(app), context = app.numbers.value("context");
  if (!one || fresh) return one?.fits ? one.decode_speed.value : NaN;
  if (context > one.context_most.value) return NaN;
  const points = speedPoints(app, one), i = Math.max(1, points.findIndex(p => p.context >= context)), a = points[i - 1], b = points[i];
  return b ? a.at.value + (b.at.value - a.at.value) * Math.min(1, Math.max(0, (context - a.context) / (b.context - a.context))) : one.decode_speed.value;
}

/* A sentence with its flags between backticks. */
const marked = (text: string) => text.split("`").map((part, i) => i % 2 ? <code key={i}>{part}</code> : part);

function Types({ app, all, one, fresh }: { app: App; all: Can; one: Can; fresh: boolean }) {
  const write = (a: Amount): string => app.engine.write(a.value, a.unit), chips = app.numbers.value("chips") > 1 ? "each" : "card", choose = (type: string): void => { app.dispatch({ do: "option", side: "card", name: "precision", text: type === app.state.card.options.precision ? "" : type }); };
  return <table class={`fits${fresh ? "" : " old"}`}><thead><tr><th scope="col">file type</th><th scope="col">file, GB</th><th scope="col">{chips} needs, GB</th><th scope="col">token/s</th><th scope="col">TTFT</th><th scope="col">most context</th></tr></thead>
    <tbody>{all.choices.map((t: CanType) => <tr key={t.precision} class={t.precision === one.precision ? "own" : ""}><th scope="row"><button type="button" class="word" aria-pressed={t.precision === one.precision} onClick={() => choose(t.precision)}>{t.precision}</button></th>
      <td>{three(t.weights_stored.value / 1e9)}</td><td>{three(t.memory_needed.value / 1e9)}</td>{t.fits ? <><td>{three(t.decode_speed.value)}</td><td>{write(t.ttft)}</td><td>{commas(t.context_most.value)}</td></> : <td colSpan={3}>does not fit</td>}</tr>)}</tbody></table>;
}

export function RunScreen({ app }: { app: App }) {
  const { state, numbers: n } = app, { all, one, fresh, refused } = answered(app), chosen = state.card.options.precision ?? "", write = (a: Amount): string => app.engine.write(a.value, a.unit);
  const model = n.live.doc.model ?? state.card.model, machine = n.live.doc.machine ?? state.card.on, rate = decodeRate(app), most = one?.context_most.value ?? 0;
  const types = [...new Set([...(all?.choices.map(t => t.precision) ?? []), ...(chosen ? [chosen] : [])])];
  const said = one && !one.fits ? app.answer<Reply[]>("larger", largerOf(app, one)) : null, at = said?.fresh ? (said.data ?? []).findIndex(reply => reply.answer?.fits) : -1, larger = one && at >= 0 ? largerThan(app, one)[at] : null;
  return <>
    <p class="query">Can I run <Pick app={app} list="models" value={state.card.model} shown={model} label="model" field="model" take={nameModel(app, "card")} /> in{" "}
      <span class={`pick sized${app.refused?.field === "precision" ? " guilty" : ""}`} data-text={chosen || "the best file type"}><select aria-label="file type" value={chosen} onChange={event => { app.dispatch({ do: "option", side: "card", name: "precision", text: event.currentTarget.value }); }}>
        <option value="">the best file type</option>{types.map(t => <option key={t}>{t}</option>)}</select></span> on{" "}
      <Pick app={app} list="hardware" value={state.card.on} shown={machine} label="machine" field="on" take={nameMachine(app, "card")} /> with{" "}
      <Num app={app} row="context" name="tokens of context" text={commas(n.value("context"))} /> tokens of context?</p>
    <h1 class="answer" aria-live="polite">{refused ? "No answer." : !one ? "…" : rate > 0 ? <>Yes{chosen ? "" : `, in ${one.precision}`}, at <b data-first>{two(rate)} token/s</b>.</>
      : most > 1 ? <>Not with so much context: <b data-first>{two(most)} tokens</b> fit in {one.precision}.</> : <>No: in {one.precision} it needs <b data-first>{write(one.memory_needed)}</b> of {write(one.memory)}.</>}</h1>
    <p class={`detail${fresh ? "" : " old"}`}>{refused ? `${refused}.` : !one ? "" : one.fits ? <>80 % between {two(one.decode_speed.low!)} and {two(one.decode_speed.high!)}; no software is faster than {two(halfFull(app, [n.value("context")])[0])} on this bandwidth. After a prompt of {commas(one.prompt_tokens)} tokens the first of the answer comes in {write(one.ttft)}, 80 % between {app.engine.write(one.ttft.low!, "s")} and {app.engine.write(one.ttft.high!, "s")}. Up to <b>{commas(most)}</b> tokens of context fit.{one.caveat && ` ${one.caveat[0].toUpperCase()}${one.caveat.slice(1)}.`}</>
      : larger ? <>It would fit on <button type="button" class="word" onClick={() => nameMachine(app, "card")(larger.name)}>{larger.title}</button>.</> : ""}
      {app.own && app.own === state.card.on && <span class="from"> The machine was read from this browser, which draws with “{app.own}”.</span>}</p>
    <div class="two">
      <div class="pane">{app.begun ? <Figure app={app} id="memory" low picture={() => memoryPicture(app)} /> : <Waits low />}
        {all && one && <Types app={app} all={all} one={one} fresh={fresh} />}</div>
      <div class="pane">{!app.begun ? <Waits /> : <Figure app={app} id="speed" picture={() => speedPicture(app, one)} old={!fresh && !!one} moves={{ drag: (x, _y, done) => { const c = Math.round(Math.min(1048576, Math.max(512, x))); app.dispatch({ do: "set", side: "card", row: "context", text: String(Number(c.toPrecision(3))) }, !done); } }} />}
        {one && one.changes.length > 0 && <><h2 class="small">What to change</h2><ul class="changes">{one.changes.map(text => <li key={text}>{marked(text)}</li>)}</ul></>}
        {one?.command && <><h2 class="small">To start it</h2><p class="code"><code>{one.command}</code></p></>}
        <p class="note">The same on the command line: <code class="point">{command(...canCommand(app))}</code></p></div>
    </div>
  </>;
}
