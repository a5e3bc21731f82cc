/* A chapter: one question, the equation with its numbers, a task answered by dragging, the lecture's
 * drawings, and then the same with the reader's model. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { App } from "./app";
import { type ChapterSpec, CHAPTERS, clock, type Held, root, three, toldOf as chapterTold } from "./chapters";
import type { Reply } from "./engine";
import { EquationLines } from "./equation";
import { Drawing } from "./extras";
import { Figure, Waits } from "./figure";
import { RUN, type Statement, toldOf } from "./lecture_asks";
import { Asked, Num, rounded, Slider, Value } from "./num";
import { Running } from "./running";
import { CHAPTER_IDS } from "./state";
import { Below, Still } from "./still";
import type { Picture } from "./picture_type";
import { STATEMENTS } from "virtual:lecture";

/* The quantities that the words of a text are of. */
const COLOURS: readonly [RegExp, string][] = [[/\b(multipl\w*|compute|FLOPs?)\b/i, "compute"], [/\b(weights?|parameters)\b/i, "weights"], [/\b(KV cache|caches?)\b/i, "cache"], [/\b(all-to-all|racks?|hops?)\b/i, "network"]];
function Coloured({ text, seen }: { text: string; seen: Set<string> }) {
  const parts: (string | { word: string; kind: string })[] = [];
  let rest = text;
  for (;;) {
    const found = COLOURS.flatMap(([pattern, kind]) => { const m = seen.has(kind) ? null : pattern.exec(rest); return m ? [{ at: m.index, word: m[0], kind }] : []; }).sort((a, b) => a.at - b.at)[0];
    if (!found) break;
    seen.add(found.kind);
    parts.push(rest.slice(0, found.at), { word: found.word, kind: found.kind });
    rest = rest.slice(found.at + found.word.length);
  }
  parts.push(rest);
  return <>{parts.map((p, i) => typeof p === "string" ? p : <b key={i} class={`of-${p.kind}`}>{p.word}</b>)}</>;
}

/* What is said aloud half a second after the last move, and not at every one. */
function Spoken({ text }: { text: string }) {
  const [said, say] = useState(text);
  useEffect(() => { const timer = setTimeout(() => say(text), 500); return () => clearTimeout(timer); }, [text]);
  return <p class="spoken" aria-live="polite">{said}</p>;
}

/* Ends of axes stay while a hand is down, and grow in steps when a value leaves them. */
export class Ends implements Held {
  private readonly ends = new Map<string, number>();
  private of = "";
  begin(of: string): this { if (of !== this.of) { this.of = of; this.ends.clear(); } return this; }
  end(key: string, need: number): number {
    const kept = this.ends.get(key);
    if (kept !== undefined && need <= kept * 1.0001 && need > kept / 5) return kept;
    this.ends.set(key, need);
    return need;
  }
}
const ends = new Ends();

export function useNarrow(px = 900): boolean {
  const [narrow, set] = useState(() => innerWidth < px);
  useEffect(() => { const query = matchMedia(`screen and (max-width: ${px - 0.02}px)`), changed = (): void => set(query.matches); changed(); query.addEventListener("change", changed); return () => query.removeEventListener("change", changed); }, []);
  return narrow;
}

function Verdict({ app, statement }: { app: App; statement: Statement }) {
  const here = statement.here;
  if (!here) return null;
  const at = here.flips?.at;
  return <p class="verdict-here">{here.applies === false ? <><b>Does not apply:</b> {here.lacks}</> : <>{typeof here.holds === "boolean" && <b>{here.holds ? "Holds" : "Does not hold"}: </b>}{here.conclusion}</>}
    {here.applies !== false && here.flips && <> It flips {typeof at === "number" ? <>at {here.flips.input.replace(/_/g, " ")} = {app.engine.write(at, here.flips.unit)}</> : "at no value"}.</>}</p>;
}

