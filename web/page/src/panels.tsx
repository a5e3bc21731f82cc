/* The second level: every input, what was assumed, a replay of traffic, problems, the search. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { App } from "./app";
import type { Reply } from "./engine";
import { Figure } from "./figure";
import { findOf, quizOf, TRACE, trafficOf } from "./model_asks";
import { Num } from "./num";
import { log as logAxis, lin, type Line, nice, type Picture } from "./picture_type";
import { commas } from "./plain";
import { command, given, sideOf, words } from "./state";

/* ---- every input, and what was assumed ---------------------------------------------------------- */

const SWITCHES: readonly { row: string; words: string; on: string; off: string; real: boolean }[] = [
  { row: "lecture_form", words: "the lecture’s own form: all weights are read, attention is free", on: "1", off: "0", real: false },
  { row: "count_touched_experts", words: "read only the experts that some token chose", on: "1", off: "0", real: true },
  { row: "count_attention_flops", words: "count the FLOPs of attention", on: "1", off: "0", real: true },
  { row: "bound_overlap", words: "memory and compute overlap", on: "0", off: "2", real: false },
];

export function Assumed({ app }: { app: App }) {
  const of = sideOf(app.state, app.side), notes = app.numbers.live.doc.assumed ?? [], real = app.numbers.live.doc.model !== undefined;
  const lecture = of.given.lecture_form === "1" || !real;
  return <section class="assumed"><h2>What was assumed</h2><ul>{notes.map(note => <li key={note}>{note}</li>)}
    {SWITCHES.filter(s => real || !s.real).map(s => { const byDefault = s.row === "bound_overlap" ? true : s.row === "lecture_form" ? !real : !lecture, on = (of.given[s.row] ?? (byDefault ? s.on : s.off)) === s.on;
      return <li key={s.row}><label><input type="checkbox" checked={on} onChange={event => { app.dispatch({ do: "set", side: app.side, row: s.row, text: event.currentTarget.checked ? s.on : s.off }); }} /> {s.words}</label></li>; })}</ul>
    <p><button type="button" class="word" aria-expanded={app.state.panel === "inputs"} onClick={() => app.dispatch({ do: "panel", panel: app.state.panel === "inputs" ? null : "inputs" })}>every input</button></p></section>;
}

export function Inputs({ app }: { app: App }) {
  const [wanted, want] = useState(""), n = app.numbers, side = app.side, of = sideOf(app.state, side);
  const like = wanted.toLowerCase().trim(), all = n.live.side.inputs.filter(i => !i.name.includes("[")), shown = all.filter(i => !like || `${i.name.replace(/_/g, " ")} ${i.name} ${i.meaning}`.toLowerCase().includes(like));
  const option = (name: string, label: string, values: string[], none: string) => <label>{label} <select value={of.options[name] ?? ""} onChange={event => { app.dispatch({ do: "option", side, name, text: event.currentTarget.value }); }}><option value="">{none}</option>{values.map(v => <option key={v}>{v}</option>)}</select></label>;
  const formats = app.list("formats").map(f => f.name);
  return <section class="inputs" aria-label="every input"><h2>Every input</h2>
    <p class="formats">{app.state.entry !== "lecture" && <>{option("precision", "weights", formats, "as stored")} {option("kv-precision", "cache", formats, "bf16")} {option("experts-precision", "experts", formats, "as weights")} {option("engine", "engine", ["vllm", "sglang", "trtllm", "llamacpp"], "any")}</>}</p>
    <p><label>find an input <input type="search" value={wanted} placeholder="name or meaning" onInput={event => want(event.currentTarget.value)} /></label> <span class="note">{shown.length} of {all.length}</span></p>
    <div class="list" tabIndex={0} role="region" aria-label="inputs"><table><tbody>{shown.slice(0, 80).map(i => <tr key={i.name}><th scope="row">{i.name.replace(/_/g, " ")}</th><td><Num app={app} row={i.name} side={side} name={i.name.replace(/_/g, " ")} digits={4} /></td><td>{given(of, i.name) !== undefined && <button type="button" class="word" aria-label={`back to the default: ${i.name.replace(/_/g, " ")}`} onClick={() => app.dispatch({ do: "unset", side, row: i.name })}>×</button>}</td><td class="note">{i.meaning}{i.source ? ` (${i.source})` : ""}</td></tr>)}</tbody></table></div>
  </section>;
}

/* ---- replay ------------------------------------------------------------------------------------- */

interface Played { arrivals: number[]; firsts: number[]; ends: number[]; waits: number[]; length: number; count: number }
let last: { text: string; played: Played } | null = null;

