/* An equation as the lecture writes it: names, symbols, the numbers under their symbols, results. */
import type { App } from "./app";
import type { Equation, Factor, Term } from "./chapters";
import { Asked, Num, terse } from "./num";
import { three } from "./plain";

const symbolOf = (app: App, factor: Factor): string =>
  typeof factor === "number" ? `<mn>${factor}</mn>`
    : typeof factor === "string" ? app.numbers.symbol(factor) || `<mtext>${factor.replace(/_/g, " ").replace(/\[.*\]/, "")}</mtext>`
      : `<mo>(</mo>${factor.sum.map(row => app.numbers.symbol(row) || `<mtext>${row.replace(/_/g, " ")}</mtext>`).join("<mo>+</mo>")}<mo>)</mo>`;

const Math_ = ({ inside, block }: { inside: string; block?: boolean }) => <math display={block ? "block" : undefined} dangerouslySetInnerHTML={{ __html: inside }} />;

export const worthOf = (app: App, factor: Factor): number =>
  typeof factor === "number" ? factor : typeof factor === "string" ? app.numbers.value(factor) : factor.sum.reduce((sum, row) => sum + app.numbers.value(row), 0);

/* What the term has beside its factors: for a real model what the lecture leaves out. */
export function beyond(app: App, term: Term): number {
  const product = term.over.reduce((all: number, f) => all * worthOf(app, f), 1) / term.under.reduce((all: number, f) => all * worthOf(app, f), 1);
  const result = app.numbers.value(term.of);
  return term.also && product > 0 && Math.abs(result / product - 1) > 0.01 ? result / product : 1;
}

/* What a symbol takes, in figures: its letters, small ones below the line too. */
const symbolWidth = (app: App, factor: Factor): number => 1 + 1.2 * symbolOf(app, factor).replace(/<[^>]*>|&[^;]*;/g, "").length;
/* Wide enough for its own number and its symbol, so that they stand under each other and nothing moves. */
const width = (app: App, factor: Factor): number => Math.max(symbolWidth(app, factor), typeof factor === "number" ? 1.2 : typeof factor === "string" ? Math.max(4.5, terse(app.numbers.write(factor), app.numbers.unit(factor)).length + 0.6) : 11);

function Number_({ app, factor, kind }: { app: App; factor: Factor; kind: string }) {
  if (typeof factor === "number") return <>{factor}</>;
  if (typeof factor === "string") {
    const free = app.numbers.input(factor).free;
    return free || app.known.row(factor) && !factor.includes("[") && !/^(copies_sent|feistel_output|machine_balance|inference_tokens|rl_efficiency)$/.test(factor) ? <Num app={app} row={factor} kind={kind} /> : <Asked app={app} row={factor} class={`of-${kind}`} text={terse(app.numbers.write(factor), app.numbers.unit(factor))} />;
  }
  return <>{factor.sum.map((row, i) => <span key={row}>{i > 0 && "\u2009+\u2009"}<Num app={app} row={row} kind={kind} /></span>)}</>;
}

/* A fraction of symbols or of numbers; both have the same columns. */
function Fraction({ app, term, numbers }: { app: App; term: Term; numbers: boolean }) {
  const side = (factors: readonly Factor[]) => <span class="factors">{factors.map((factor, i) => <span class="factor" key={i} style={{ minWidth: `${width(app, factor)}ch` }}>
    {numbers ? <Number_ app={app} factor={factor} kind={term.kind} /> : <Math_ inside={symbolOf(app, factor)} />}</span>)}</span>;
  const times = beyond(app, term);
  return <span class={`fraction of-${term.kind}`}><span class="over-under">{side(term.over)}{term.under.length > 0 && <><span class="rule" />{side(term.under)}</>}</span>
    {times !== 1 && <span class="also">{numbers ? `× ${times.toPrecision(3)}` : <Math_ inside={term.also!} />}</span>}</span>;
}

/* Of max(a, b + c) the side with the larger sum binds, of a sum its largest term. */
function binding(app: App, equation: Equation): Set<Term> {
  const groups: Term[][] = [[]];
  for (const item of equation.items) if (item === ",") groups.push([]); else if (typeof item !== "string") groups[groups.length - 1].push(item);
  const of = (list: Term[]): number => list.reduce((sum, t) => sum + valueOf(app, t), 0);
  if (equation.binds === "max") return new Set(groups.reduce((a, b) => of(b) > of(a) ? b : a));
  if (equation.binds === "most") return new Set([groups[0].reduce((a, b) => valueOf(app, b) > valueOf(app, a) ? b : a)]);
  return new Set();
}
export function valueOf(app: App, term: Term): number {
  if (app.numbers.has(term.of)) return app.numbers.value(term.of);
  return term.over.reduce((all: number, f) => all * worthOf(app, f), 1) / term.under.reduce((all: number, f) => all * worthOf(app, f), 1);
}

