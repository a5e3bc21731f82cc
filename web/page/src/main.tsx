/* The page: head, screen, second level, foot; then the engine begins and the address is opened. */
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { App } from "./app";
import { Client, thread } from "./client";
import { type Begun, Engine, type Reply } from "./engine";
import { measure, MeasuredPanel } from "./measured";
import { LectureScreen, useNarrow } from "./lecture";
import { ModelScreen } from "./model";
import { Slider } from "./num";
import { Assumed, Inputs, Quiz, Results, Traffic } from "./panels";
import { decodeRate, RunScreen } from "./run";
import { canCommand } from "./run_asks";
import { command, fromWords, scenario, START, travels, words } from "./state";
import { Below, Still } from "./still";
import { WhyPanel } from "./why";
import { work } from "./worker";
import { chosen, front, planCommand, speedOf } from "./model_asks";
import { two } from "./plain";
import { place, worth } from "./num";

declare const VERSION: string;

/* Six questions, each a whole state in its address. */
const STARTS: readonly [string, string][] = [
  ["Llama-3.3-70B on 8 × H100: how fast, how many users, at what cost?", "#model?model=llama-3.3-70b&on=h100-sxm&gpus=8"],
  ["Why does output cost five times input?", "#lecture/prices.output_input"],
  ["What does a price step at 200k tokens say about the KV cache?", "#lecture/prices?price_step_context=200000"],
  ["One rack or two for a 5T-parameter mixture of experts?", "#lecture/experts?params_total=5e12&params_active=1e11"],
  ["Where to keep the KV cache for five minutes or an hour?", "#lecture/memory?hold_time=5min"],
  ["How many tokens should this model have been trained on?", "#lecture/training?mine&model=llama-3.3-70b&on=h100-sxm"],
];

const theme = (): string => document.documentElement.dataset.theme!;
function setTheme(app: App): void {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* a page from a disk may have none */ }
  app.draw();
}

function Head({ app }: { app: App }) {
  const { state } = app, at = (entry: string): "page" | undefined => state.entry === entry ? "page" : undefined;
  return <header><a class="skip" href="#main" onClick={event => { event.preventDefault(); document.getElementById("main")?.focus(); }}>skip to the content</a>
    <a class="brand" href="#model">chalkline</a>
    <nav class="entries" aria-label="entries"><a href="#model" aria-current={at("model")}>Your model</a><a href="#run" aria-current={at("run")}>Can I run it?</a><a href={`#lecture/${state.chapter}`} aria-current={at("lecture")}>The lecture</a></nav>
    <input id="search" type="search" aria-label="find" placeholder="find: fast mode, bubble" value={state.panel === "find" ? state.words : ""} spellcheck={false} autocomplete="off"
      onInput={event => { const said = event.currentTarget.value; app.dispatch({ do: "panel", panel: said.trim() ? "find" : null, words: said }); }} onKeyDown={event => { if (event.key === "Escape") { app.dispatch({ do: "panel", panel: null }); event.currentTarget.blur(); } }} />
    <button type="button" class="theme" aria-label="light or dark" onClick={() => setTheme(app)}>◐</button></header>;
}

/* The one input of the screen and its one result, wherever the reader scrolls. */
function Bar({ app }: { app: App }) {
  const { state, numbers: n } = app;
  if (state.entry === "model") {
    const points = front(app, "A").points, at = chosen(points, state.speed), end = points.length ? speedOf(points[points.length - 1]) : 500, input = { name: "", value: state.speed, unit: "", low: 5, high: Math.max(end, 6), whole: false, log: true, meaning: "", source: "", assumed: false, free: true };
    return <aside class="bar" aria-label="wanted speed"><span>{two(state.speed)} token/s</span><input type="range" min={0} max={1000} value={Math.round(place(Math.max(5, state.speed), input))} aria-label="wanted speed of the bar" aria-valuetext={`${two(state.speed)} token/s`} onInput={event => { const v = worth(Number(event.currentTarget.value), input); app.dispatch({ do: "speed", value: Math.min(Math.max(end, 6), Number(v.toPrecision(v < 100 ? 2 : 3))) }, true); }} /><span class="bar-result">{at ? `${two(1e6 * at.cost)} USD` : "…"}</span></aside>;
  }
  const row = state.entry === "run" ? "context" : app.chapter.hand.row, result = state.entry === "run" ? `${two(decodeRate(app) > 0 ? decodeRate(app) : n.value("user_speed"))} token/s` : n.write(app.chapter.hand.result);
  return <aside class="bar" aria-label={state.entry === "run" ? "context" : app.chapter.hand.words}><span>{n.write(row)}</span><Slider app={app} row={row} name={state.entry === "run" ? "tokens of context, bar" : `${app.chapter.hand.words}, bar`} /><span class="bar-result">{result}</span></aside>;
}