function playedOf(text: string): Played {
  if (last?.text === text) return last.played;
  const lines = text.split("\n").filter(line => /^\d+,/.test(line)).map(line => line.split(",")), at = (cell: string): number => cell === "" || cell === undefined ? Infinity : Number(cell);
  const requests = lines.map(cells => ({ arrival: Number(cells[1]), first: at(cells[4]), end: at(cells[5]) })), sorted = (list: number[]): number[] => list.sort((a, b) => a - b);
  const played = { arrivals: sorted(requests.map(r => r.arrival)), firsts: sorted(requests.map(r => r.first)), ends: sorted(requests.map(r => r.end)), waits: sorted(requests.filter(r => r.first < Infinity).map(r => r.first - r.arrival)),
    length: requests.reduce((most, r) => Math.max(most, Number.isFinite(r.end) ? r.end : r.arrival), 1e-9), count: requests.length };
  last = { text, played };
  return played;
}
const upTo = (list: number[], at: number): number => { let low = 0, high = list.length; while (low < high) { const m = (low + high) >> 1; if (list[m] <= at) low = m + 1; else high = m; } return low; };

function queuePicture(p: Played, now: number): Picture {
  const x = Array.from({ length: 161 }, (_, i) => p.length * i / 160), shown = x.filter(t => t <= now), points = (of: (t: number) => number): [number, number][] => shown.map(t => [t, of(t)]);
  const waiting = points(t => upTo(p.arrivals, t) - upTo(p.firsts, t)), running = points(t => upTo(p.firsts, t) - upTo(p.ends, t)), most = Math.max(...waiting.map(w => w[1]), 0);
  const all = Math.max(...x.map(t => upTo(p.arrivals, t) - upTo(p.ends, t)), 1), lines: Line[] = [{ name: "running", kind: "compute", role: "term", of: "A", points: running }, { name: "waiting", kind: "host", role: "predicted", of: "A", points: waiting }];
  return { title: `Up to ${commas(most)} request${most === 1 ? " waits" : "s wait"} for a first token`, x: lin("s since the first arrival", "", nice(p.length)), y: lin("requests", "", nice(all)), lines, table: { columns: ["s", "running", "waiting"], rows: shown.filter((_, i) => i % 16 === 0).map((t, i) => [t, running[i * 16][1], waiting[i * 16][1]]) } };
}
function ttftPicture(p: Played, write: (v: number) => string): Picture {
  const low = Math.max(p.waits[0] ?? 1e-3, 1e-3), high = Math.max(p.waits[p.waits.length - 1] ?? 1, low * 10), x = Array.from({ length: 41 }, (_, i) => low * (high / low) ** (i / 40)), at = (q: number): number => p.waits[Math.min(p.waits.length - 1, Math.floor(q * p.waits.length))];
  const points = x.map((v): [number, number] => [v, 100 * upTo(p.waits, v) / p.waits.length]);
  return { title: `Half of the requests have their first token within ${write(at(0.5))}, 99 % within ${write(at(0.99))}`, x: { ...logAxis("time to the first token", "", 10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))), time: true }, y: lin("% of the requests", "", 100), lines: [{ name: "within", kind: "result", role: "result", of: "A", points }], table: { columns: ["s", "%"], rows: points.filter((_, i) => i % 4 === 0) } };
}

export function Traffic({ app }: { app: App }) {
  const [text, type] = useState(app.state.words || TRACE), [clock, tick] = useState(1), playing = useRef(0), { data, fresh } = app.answer<Reply>("traffic", trafficOf(app));
  useEffect(() => { if (app.state.words) type(app.state.words); }, [app.state.words]);
  useEffect(() => () => cancelAnimationFrame(playing.current), []);
  const played = data?.text && !data.error ? playedOf(data.text) : null, write = (v: number): string => app.engine.write(v, "s");
  const play = (): void => { cancelAnimationFrame(playing.current); let at = 0; const next = (): void => { at += 1 / 160; tick(Math.min(1, at)); if (at < 1) playing.current = requestAnimationFrame(next); }; next(); };
  return <section class="traffic" aria-label="replay traffic"><h2>Replay traffic</h2>
    <p><label>requests <input class="trace" value={text} spellcheck={false} onInput={event => type(event.currentTarget.value)} onKeyDown={event => { if (event.key === "Enter") app.dispatch({ do: "panel", panel: "traffic", words: text.trim() }); }} /></label> <button type="button" class="word" onClick={() => app.dispatch({ do: "panel", panel: "traffic", words: text.trim() })}>replay</button>{played && <> <button type="button" class="word" onClick={play}>play</button></>}</p>
    <p class={`said note${fresh ? "" : " old"}`}>{data?.error ? `${data.error.what}. ${data.error.hint}` : played ? `${commas(played.count)} requests over ${write(played.length)}, through the scheduler of the engine.` : "The requests run through the scheduler; their pictures follow."}</p>
    {played && <><input type="range" min={0} max={160} value={Math.round(160 * clock)} aria-label="time of the replay" onInput={event => tick(Number(event.currentTarget.value) / 160)} />
      <div class="two"><div class="pane"><Figure app={app} id="queue" picture={() => queuePicture(played, clock * played.length)} /></div><div class="pane">{played.waits.length > 0 && <Figure app={app} id="ttft" picture={() => ttftPicture(played, write)} />}</div></div></>}
    <p class="note"><code>{command("simulate", [app.state.words || TRACE, ...words(app.state.A)])}</code></p></section>;
}