/* One unit across a line of results. */
function written(app: App, equation: Equation, term: Term): string {
  if (!app.numbers.has(term.of)) { const v = valueOf(app, term); return equation.of && app.numbers.has(equation.of) && app.numbers.unit(equation.of) === "USD/token" ? app.numbers.price(v) : String(Number(v.toPrecision(3))); }
  const unit = app.numbers.unit(term.of), v = app.numbers.value(term.of);
  if (unit !== "s") return app.numbers.write(term.of);
  const terms = equation.items.filter((item): item is Term => typeof item !== "string"), most = Math.max(...terms.map(t => valueOf(app, t)));
  if (!Number.isFinite(most) || most <= 0) return app.numbers.write(term.of);
  const [size, name] = most < 1e-3 ? [1e-6, "us"] : most < 1 ? [1e-3, "ms"] : [1, "s"];
  return `${three(v / size)} ${name}`;
}

const Result = ({ app, equation, term, binds }: { app: App; equation: Equation; term: Term; binds: boolean }) =>
  <Asked app={app} row={app.numbers.has(term.of) ? term.of : "-"} text={written(app, equation, term)} class={`result of-${term.kind}${binds ? " binds" : ""}`} />;

/* The whole once as one line of mathematics, for readers. */
function whole(app: App, equation: Equation): string {
  const side = (list: readonly Factor[]): string => `<mrow>${list.map(f => symbolOf(app, f)).join("<mo>&#x2062;</mo>")}</mrow>`;
  const items = equation.items.map(item => typeof item === "string" ? `<mo>${item.replace("<", "&lt;").replace(">", "&gt;")}</mo>` : item.under.length ? `<mfrac>${side(item.over)}${side(item.under)}</mfrac>` : side(item.over)).join("");
  return `${equation.of ? (equation.symbol || app.numbers.symbol(equation.of) || `<mtext>${equation.of.replace(/_/g, " ")}</mtext>`) + "<mo>=</mo>" : ""}${items}`;
}

export function EquationLines({ app, equation, narrow }: { app: App; equation: Equation; narrow: boolean }) {
  const binds = binding(app, equation), left = equation.of && (equation.symbol || app.numbers.symbol(equation.of) || `<mtext>${equation.of.replace(/_/g, " ").replace(/\[.*\]/, "")}</mtext>`);
  const terms = equation.items.filter((item): item is Term => typeof item !== "string");
  const spoken = <math class="spoken" dangerouslySetInnerHTML={{ __html: whole(app, equation) }} />;
  if (narrow) return <div class="equation stacked">{spoken}
    {left && <div class="stack-head"><span aria-hidden="true"><Math_ inside={left + "<mo>=</mo>"} /> {equation.open ? `${equation.open} of` : terms.length > 1 ? "sum of" : ""}</span><Asked app={app} row={equation.of} class="result total" /></div>}
    {terms.map((term, i) => <div class="stack" key={i}><div class="stack-name"><span class={`of-${term.kind}`}>{term.name}</span><Result app={app} equation={equation} term={term} binds={binds.has(term)} /></div>
      {!(term.over.length === 1 && term.over[0] === term.of && !app.numbers.input(term.of).free && term.kind === "result") && <><span aria-hidden="true"><Fraction app={app} term={term} numbers={false} /></span><Fraction app={app} term={term} numbers={true} /></>}</div>)}</div>;
  return <div class="equation wide">{spoken}<div class="eq">
    {left && <><span /><span class="eq-left" aria-hidden="true"><Math_ inside={left} /><span class="op">=</span></span><span class="eq-left"><span class="op" aria-hidden="true">=</span></span><span class="eq-left"><Asked app={app} row={equation.of} class="result total" /><span class="op" aria-hidden="true">=</span></span></>}
    {equation.items.map((item, i) => typeof item === "string"
      ? <><span key={`a${i}`} /><span key={`b${i}`} aria-hidden="true" class={`op${/[()]/.test(item) ? " tall" : ""}`}>{item}</span><span key={`c${i}`} aria-hidden="true" class={`op${/[()]/.test(item) ? " tall" : ""}`}>{item}</span><span key={`d${i}`} aria-hidden="true" class="op">{item}</span></>
      : <><span key={`a${i}`} class={`eq-name of-${item.kind}`}>{item.name}</span>
        <span key={`b${i}`} class="eq-cell" aria-hidden="true">{<Fraction app={app} term={item} numbers={false} />}</span>
        <span key={`c${i}`} class="eq-cell">{item.over.length === 1 && item.over[0] === item.of && !app.numbers.input(item.of).free && item.kind === "result" ? null : <Fraction app={app} term={item} numbers={true} />}</span>
        <span key={`d${i}`} class="eq-cell"><Result app={app} equation={equation} term={item} binds={binds.has(item)} /></span></>)}
  </div></div>;
}
