/* Words of a sentence that are inputs: a name to pick, type, paste or drop; a wanted speed to drag. */
import { useRef, useState } from "preact/hooks";
import type { App } from "./app";
import { plain } from "./plain";
import type { Side } from "./state";

/* A catalog name as its title; what is typed may be either. */
export function Pick({ app, list, value, shown, label, take, field }: { app: App; list: "models" | "hardware"; value: string; shown: string; label: string; take: (name: string) => void; field: string }) {
  const [typed, type] = useState<string | null>(null), rows = typed !== null ? app.list(list) : [];
  const wrong = app.refused?.field === field, text = typed ?? shown;
  const done = (said: string): void => {
    const name = said.trim();
    type(null);
    if (!name || name === shown || name === value) return;
    take(app.list(list).find(row => plain(row.title) === plain(name) || plain(row.name) === plain(name))?.name ?? name);
  };
  const id = `list-${list}`;
  return <span class={`pick sized${wrong ? " guilty" : ""}`} data-text={text}><input role="combobox" aria-expanded="false" aria-label={label} aria-invalid={wrong ? "true" : undefined} aria-describedby={wrong ? "refusal" : undefined} list={typed !== null ? id : undefined} value={text}
    size={1} spellcheck={false} autocomplete="off" data-field={field}
    onFocus={event => { type(shown); const e = event.currentTarget; requestAnimationFrame(() => e.select()); }} onInput={event => {
      const said = event.currentTarget.value;
      type(said);
      if ((event as InputEvent).inputType === "insertReplacementText" || !(event as InputEvent).inputType) { if (rows.some(row => row.title === said)) { done(said); event.currentTarget.blur(); } }
    }}
    onKeyDown={event => { if (event.key === "Enter") { event.preventDefault(); done(event.currentTarget.value); event.currentTarget.blur(); } if (event.key === "Escape") { type(null); event.currentTarget.blur(); } }}
    onBlur={event => { if (typed !== null) done(event.currentTarget.value); }} />
    {typed !== null && <datalist id={id}>{rows.map(row => <option key={row.name} value={row.title} />)}</datalist>}</span>;
}

/* The wanted speed is no row of the scenario: it chooses a point of the front. */
export function Wanted({ app, value, low, high, set, unit, label, big }: { app: App; value: number; low: number; high: number; set: (v: number, moving: boolean) => void; unit: string; label: string; big?: boolean }) {
  const held = useRef<{ x: number; from: number; moved: boolean } | null>(null), [typed, type] = useState<string | null>(null), [wrong, say] = useState("");
  const fit = (v: number): number => { const w = Math.min(high, Math.max(low, v)); return w < 100 ? Number(w.toPrecision(2)) : Number(w.toPrecision(3)); };
  const text = `${Number(value.toPrecision(3))} ${unit}`, span = useRef<HTMLSpanElement>(null);
  const back = (): void => { type(null); say(""); requestAnimationFrame(() => span.current?.focus()); };
  if (typed !== null) return <span class="typing"><input autoFocus ref={e => { if (e && document.activeElement !== e) { e.focus(); } }} value={typed} aria-label={label} aria-invalid={wrong ? "true" : undefined} size={8} spellcheck={false} autocomplete="off" onInput={event => type(event.currentTarget.value)}
    onKeyDown={event => {
      event.stopPropagation();
      if (event.key === "Escape") back();
      if (event.key !== "Enter") return;
      const read = app.engine.read(event.currentTarget.value.trim().replace(/(\d),(?=\d{3})/g, "$1").replace(/^([\d.eE+]+)$/, "$1token/s"), "token/s");
      if (typeof read === "string") say(read);
      else if (!(read > 0) || read > 1e5) say("a speed of more than 0 and at most 100,000 token/s");
      else { set(read, false); back(); }
    }} onBlur={() => { type(null); say(""); }} />{wrong && <span class="refused" role="alert">{wrong}</span>}</span>;
  return <span ref={span} class={`num${big ? " big" : ""}`} data-row="speed" role="spinbutton" tabIndex={0} aria-label={label} aria-valuenow={value} aria-valuemin={low} aria-valuemax={high} aria-valuetext={text}
    onPointerDown={event => { held.current = { x: event.clientX, from: value, moved: false }; (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId); }}
    onPointerMove={event => { const h = held.current; if (!h || (!h.moved && Math.abs(event.clientX - h.x) <= 3)) return; h.moved = true; set(fit(h.from * 10 ** ((event.shiftKey ? 0.2 : 1) * (event.clientX - h.x) / 220)), true); }}
    onPointerUp={() => { held.current = null; }} onPointerCancel={() => { held.current = null; }} onDblClick={() => type(text)}
    onKeyDown={event => {
      const by = ({ ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 } as Record<string, number>)[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (by) { const next = fit(value * (1 + by * (event.shiftKey ? 0.1 : 0.02))); set(next !== value ? next : fit(value + by), true); }
      else if (event.key === "PageUp") set(fit(value * 2), true);
      else if (event.key === "PageDown") set(fit(value / 2), true);
      else if (event.key === "Home") set(low, true);
      else if (event.key === "End") set(high, true);
      else if (event.key === "Enter") type(text);
      else if (/^[\d.]$/.test(event.key)) type(event.key);
      else return;
      event.preventDefault();
    }}>{text}</span>;
}

export const nameModel = (app: App, side: Side) => (text: string): void => { app.dispatch({ do: "name", side, of: "model", text }); };
export const nameMachine = (app: App, side: Side) => (text: string): void => { app.dispatch({ do: "name", side, of: "on", text }); };