/* ---- problems ------------------------------------------------------------------------------------ */

interface Problem { id: string; kind: string; question: string; given: Record<string, string>; asks: string; unit: string; choices: string[] | null; answer: number | string; tolerance: number }

function One({ app, problem }: { app: App; problem: Problem }) {
  const [said, say] = useState<{ right: boolean; why: string; answer: unknown } | null>(null), [text, type] = useState("");
  const grade = (answer: string): void => { const reply = app.engine.ask(["quiz", "--grade", `${problem.id}=${answer}`]); const one = reply.answer?.graded?.[0]; say(reply.error ? { right: false, why: `${reply.error.what}. ${reply.error.hint}`, answer: "" } : one); };
  const facts = Object.entries(problem.given ?? {});
  return <li><p>{problem.question}</p>{facts.length > 0 && <p class="note">{facts.map(([row, value]) => `${row.replace(/_/g, " ")} = ${value}`).join("; ")}</p>}
    {problem.choices ? <p>{problem.choices.map((c, i) => <><button type="button" class="word choice" key={i} onClick={() => grade(c)}>{c}</button>{" "}</>)}</p>
      : <form onSubmit={event => { event.preventDefault(); grade(text); }}><label>answer{problem.unit && problem.unit !== "1" ? ` (${problem.unit})` : ""} <input value={text} onInput={event => type(event.currentTarget.value)} spellcheck={false} autocomplete="off" /></label> <button class="word" type="submit">check</button></form>}
    {said && <p role="status"><b>{said.right ? "Right." : "Not quite."}</b> {said.why}</p>}</li>;
}

export function Quiz({ app }: { app: App }) {
  const { data } = app.answer<Reply>("quiz", quizOf(app)), problems = (data?.answer?.problems ?? []) as Problem[];
  return <section class="quiz" aria-label="quiz"><h2>Quiz</h2>{data?.error ? <p>{data.error.what}. {data.error.hint}</p> : !problems.length ? <p class="note">Problems are being posed.</p> : <ol>{problems.map(p => <One key={p.id} app={app} problem={p} />)}</ol>}
    <p><button type="button" class="word" onClick={() => app.dispatch({ do: "panel", panel: "quiz", words: String((Number(app.state.words) || 1) + 1) })}>other problems</button></p></section>;
}

/* ---- search -------------------------------------------------------------------------------------- */

interface Found { row: string; aliases: string[]; chapter: string; equation: string; value: number | null; unit: string; meaning: string; command: string; statement?: string }

/* Rows whose name or meaning has all of the words. */
function named(app: App, said: string): Found[] {
  const words = said.toLowerCase().split(/\s+/);
  return [...new Set(app.facts.values())].filter(row => { const text = `${row.name.replace(/_/g, " ")} ${row.meaning}`.toLowerCase(); return words.every(word => text.includes(word)); })
    .slice(0, 12).map(row => ({ row: row.name, aliases: [], chapter: "", equation: "", value: null, unit: row.unit, meaning: row.meaning, command: "" }));
}

export function Results({ app }: { app: App }) {
  const said = app.state.words.trim(), known = "find" in app.tables.verbs, { data } = app.answer<Reply>("find", said && known ? findOf(said) : null), list = (known ? data?.answer?.results ?? [] : named(app, said)) as Found[];
  if (!said) return null;
  return <section class="found" aria-label="found"><ul>{data?.error ? <li>{data.error.what}. {data.error.hint}</li> : (data || !known) && !list.length ? <li>Nothing matches. The search covers rows, their other names, and statements.</li>
    : list.map(f => <li key={f.row}><button type="button" class="line" onClick={() => { app.dispatch({ do: "panel", panel: null }); if (f.statement) location.hash = `#lecture/${f.statement}`; else app.dispatch({ do: "why", of: f.row, side: app.side }); }}><b>{f.row.replace(/_/g, " ")}</b> {f.value !== null && f.value !== undefined ? app.engine.write(f.value, f.unit) : ""} <span class="note">{f.meaning}{f.chapter ? ` · ${f.chapter}` : ""}</span></button></li>)}</ul></section>;
}
