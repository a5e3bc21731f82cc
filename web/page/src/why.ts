/* The answer to `why`: algebra, numbers, source, and up to three inputs that move it most. */
import type { Engine } from "./engine";
import { escape } from "./escape";
import { Inputs, type Moved } from "./inputs";
import { fillNumbers } from "./lines";
import { Live } from "./live";
import { command, given, type Scenario, words } from "./state";

const SLOT = 3;

export class Why {
  private of = "";
  private readonly live: Live;
  private inputs: Inputs | null = null;
  private back: HTMLElement | null = null;
  private chosen = { of: "", sliders: [] as string[] };

  constructor(private readonly element: HTMLElement, private readonly engine: Engine, private readonly moved: (m: Moved) => void,
              private readonly reset: (name: string) => void) {
    this.live = new Live(engine, SLOT);
    element.addEventListener("click", event => {
      const target = event.target as HTMLElement;
      if (target.closest(".close")) this.close();
    });
    element.addEventListener("keydown", event => { if (event.key === "Escape") this.close(); });
  }

  get shown(): boolean { return !this.element.hidden; }
  close(): void { this.element.hidden = true; document.body.classList.remove("asking"); this.of = ""; this.back?.focus(); }

  open(of: string, scenario: Scenario): void {
    this.chosen = { of: "", sliders: [] };
    if (this.element.hidden) this.back = document.activeElement as HTMLElement;
    this.of = of;
    this.render(scenario);
    this.element.hidden = false;
    document.body.classList.add("asking");
    this.element.querySelector<HTMLElement>(".close")?.focus();
  }

  update(scenario: Scenario): void { if (this.shown && this.of) this.render(scenario); }

  private render(scenario: Scenario): void {
    const reply = this.engine.ask(["why", this.of, ...words(scenario)]);
    if (reply.error) {
      this.element.innerHTML = `<button type="button" class="close" aria-label="close">×</button><p>${escape(reply.error.what)}</p><p class="source">${escape(reply.error.hint)}</p>`;
      return;
    }
    const answer = reply.answer, elastic = Object.entries((answer.elasticities ?? {}) as Record<string, number>);
    this.live.openWhat(scenario, [this.of, ...elastic.map(e => e[0])]);
    const row = this.live.row(this.of);
    const still = this.chosen.of === this.of && this.chosen.sliders.every(name => this.live.inputOf(name));
    const sliders = still && this.chosen.sliders.length ? this.chosen.sliders : elastic.filter(([name]) => { const input = this.live.inputOf(name); return input && !name.includes("["); })
      .filter(([, e]) => Math.abs(e) > 0.001).slice(0, 3).map(e => e[0]);
    this.chosen = { of: this.of, sliders };             // the same while they move
    const terms = ((answer.terms ?? []) as { expression: string; term: number }[]).map(t => [t.expression, t.term] as const);
    /* another choice of a server may number the outputs anew */
    const places = [...(row?.numbers ?? "").matchAll(/data-of="(\d+)"/g)].map(found => found[1]).join(" ");
    const before = `${sliders.join(" ")} ${this.of} ${places}`;
    if (this.element.dataset.key === before && this.inputs) {
      const value = this.element.querySelector(".is");
      if (value) value.textContent = this.engine.write(answer.value, answer.unit, 4);
      fillNumbers(this.element, this.live, this.engine);
      this.inputs.open(this.live, sliders, name => given(scenario, name) !== undefined);
      return;
    }
    this.element.dataset.key = before;
    this.element.innerHTML = `<button type="button" class="close" aria-label="close">×</button>
      <h2>${row?.symbol ? `<math>${row.symbol}</math> = ` : ""}<span class="is">${escape(this.engine.write(answer.value, answer.unit, 4))}</span></h2>
      <p>${escape(this.of.replace(/_/g, " "))}</p>
      <p class="meaning">${escape(answer.meaning ?? "")}</p><p class="source">${escape(answer.source ?? "")}</p>
      ${row?.formula ? `<div class="formula"><math><mo>=</mo>${row.formula}</math></div><div class="formula"><math><mo>=</mo>${row.numbers}</math></div>` : ""}
      ${terms.length > 1 ? `<h3>${answer.binds ? "operands" : "terms"}</h3><table>${terms.slice(0, 8).map(([name, v]) =>
        `<tr><td><button type="button" data-why="${escape(name)}">${escape(name.replace(/_/g, " "))}</button></td><td>${escape(this.engine.write(v, answer.unit, 3))}</td><td>${name === answer.binds ? "binds" : ""}</td></tr>`).join("")}</table>` : ""}
      ${sliders.length ? `<h3>most sensitive to</h3><div id="why-inputs"></div>` : ""}
      ${elastic.length ? `<h3>change for 1 % more of</h3><table>${elastic.filter(([, e]) => Math.abs(e) >= 0.0005).slice(0, 8).map(([name, e]) =>
        `<tr><td>${escape(name.replace(/_/g, " "))}</td><td>${e > 0 ? "+" : "−"}${Math.abs(e).toFixed(3)} %</td><td class="source">${escape(this.live.inputOf(name)?.source ?? "")}</td></tr>`).join("")}</table>` : ""}
      <h3>command line</h3><p class="source"><code>${escape(command("why " + this.of, scenario))}</code></p>`;
    fillNumbers(this.element, this.live, this.engine);
    const place = this.element.querySelector<HTMLElement>("#why-inputs");
    this.inputs = place ? new Inputs(place, this.engine, this.moved, this.reset) : null;
    this.inputs?.open(this.live, sliders, name => given(scenario, name) !== undefined);
  }
}
