/* A number of the page. An input is dragged, moved by keys or typed with its unit; what is computed
 * asks why. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { App } from "./app";
import type { Input } from "./numbers";
import { decimal } from "./plain";
import { given, sideOf, type Side } from "./state";

const DECADE = 220, LINE = 400, STILL = 3, FINE = 5;        // px for a factor of ten, for a whole range, that are a click, slower with Shift

/* Two digits below 100, three above; whole where it counts. */
export function rounded(value: number, input: Pick<Input, "whole" | "low" | "high">): number {
  let v = Math.min(input.high, Math.max(input.low, value));
  v = input.whole ? Math.round(v) : Number(v.toPrecision(Math.abs(v) < 100 && Math.abs(v) >= 10 ? 2 : 3));
  if (input.whole && v >= 1000) v = Number(v.toPrecision(3));
  return Math.min(input.high, Math.max(input.low, v));
}

export const place = (v: number, of: Input): number => of.log ? 1000 * Math.log(Math.max(v, of.low) / of.low) / Math.log(of.high / of.low) : 1000 * (v - of.low) / (of.high - of.low || 1);
export const worth = (at: number, of: Input): number => of.log ? of.low * (of.high / of.low) ** (at / 1000) : of.low + (of.high - of.low) * at / 1000;

/* One step by the keys; a count moves by one at least. */
function stepped(value: number, input: Input, by: number): number {
  const next = input.log || value > 0 ? value * (1 + by) : value + by * (input.high - input.low);
  const made = rounded(next, input);
  return made !== value ? made : input.whole ? Math.min(input.high, Math.max(input.low, value + Math.sign(by))) : next;
}

/* Every other place where the same input stands is washed, and the line above names it. */
function wash(app: App, row: string | null): void {
  for (const e of document.querySelectorAll("[data-row].wash")) e.classList.remove("wash");
  const line = document.getElementById("named");
  if (row) for (const e of document.querySelectorAll(`[data-row="${CSS.escape(row)}"]`)) e.classList.add("wash");
  if (!line) return;
  const n = app.numbers, origin = row ? n.input(row) : null;
  line.textContent = row && origin ? `${n.meaning(row) || row.replace(/_/g, " ")}: ${n.write(row, 4)}${origin.assumed ? ", assumed" : ""}${origin.source ? ` (${origin.source})` : ""}` : line.dataset.rest ?? "";
}

export interface NumProps {
  app: App; row: string; side?: Side;
  text?: string;                        // as it is shown; else as the engine writes it
  name?: string; big?: boolean; digits?: number; wide?: number; kind?: string;
}

