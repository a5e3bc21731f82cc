/* Measurements of the reader's own server: what was predicted and what was measured, point by point, and what the
 * calibration takes from it. The prediction of the first screen is then that server's. */
import { useEffect, useState } from "preact/hooks";
import type { App } from "./app";
import type { Reply } from "./engine";
import { calibratedOf } from "./model_asks";
import { scenario } from "./state";

interface Server { model: string; machine: string; engine?: string; precision?: string; kv_precision?: string; chips?: number; prompt_tokens?: number; output_tokens?: number }
interface Point { file: string; line: number; metric: string; measured: number; before: number; after: number }
interface Outlier { line: number; metric?: string; reason: string }
interface Calibrated { server: Server; file: string; points: Point[]; outliers: Outlier[]; undetermined: string[]; looks_like: { what: string }[]; assumed: string[]; another_server: number; rows: Record<string, { posterior: { value: number } }> }

/* The scenario of the server that was measured, with what was found. */
function predict(app: App, words: string, found: Calibrated): boolean {
  const { server } = found, name = `calibration${app.dropped + 1}.csv`, options: Record<string, string> = {};
  const say = (option: string, value: string | number | undefined): void => { if (value !== undefined) options[option] = String(value); };
  app.shelve(name, new TextEncoder().encode(found.file));
  say("isl", server.prompt_tokens); say("osl", server.output_tokens); say("gpus", server.chips);
  say("engine", server.engine); say("precision", server.precision); say("kv-precision", server.kv_precision);
  return app.dispatch({ do: "calibrated", of: scenario(server.model, server.machine, { ...options, calibration: name }), name, text: found.file, words });
}

/* Files on the shelf: calibrated and shown, or the panel says what is wrong or not said. */
export async function measure(app: App, words: string): Promise<void> {
  const question = calibratedOf(words), data = await app.client.post("calibrated", question);
  if (data?.reply) app.learn("calibrated", question, data.reply);
  if (data?.reply && !data.reply.error && predict(app, words, data.reply.answer)) return;
  const { refused } = app, wrong = data?.reply && !data.reply.error ? refused : null;
  app.dispatch({ do: "panel", panel: "measured", words });
  if (wrong) app.refuse(wrong);
}

const share = (v: number): string => `${v < 0 ? "−" : "+"}${Math.abs(100 * v).toFixed(1)} %`;
const UNITS: Record<string, string> = { tpot: "s", ttft: "s", e2e: "s", energy: "J/token" };

function Points({ app, points }: { app: App; points: Point[] }) {
  const write = (p: Point, v: number): string => app.engine.write(v, UNITS[p.metric] ?? "token/s");
  return <div class="list" tabIndex={0} role="region" aria-label="points"><table><thead><tr><th scope="col">line</th><th scope="col">metric</th><th scope="col">measured</th><th scope="col">predicted</th><th scope="col">off</th><th scope="col">calibrated</th><th scope="col">off</th></tr></thead>
    <tbody>{points.map(p => <tr key={`${p.file} ${p.line} ${p.metric}`}><th scope="row">{p.file}:{p.line}</th><td>{p.metric}</td><td>{write(p, p.measured)}</td><td>{write(p, p.before)}</td><td>{share(p.before / p.measured - 1)}</td><td>{write(p, p.after)}</td><td>{share(p.after / p.measured - 1)}</td></tr>)}</tbody></table></div>;
}

/* What the file does not say and the page does, as options. */
function missing(app: App, hint: string, said: string): string {
  const { A } = app.state, own: Record<string, string | undefined> = { model: A.model, on: A.on, gpus: A.options.gpus };
  return Object.entries(own).filter(([name, value]) => value && hint.includes(`--${name} `) && !said.includes(`--${name} `)).map(([name, value]) => ` --${name} ${value}`).join("");
}

export function MeasuredPanel({ app }: { app: App }) {
  const said = app.state.words, [text, type] = useState(said), { data, fresh } = app.answer<Reply>("calibrated", said.trim() ? calibratedOf(said) : null);
  useEffect(() => type(said), [said]);
  const found = data && !data.error ? data.answer as Calibrated : null, more = data?.error ? missing(app, data.error.hint, said) : "", go = (words: string): void => { void measure(app, words.trim()).then(() => app.dropped++); };
  return <section class="measured" aria-label="your measurements"><h2>Your measurements</h2>
    <p><label>files and what they do not say <input class="trace" value={text} spellcheck={false} onInput={event => type(event.currentTarget.value)} onKeyDown={event => { if (event.key === "Enter") go(text); }} /></label> <button type="button" class="word" onClick={() => go(text)}>calibrate</button></p>
    {data?.error && <p class="said" role="status">{data.error.what}. {data.error.hint[0].toUpperCase() + data.error.hint.slice(1)}.{more && <> <button type="button" class="word" onClick={() => go(said + more)}>as on this page:{more}</button></>}</p>}
    {found && <div class={fresh ? "" : "old"}><p class="said note">{found.points.length} values of {app.titleOf("models", found.server.model)} on {app.titleOf("hardware", found.server.machine)}. The numbers above are now predicted with what they say of this server; undo takes it back.</p>
      <Points app={app} points={found.points} />
      <ul>{found.another_server > 0 && <li>These values differ more than those of one server should; something stated about it may be wrong.</li>}
        {found.looks_like.map(l => <li key={l.what}>These times look like {l.what}.</li>)}
        {found.outliers.map(o => <li key={`${o.line} ${o.metric}`}>Not fitted, line {o.line}{o.metric && `, ${o.metric}`}: {o.reason}</li>)}
        {found.undetermined.length > 0 && <li>These points do not tell: {found.undetermined.map(u => u.replace(/_/g, " ")).join(", ")}.</li>}
        {found.assumed.map(a => <li key={a}>Assumed: {a}</li>)}</ul></div>}</section>;
}