function Yours({ app, chapter, told }: { app: App; chapter: ChapterSpec; told: Statement[] }) {
  const { state, numbers: n, lecture } = app, mine = state.mine, main = told.find(s => s.id === chapter.first);
  const name = mine ? `${n.live.doc.model ?? "the lecture's model"}${n.live.doc.machine ? ` on ${n.live.doc.machine}` : ""}` : `${app.titleOf("models", state.A.model)}${state.A.on ? ` on ${app.titleOf("hardware", state.A.on)}` : ""}`;
  if (!chapter.differ.length) return null;
  return <section class="yours"><h2>With your model</h2>
    {mine ? <table><thead><tr><th scope="col">what differs</th><th scope="col">lecture</th><th scope="col">{n.live.doc.model ?? state.A.model}</th></tr></thead><tbody>
      {chapter.differ.filter(d => n.has(d.row) || lecture.has(d.row)).map(d => { const a = lecture.has(d.row) ? lecture.write(d.row) : "—", b = n.has(d.row) ? n.write(d.row) : "—";
        return <tr key={d.row}><th scope="row">{d.words}</th><td>{a}</td><td>{n.has(d.row) ? <Asked app={app} row={d.row} class="plain" text={b} /> : b}</td></tr>; })}</tbody></table>
      : <p>The same board with <button type="button" class="word kept" onClick={() => app.dispatch({ do: "mine", mine: true })}>{name}</button>: its weights, its cache, its machine; what the lecture leaves out is added in place.</p>}
    {main && <Verdict app={app} statement={main} />}
    {mine && <p><button type="button" class="word" onClick={() => app.dispatch({ do: "mine", mine: false })}>Back to the lecture’s numbers</button></p>}
  </section>;
}

/* Where the talk says it: the second of the video, or of what it follows from. */
const VIDEO = "https://youtu.be/xmkSf5IS-zw";           // of the description of the episode of 29 April 2026
function Second({ id }: { id: string }) {
  const at = STATEMENTS[id]!.second, second = Math.abs(at), pad = (n: number): string => String(n).padStart(2, "0");
  return <>{at < 0 && "follows from "}<time dateTime={`PT${second}S`}>{`${Math.floor(second / 3600)}:${pad(Math.floor(second / 60) % 60)}:${pad(second % 60)}`}</time></>;
}

/* What a statement of its own address comes to: in the lecture, and with the reader's model its equation times what the
 * model adds. */
function Stated({ app, statement }: { app: App; statement: Statement | undefined }) {
  if (!statement) return <p class="lede reserved-line">The engine is asked …</p>;
  const { here } = statement, name = [app.titleOf("models", app.state.A.model), app.titleOf("hardware", app.state.A.on)].filter(Boolean).join(" on ");
  const factors = (here?.factors ?? []).filter(f => f.value !== null && Math.abs(f.value - 1) > 5e-4), unit = here?.unit ?? "1", written = (v: number): string => app.engine.write(v, unit);
  return <div class="lede">{statement.equation && <p class="law">{statement.equation}</p>}
    <p>{statement.conclusion || statement.reason}</p>
    {here && <p>{name}: {here.applies === false ? here.lacks : <>{typeof here.closed_form === "number" && typeof here.figure === "number" && factors.length > 0 && <>{written(here.closed_form)}{factors.map(f => ` × ${three(f.value!)} ${f.label}`).join("")} = {written(here.figure)}. </>}
      {typeof here.holds === "boolean" && <b>{here.holds ? "Holds: " : "Does not hold: "}</b>}{here.conclusion}</>}</p>}</div>;
}