async function copied(button: HTMLElement, text: string, done = "copied"): Promise<void> {
  const was = button.textContent, good = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  button.textContent = good ? done : "no clipboard available";
  setTimeout(() => { button.textContent = was; }, 900);
}

const asked = (app: App): [string, string[]] => app.state.entry === "run" ? canCommand(app) : ["step", words(app.shown()).filter(w => w !== "--model")];

function Foot({ app }: { app: App }) {
  const { state } = app, line = state.entry === "model" ? command("plan", planCommand(state.A, state.speed)) : command(...asked(app));
  return <footer><p class="acts"><button type="button" class="word" onClick={event => void copied(event.currentTarget, location.href, travels(state) ? "copied" : "copied, but the file is too large to travel")}>copy the link</button>{" "}
      <button type="button" class="word" onClick={event => void copied(event.currentTarget, line)}>copy the command</button>{" "}
      <button type="button" class="word" aria-expanded={state.panel === "traffic"} onClick={() => app.dispatch({ do: "panel", panel: state.panel === "traffic" ? null : "traffic" })}>replay traffic</button>{" "}
      <button type="button" class="word" aria-expanded={state.panel === "quiz"} onClick={() => app.dispatch({ do: "panel", panel: state.panel === "quiz" ? null : "quiz" })}>quiz</button>{" "}
      <label class="word file">open a config.json, measurements or a trace <input type="file" multiple onChange={event => { const files = [...(event.currentTarget.files ?? [])]; event.currentTarget.value = ""; void drop(app, files); }} /></label></p>
    <p class="starts">{STARTS.map(([text, hash]) => <a key={hash} href={hash}>{text}</a>)}</p>
    <p class="note">Everything is computed in this page, by the engine of the command line; no data leaves it. {VERSION && `chalkline ${VERSION}`}</p></footer>;
}

function Sent({ app }: { app: App }) {
  if (!app.sent) return null;
  return <details id="sent" open><summary>{command("", app.sent.words).replace("  ", " ")}</summary><pre>{app.sent.text}</pre></details>;
}

export function Page({ app }: { app: App }) {
  const { state, refused } = app, narrow = useNarrow(), title = useRef("");
  const name = state.entry === "lecture" ? `${app.chapter.id} · the lecture` : state.entry === "run" ? "can I run it?" : `${app.numbers.live.doc.model ?? "your model"}${app.numbers.live.doc.machine ? ` on ${app.numbers.live.doc.machine}` : ""}`;
  useEffect(() => { if (title.current !== name) { title.current = name; document.title = `chalkline: ${name}`; } });
  return <><Still app={app}>{() => <Head app={app} />}</Still>{state.panel === "find" && <Results app={app} />}
    <main id="main" tabIndex={-1} class={state.entry}>{refused && <p id="refusal" role="alert" class="refusal">{refused.field === "address" || refused.field === "file" ? "" : <b>{refused.field === "on" ? "machine" : refused.field.replace(/_/g, " ")}: </b>}{refused.says}</p>}
      <Sent app={app} />
      {state.entry === "model" ? <ModelScreen app={app} /> : state.entry === "run" ? <RunScreen app={app} /> : <LectureScreen app={app} />}
      <WhyPanel app={app} />
      {state.panel === "measured" && <MeasuredPanel app={app} />}{state.panel === "traffic" && <Traffic app={app} />}{state.panel === "quiz" && <Quiz app={app} />}
      <Below app={app}>{() => <Assumed app={app} />}</Below>{state.panel === "inputs" && <Inputs app={app} />}</main>
    <Still app={app}>{() => <Foot app={app} />}</Still>{narrow && <Bar app={app} />}</>;
}

/* ---- files ---------------------------------------------------------------------------------------- */

