/* Why a number is what it is: algebra, numbers, source, and the inputs that move it most. Opens below
 * the line that it was asked from, with the words that the number was computed with. */
import { useEffect, useRef } from "preact/hooks";
import type { App } from "./app";
import type { Reply } from "./engine";
import { Live } from "./live";
import { chosen, front } from "./model_asks";
import { Num } from "./num";
import { command, sideOf, words } from "./state";

let live: Live | null = null;

/* The words behind the numbers on the screen. */
export function whyWords(app: App): string[] {
  const { state } = app, side = state.why?.side ?? app.side;
  if (side === "deck") return words(app.shown());
  const of = words(sideOf(state, side)), point = state.entry === "model" && side === "A" ? chosen(front(app, "A").points, state.speed) : null;
  return point && state.why && !app.numbers.live.has(state.why.of) ? point.words : of;
}

export function WhyPanel({ app }: { app: App }) {
  const why = app.state.why, close = useRef<HTMLButtonElement>(null), back = useRef<HTMLElement | null>(null);
  useEffect(() => {
    if (!why) { back.current?.focus(); back.current = null; return; }
    back.current ??= document.activeElement as HTMLElement;
    close.current?.focus({ preventScroll: true });
    document.getElementById("why")?.scrollIntoView({ block: "nearest" });
  }, [why?.of]);
  if (!why) return null;
  const list = whyWords(app), reply: Reply = app.engine.ask(["why", why.of, ...list]);
  live ??= new Live(app.engine, 3);
  const answer = reply.answer ?? {}, elastic = Object.entries((answer.elasticities ?? {}) as Record<string, number>).filter(e => Math.abs(e[1]) > 0.001 && !e[0].includes("[")).slice(0, 3);
  const good = !reply.error && live.openWhat(list, [why.of, ...elastic.map(e => e[0])]), row = good ? live.row(why.of) : undefined, opened = live;
  const numbers = (row?.numbers ?? "").replace(/<mn data-of="(\d+)"><\/mn>/g, (_, i) => `<mn>${app.engine.write(opened.number(Number(i)), opened.output(Number(i)).unit)}</mn>`);
  const value = typeof answer.value === "number" ? app.engine.write(answer.value, answer.unit ?? opened.unit(why.of), 4) : "";
  return <aside id="why" aria-label={`why ${why.of.replace(/_/g, " ")}`}><button type="button" class="word close" ref={close} onClick={() => app.dispatch({ do: "close" })}>close</button>
    <h2>{why.of.replace(/_/g, " ")}{value && <> = <b class="is">{value}</b></>}</h2>
    {reply.error ? <p>{reply.error.what}. {reply.error.hint}</p> : <>
      <p>{row?.meaning}{row?.source ? <span class="note"> ({row.source})</span> : null}</p>
      {row?.formula && <div class="algebra"><math display="block" dangerouslySetInnerHTML={{ __html: `${row.symbol?.includes("word") ? "" : row.symbol ?? ""}<mo>=</mo>${row.formula}` }} /><math display="block" dangerouslySetInnerHTML={{ __html: `<mo>=</mo>${numbers}` }} /></div>}
      {answer.binds && <p>What binds: {String(answer.binds).replace(/_/g, " ")}.</p>}
      {answer.conclusion && <p>So: {answer.conclusion}{answer.flips?.input ? `; it flips at ${String(answer.flips.input).replace(/_/g, " ")}${typeof answer.flips.at === "number" ? ` = ${app.engine.write(answer.flips.at, answer.flips.unit ?? "1")}` : ""}` : ""}.</p>}
      {elastic.length > 0 && <table><thead><tr><th scope="col">1 % more of</th><th scope="col">now</th><th scope="col">moves it by</th><th scope="col">source</th></tr></thead><tbody>{elastic.map(([name, e]) => <tr key={name}><th scope="row">{name.replace(/_/g, " ")}</th>
        <td>{app.numbers.has(name) && app.numbers.input(name).free ? <Num app={app} row={name} side={why.side} /> : opened.inputOf(name) ? app.engine.write(opened.inputOf(name)!.now, opened.inputOf(name)!.unit) : ""}</td><td>{e > 0 ? "+" : "−"}{Math.abs(e).toPrecision(3)} %</td><td class="note">{opened.inputOf(name)?.source ?? ""}</td></tr>)}</tbody></table>}
      <p class="note"><code>{command(`why ${why.of}`, list)}</code></p></>}
  </aside>;
}