function More({ app, chapter, told }: { app: App; chapter: ChapterSpec; told: Statement[] }) {
  const list = told.filter(s => s.id !== chapter.first || app.state.statement);
  if (!list.length) return null;
  const set = told.find(s => s.id === app.state.statement);
  return <section class="more"><h2>What else is said</h2>
    {set && <p class="note">The board has the inputs of “{set.statement}” <button type="button" class="word" onClick={() => app.dispatch({ do: "statement", id: "", deck: "" })}>Back to the chapter’s</button></p>}
    <ol>{list.map(s => <li key={s.id} class={s.id === app.state.statement ? "set" : ""}><a class="line" href={`#lecture/${s.id}`} aria-current={s.id === app.state.statement ? "true" : undefined}>{s.statement}</a>{" "}
      <span class="time"><Second id={s.id} />{s.here ? s.here.applies === false ? " · does not apply" : s.here.holds === true ? " · holds for yours" : s.here.holds === false ? " · not for yours" : "" : ""}{s.agrees === false ? " · figures differ" : ""}</span></li>)}</ol></section>;
}

export function LectureScreen({ app }: { app: App }) {
  const { state, numbers: n, chapter } = app, narrow = useNarrow(), said = chapterTold(chapter.id), reply = app.answer<Reply>("told", toldOf(app));
  const told = ((reply.data?.answer?.statements ?? []) as Statement[]).filter(s => s.chapter === said.number);
  const held = ends.begin(`${chapter.id} ${state.mine} ${state.mine ? JSON.stringify([state.A.model, state.A.on]) : state.statement}`), equations = chapter.equations(n), verdict = chapter.verdict(n), hand = chapter.hand, seen = new Set<string>();
  const lastSets = useRef<{ row: string; value: number } | null>(null), drawn = useRef<readonly Picture[]>([]);
  const draw = (): readonly Picture[] => drawn.current = chapter.pictures(n, held), pictures = !app.begun ? [] : app.moving ? drawn.current : draw();
  const drag = (sets: string) => (x: number, _y: number, done: boolean): void => {
    if (sets !== hand.row && sets !== "context" && sets !== "pretrain_tokens") return;
    const input = n.input(sets), scale = sets === "pretrain_tokens" ? NaN : 1;
    const value = Number.isFinite(scale) ? x : _y * 1e12;
    if (value > 0) app.dispatch({ do: "set", side: "deck", row: sets, text: String(rounded(value, input)) }, !done);
  };
  /* A mark that is dragged asks which value of its input puts it there. */
  const inverse = (k: number) => (name: string, x: number, done: boolean): void => {
    const mark = drawn.current[k].marks?.find(m => m.name === name) ?? drawn.current[k].marks?.[0], row = mark?.sets;
    if (!row || !(x > 0)) return;
    const now = n.value(row), at = (v: number): number => { const trial = chapter.pictures({ ...view(n, row, v) } as never, held)[k].marks?.[0]?.x ?? NaN; return Number.isFinite(trial) ? Math.log(trial / x) : NaN; };
    const from = lastSets.current?.row === row ? lastSets.current.value : now;
    const value = search(at, from);
    if (done) lastSets.current = null;
    if (Number.isFinite(value)) { lastSets.current = { row, value }; app.dispatch({ do: "set", side: "deck", row, text: String(Number(value.toPrecision(3))) }, !done); }
  };
  const mineName = app.titleOf("models", state.A.model), stated = STATEMENTS[state.statement];
  return <>
    <Still app={app}>{() => <nav class="chapters" aria-label="chapters">{CHAPTER_IDS.map(id => { const of = chapterTold(id); return <a key={id} href={`#lecture/${id}`} aria-current={id === chapter.id ? "page" : undefined}>{of.number}<span class="chapter-words"> {of.title} <span class="time">{clock(of.time)}</span></span></a>; })}</nav>}</Still>
    <div class="opening"><div><p class="place">{stated ? <><a href={`#lecture/${chapter.id}`}>Chapter {said.number} · {said.title}</a> · {state.statement}, <a class="second" href={`${VIDEO}?t=${Math.abs(stated.second)}`} target="_blank" rel="noreferrer"><Second id={state.statement} /></a></> : <>Chapter {said.number} · {said.title} · the lecture from {clock(said.time)}</>}</p>
      {stated ? <h1 class="stated">{stated.statement}</h1> : <h1>{said.question}</h1>}</div>
      {stated ? <Stated app={app} statement={told.find(s => s.id === state.statement)} /> : <p class="lede">{chapter.lede.filter(id => STATEMENTS[id]).map(id => <span key={id}><Coloured text={STATEMENTS[id]!.statement} seen={seen} />{" "}</span>)}</p>}</div>
    <div class="equation-head"><p id="named" data-rest="Every underlined number can be dragged.">Every underlined number can be dragged.</p>
      {chapter.differ.length > 0 && <p class="decks"><button type="button" aria-pressed={!state.mine} onClick={() => app.dispatch({ do: "mine", mine: false })}>the lecture’s numbers</button>{" "}<button type="button" aria-pressed={state.mine} onClick={() => app.dispatch({ do: "mine", mine: true })}>{mineName}</button></p>}</div>
    <div class="equations">{equations.map((e, i) => <EquationLines key={i} app={app} equation={e} narrow={narrow} />)}</div>
    <div class="board"><section class="task" aria-label="the question"><h2>{chapter.task}</h2>
      <p class="hand"><Num app={app} row={hand.row} big name={hand.words} /> <span class="hand-words">{hand.words}</span></p><Slider app={app} row={hand.row} name={hand.words} />
      <p class="verdict"><b>{verdict.bold}</b> {verdict.rest}</p><Spoken text={`${verdict.bold} ${verdict.rest}`} /></section>
      {!app.begun && <><div class="pane"><Waits /></div><div class="pane"><Waits /></div></>}
      {pictures.map((p, k) => <div class="pane" key={`${chapter.id}${k}`}><Figure app={app} id={`${chapter.id}-${k + 1}`} picture={() => (app.moving ? draw() : pictures)[k]} moves={{ ...(p.here ? { drag: drag(p.here.sets) } : {}), ...(p.marks?.some(m => m.sets) ? { mark: inverse(k) } : {}) }} /></div>)}
      {chapter.extra && app.begun && <div class="pane"><Drawing app={app} what={chapter.extra} /></div>}</div>
    {chapter.id === "reversible" && <Running app={app} reply={app.answer<Reply>("net", RUN).data} />}
    <Below app={app} class="two text">{() => <><section><h2>In a sentence</h2><p class="prose">{chapter.meets(n).text.map((t, i) => typeof t === "string" ? t : <Value key={i} app={app} row={t.row} />)}</p></section>
      <Yours app={app} chapter={chapter} told={told} /></>}</Below>
    <Still app={app}>{() => <More app={app} chapter={chapter} told={told} />}</Still>
    <nav class="onward" aria-label="next chapter">{CHAPTERS[said.number] && <a href={`#lecture/${CHAPTERS[said.number].id}`}>Next, {clock(chapterTold(CHAPTERS[said.number].id).time)}: {chapterTold(CHAPTERS[said.number].id).question}</a>}</nav>
  </>;
}

/* The numbers as they would be with another value of one input. */
function view(n: App["numbers"], row: string, value: number): Partial<App["numbers"]> {
  const of = (what: string): number => what === row ? value : n.live.has(what) ? n.live.trial([[row, value]], what) : n.value(what);
  return { live: n.live, value: of, has: what => n.has(what), unit: what => n.unit(what), write: (what, digits) => n.write(what, digits), input: what => n.input(what),
           sweep: (_r, x) => what => x.map(() => of(what)) } as Partial<App["numbers"]>;
}

/* The input's value at which f is 0, near where it is. */
function search(f: (v: number) => number, now: number): number {
  for (const reach of [4, 40, 1000]) {
    const found = root(f, now / reach, now * reach);
    if (Number.isFinite(found)) return found;
  }
  return NaN;
}
