/* The board's equations: symbols, below them the same line with its numbers, what binds marked. */
import type { Engine } from "./engine";
import type { Live } from "./live";

const math = (inside: string, block = false): string => `<math${block ? ' display="block"' : ""}>${inside}</math>`;

/* A row without a letter goes by its name, which may wrap. */
const symbolOf = (name: string, symbol: string): string =>
  symbol.includes("word") ? `<i data-row="${name}">${name.replace(/_/g, " ")}</i>` : math(symbol);

/* Of max(a, b, ...) the operand whose number is the largest, in both lines. */
function markBinding(symbols: Element | null, numbers: Element, live: Live): void {
  for (const row of numbers.querySelectorAll("mrow")) {
    const head = row.firstElementChild;
    if (head?.tagName !== "mi" || (head.textContent !== "max" && head.textContent !== "min")) continue;
    const kids = [...row.children].filter(kid => kid.hasAttribute("data-of"));
    if (kids.length < 2) continue;
    const worth = (kid: Element): number => live.number(Number((kid as HTMLElement).getAttribute("data-of")));
    const most = head.textContent === "max";
    const binding = kids.reduce((a, b) => (most ? worth(b) > worth(a) : worth(b) < worth(a)) ? b : a);
    for (const kid of kids) kid.classList.toggle("binds", kid === binding);
    for (const kid of kids) {
      const of = live.output(Number(kid.getAttribute("data-of"))).of;
      symbols?.querySelectorAll(`[data-row="${CSS.escape(of)}"]`).forEach(s => s.classList.toggle("binds", kid === binding));
    }
  }
}

export function fillNumbers(element: Element, live: Live, engine: Engine): void {
  for (const text of element.querySelectorAll("mn[data-of]")) {
    const index = Number(text.getAttribute("data-of")), output = live.output(index);
    const written = engine.write(live.number(index), output.unit);
    if (text.textContent !== written) text.textContent = written;
  }
}

export class Lines {
  private names: string[] = [];

  constructor(private readonly element: HTMLElement, private readonly engine: Engine) {}

  open(live: Live, names: string[]): void {
    this.names = names.filter(name => live.row(name));
    this.element.innerHTML = this.names.map(name => {
      const row = live.row(name)!;
      const bare = !row.formula;
      return `<div class="line" data-name="${name}"><div class="left">${symbolOf(name, row.symbol ?? "")}</div>
        <div class="formula">${bare ? `<span class="note">given</span>` : math("<mo>=</mo>" + row.formula, true).replace(' display="block"', "")}</div>
        <div class="value" role="button" tabindex="0" data-why="${name}" aria-label="why ${name.replace(/_/g, " ")}"></div>
        ${row.numbers ? `<div class="numbers">${math("<mo>=</mo>" + row.numbers)}</div>` : ""}</div>`;
    }).join("");
  }

  fill(live: Live, other: Live | null): void {
    for (const line of this.element.querySelectorAll<HTMLElement>(".line")) {
      const name = line.dataset.name!, numbers = line.querySelector(".numbers");
      if (numbers) {
        fillNumbers(numbers, live, this.engine);
        markBinding(line.querySelector(".formula"), numbers, live);
      }
      const value = line.querySelector(".value")!;
      const html = `= ${live.write(name)}` + (other?.has(name) ? `<span class="other">B ${other.write(name)}</span>` : "");
      if (value.innerHTML !== html) value.innerHTML = html;
    }
  }
}