export function Num({ app, row, side = app.side, text, name, big, digits = 3, wide, kind }: NumProps) {
  const [typed, type] = useState<string | null>(null), [wrong, say] = useState("");
  const held = useRef<{ x: number; from: number; moved: boolean } | null>(null), field = useRef<HTMLInputElement>(null), span = useRef<HTMLSpanElement>(null);
  const n = app.numbers, input = n.input(row), shown = text ?? (big && n.unit(row) !== "token" ? n.write(row, digits) : terse(n.write(row, digits), n.unit(row))), label = name ?? (n.meaning(row).split(/[;:(]/)[0].trim() || row.replace(/_/g, " "));
  useEffect(() => {
    const at = field.current;
    if (typed === null || !at) return;
    at.focus();
    if (typed === shown) at.select();
    else at.setSelectionRange(typed.length, typed.length);
  }, [typed !== null]);
  const set = (value: number, moving: boolean): void => { app.dispatch({ do: "set", side, row, text: String(value) }, moving); };
  const guilty = app.refused?.field === row;

  const take = (value: string): void => {
    const clean = value.trim().replace(/(\d),(?=\d{3})/g, "$1"), read = app.engine.read(/^[\d.eE+-]+$/.test(clean) ? clean + unitOfShown(shown) : clean, input.unit), plain = typeof read === "string" ? app.engine.read(clean, input.unit) : read;
    if (typeof plain === "string") { say(plain); return; }
    if (!app.dispatch({ do: "set", side, row, text: /^[\d.eE+-]+$/.test(clean) || typeof read === "number" ? String(plain) : clean.replace(/\s+/g, "") })) { say(app.refused?.says ?? ""); return; }
    say("");
    type(null);
    requestAnimationFrame(() => span.current?.focus());
  };
  if (typed !== null) return <span class="typing"><input ref={field} value={typed} aria-label={label} aria-invalid={wrong ? "true" : undefined} size={Math.max(6, typed.length + 1)} spellcheck={false} autocomplete="off" onInput={event => type(event.currentTarget.value)}
      onKeyDown={event => {
        event.stopPropagation();
        if (event.key === "Enter") { event.preventDefault(); take(event.currentTarget.value); }
        if (event.key === "Escape") { say(""); type(null); requestAnimationFrame(() => span.current?.focus()); }
      }} onBlur={() => { say(""); type(null); }} />{wrong && <span class="refused" role="alert">{wrong}</span>}</span>;

  const keys = (event: KeyboardEvent): void => {
    const by = ({ ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 } as Record<string, number>)[event.key], value = n.value(row);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (by) set(stepped(value, input, by * (event.shiftKey ? 0.1 : 0.02)), true);
    else if (event.key === "PageUp") set(rounded(value * 2, input), true);
    else if (event.key === "PageDown") set(rounded(value / 2, input), true);
    else if (event.key === "Home") set(input.low, true);
    else if (event.key === "End") set(input.high, true);
    else if (event.key === "Enter") type(shown);
    else if (event.key === "Escape" && given(sideOf(app.state, side), row) !== undefined) { app.dispatch({ do: "unset", side, row }); event.stopPropagation(); }
    else if (/^[\d.]$/.test(event.key)) type(event.key);
    else return;
    event.preventDefault();
  };
  const down = (event: PointerEvent): void => {
    if (event.button) return;
    held.current = { x: event.clientX, from: n.value(row), moved: false };
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const h = held.current, by = h ? event.clientX - h.x : 0;
    if (!h || (!h.moved && Math.abs(by) <= STILL)) return;
    h.moved = true;
    const px = event.shiftKey ? by / FINE : by;
    set(rounded(input.log || !(input.high - input.low) ? h.from * 10 ** (px / DECADE) : h.from + px * (input.high - input.low) / LINE, input), true);
  };
  return <span ref={span} class={`num${big ? " big" : ""}${kind ? " of-" + kind : ""}${input.assumed ? " assumed" : ""}${guilty ? " guilty" : ""}`} data-row={row} role="spinbutton" tabIndex={0} aria-label={label}
    {...decimals(input)} aria-valuetext={shown} style={wide ? { minWidth: `${wide}ch` } : undefined}
    onKeyDown={keys} onPointerDown={down} onPointerMove={move} onPointerUp={() => { held.current = null; }} onPointerCancel={() => { held.current = null; }}
    onDblClick={() => type(shown)} onPointerEnter={() => wash(app, row)} onPointerLeave={() => wash(app, null)} onFocus={() => wash(app, row)} onBlur={() => wash(app, null)}>{shown}</span>;
}

/* Short for its place: the counted thing is named by the symbol above, a billion is no byte. */
export function terse(text: string, unit: string): string {
  if (unit === "1") return text.replace(/ B$/, " bn");
  if (unit === "FLOP/token") return text.replace(/ FLOP\/token$/, "");
  return unit === "token" ? text.replace(/ tokens?$/, "") : unit === "B/token" ? text.replace("/token", "") : text;
}

/* Numbers without an exponent, for those who cannot read one. */
const decimals = (input: Input): object => ({ "aria-valuenow": decimal(input.value), "aria-valuemin": decimal(input.low), "aria-valuemax": decimal(input.high) });

const unitOfShown = (text: string): string => /[A-Za-z%].*$/.exec(text.trim())?.[0].replace(/\s+/g, "") ?? "";

/* What is computed: a click says why. */
export function Asked({ app, row, side = app.side, text, digits = 3, class: kind }: { app: App; row: string; side?: Side; text?: string; digits?: number; class?: string }) {
  const shown = text ?? app.numbers.write(row, digits), plain = /^\w+(\[\w+\])?$/.test(row);
  if (!plain) return <span class={kind}>{shown}</span>;
  return <button type="button" class={`asked ${kind ?? ""}`} data-row={row} data-why={row} aria-label={`${shown}: why?`}
    onClick={() => app.dispatch({ do: "why", of: row, side })} onPointerEnter={() => wash(app, row)} onPointerLeave={() => wash(app, null)}>{shown}</button>;
}

/* In a sentence: what can be given is dragged, what follows is asked. */
export function Value({ app, row }: { app: App; row: string }) {
  return app.numbers.input(row).free && !row.includes("[") ? <Num app={app} row={row} /> : <Asked app={app} row={row} class="plain" />;
}

/* The native slider below a number that stands alone, and in the bar of a phone. */
export function Slider({ app, row, side = app.side, name }: { app: App; row: string; side?: Side; name: string }) {
  const input = app.numbers.input(row);
  return <input type="range" min={0} max={1000} step={1} value={Math.round(place(input.value, input))} aria-label={name} aria-valuetext={app.numbers.write(row)}
    onKeyDown={event => {
      const by = ({ ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 } as Record<string, number>)[event.key];
      if (!by) return;
      event.preventDefault();
      app.dispatch({ do: "set", side, row, text: String(stepped(app.numbers.value(row), input, by * (event.shiftKey ? 0.1 : 0.02))) }, true);
    }}
    onInput={event => { app.dispatch({ do: "set", side, row, text: String(rounded(worth(Number(event.currentTarget.value), input), input)) }, true); }} />;
}