async function drop(app: App, files: File[]): Promise<void> {
  await take(app, files);
  app.dropped++;
}
async function take(app: App, files: File[]): Promise<void> {
  const measured: string[] = [];
  for (const file of files) {
    const head = /\.(gguf|safetensors)$/.test(file.name) ? file.slice(0, 1 << 26) : file;  // the weights are not read
    let bytes = new Uint8Array(await head.arrayBuffer()), name = file.name.replace(/\s+/g, "_");
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
      bytes = new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
      name = name.replace(/\.gz$/, "");
    }
    app.shelve(name, bytes);
    if (!/\.(gguf|safetensors)$/.test(name) && app.engine.measured(name)) { measured.push(name); continue; }
    if (!/\.(gguf|json|safetensors)$/.test(name)) { app.dispatch({ do: "panel", panel: "traffic", words: name }); continue; }
    app.shelve("./" + name, bytes);
    const text = /\.json$/.test(name) && bytes.length < 4 << 20 ? new TextDecoder().decode(bytes) : "", side = app.state.entry === "run" ? "card" : "A";
    if (app.state.entry === "lecture" && !app.state.mine) app.dispatch({ do: "mine", mine: true });
    if (!app.dispatch({ do: "drop", name, text, side })) app.refuse({ field: "model", says: `${name} is neither a model configuration nor a benchmark’s result that can be read: ${app.refused?.says ?? ""}` });
  }
  if (measured.length) await measure(app, measured.join(" "));
}

/* ---- beginning ------------------------------------------------------------------------------------ */

function listen(app: App): void {
  addEventListener("hashchange", () => void app.go(location.hash));
  addEventListener("popstate", () => void app.go(location.hash));
  document.addEventListener("keydown", event => {
    const typing = (event.target as HTMLElement).closest?.("input:not([type=range]):not([type=checkbox]), select, textarea");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) { event.preventDefault(); if (event.shiftKey) app.redo(); else app.undo(); }
    else if (event.key === "/" && !typing) { event.preventDefault(); document.getElementById("search")?.focus(); }
    else if (event.key === "Escape" && (app.state.why || app.state.panel)) app.dispatch({ do: "close" });
  });
  document.addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  document.addEventListener("drop", event => { event.preventDefault(); document.body.classList.remove("dropping"); void drop(app, [...(event.dataTransfer?.files ?? [])]); });
}

const brought = (): { words?: string[]; answer?: Reply } | null => JSON.parse(document.getElementById("state")!.textContent || "null");
interface First { module: WebAssembly.Module; begun: Begun | null; failed?: string }

/* The engine comes after this script, packed. A worker unpacks it and opens the board of the address. */
async function start(code: string, worker: Worker, packed: string): Promise<void> {
  const report = brought(), { module, begun, failed } = await new Promise<First>((take, refuse) => {
    worker.onmessage = ({ data }) => take(data);
    worker.onerror = event => refuse(new Error(event.message));
    worker.postMessage({ kind: "unpack", packed, hash: location.hash || (report?.words ? "" : "#model") });
  });
  if (failed) throw new Error(failed);
  performance.mark("compiled");
  const app = new App(Engine.load(module, begun), new Client(module, code, worker)), root = document.getElementById("page")!;
  performance.mark("made");
  (window as unknown as { chalkline: App }).chalkline = app;
  const [answer, detail] = ["h1.answer", ".detail"].map(what => root.querySelector(what)?.innerHTML ?? "");
  if (answer) app.first = { answer, detail };
  app.render = () => render(<Page app={app} />, root);
  if (report?.words) {
    app.sent = { words: report.words, text: report.answer?.error ? `${report.answer.error.what}\n${report.answer.error.hint}` : report.answer?.text ?? "" };
  }
  if (report?.words && location.hash.length < 2) {
    const asked = fromWords(report.words, app.tables), of = asked.model ? asked : scenario(START.A.model, START.A.on, asked.options, asked.given);
    if (!app.dispatch({ do: "is", state: { ...START, A: of.on ? of : { ...of, on: START.A.on } } })) app.dispatch({ do: "is", state: { ...START } });
  } else await app.go(location.hash || "#model");
  performance.mark("opened");
  app.render();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  listen(app);
  requestAnimationFrame(() => setTimeout(() => { app.begun = true; app.draw(); }));
}

if (typeof document === "undefined") work();
else if (document.currentScript) {
  const code = document.currentScript.textContent!, worker = thread(code);
  (window as unknown as { engine(packed: string): void }).engine = packed => void start(code, worker, packed).catch(error => {
    const box = document.createElement("p");
    box.setAttribute("role", "alert");
    box.textContent = `The engine did not start: ${(error as Error).message}`;
    document.getElementById("page")!.append(box);
  });
}
