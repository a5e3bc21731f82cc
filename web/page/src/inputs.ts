/* Sliders and fields: each input with its symbol, a value with a unit, and a way back. */
import { RANGES } from "./chapters";
import type { BoardInput, Engine } from "./engine";
import { escape } from "./escape";
import type { Live } from "./live";

const STEPS = 1000, SPAN = 30;

export interface Moved { name: string; value: number; text: string; done: boolean }

/* Where a slider ends: what the page says, else around the value, within what the row allows. */
function rangeOf(input: BoardInput): [number, number, boolean] {
  const known = RANGES[input.name];
  const whole = (input.unit === "1" || input.unit === "token") && Number.isInteger(input.value) && input.value >= 1;
  let [low, high, counts] = known ?? (input.value > 0 ? [input.value / SPAN, input.value * SPAN, whole] : [input.least, Math.min(input.most, 1), false]);
  low = Math.max(low, input.least);
  high = Math.min(high, input.most);
  return [Math.min(low, input.value), Math.max(high, input.value, low * 1.01), counts];
}

/* Log where the range asks for it. */
const place = (v: number, low: number, high: number): number =>
  low > 0 && high / low > 8 ? STEPS * Math.log(Math.max(v, low) / low) / Math.log(high / low) : STEPS * (v - low) / (high - low);
const worth = (at: number, low: number, high: number): number =>
  low > 0 && high / low > 8 ? low * Math.pow(high / low, at / STEPS) : low + (high - low) * at / STEPS;

export class Inputs {
  constructor(private readonly element: HTMLElement, private readonly engine: Engine,
              private readonly moved: (m: Moved) => void, private readonly reset: (name: string) => void) {
    element.addEventListener("keydown", event => { this.byKey = event.key.startsWith("Arrow"); });
    element.addEventListener("pointerdown", () => { this.byKey = false; });
    element.addEventListener("input", event => this.slid(event.target as HTMLInputElement, false));
    element.addEventListener("change", event => {
      const target = event.target as HTMLInputElement;
      if (target.type === "range") this.slid(target, true);
      else this.typed(target);
    });
    element.addEventListener("click", event => {
      const name = (event.target as HTMLElement).closest<HTMLElement>("[data-reset]")?.dataset.reset;
      if (name) this.reset(name);
    });
  }

  private byKey = false;

  private slid(target: HTMLInputElement, done: boolean): void {
    const box = target.closest<HTMLElement>(".input");
    if (target.type !== "range" || !box) return;
    const [low, high, whole] = JSON.parse(box.dataset.range!) as [number, number, boolean];
    let value = worth(Number(target.value), low, high);
    value = whole ? Math.max(1, Math.round(value)) : Number(value.toPrecision(3));
    const before = Number(box.dataset.now), up = Number(target.value) - place(before, low, high);
    if (this.byKey && !done && whole && value === before && Math.abs(up) > 1e-6) {   // a key moves by one at least
      value = Math.max(1, before + Math.sign(up));
      target.value = String(place(value, low, high));
    }
    this.show(box, value);
    this.moved({ name: box.dataset.name!, value, text: String(value), done });
  }

  private typed(target: HTMLInputElement): void {
    const box = target.closest<HTMLElement>(".input");
    if (!box || target.type !== "text") return;
    const text = target.value.trim().replace(/(\d),(?=\d{3})/g, "$1");
    const value = this.engine.read(text, box.dataset.unit!);
    const wrong = box.querySelector<HTMLElement>(".wrong")!;
    wrong.textContent = typeof value === "string" ? value : "";
    wrong.hidden = typeof value !== "string";
    target.setAttribute("aria-invalid", String(typeof value === "string"));
    if (typeof value === "number") this.moved({ name: box.dataset.name!, value, text: /^[\d.eE+-]+$/.test(text) ? text : text.replace(/\s+/g, ""), done: true });
  }

  private show(box: HTMLElement, value: number): void {
    box.dataset.now = String(value);
    const field = box.querySelector<HTMLInputElement>("input[type=text]")!;
    if (document.activeElement === field) return;
    field.value = this.engine.write(value, box.dataset.unit!, 6, true);
    field.style.width = `${Math.max(8, field.value.length + 1.5)}ch`;       // what it holds, no more
  }

  /* What is there, in the order of names; kept where nothing changed, so that a drag goes on. */
  open(live: Live, names: string[], isGiven: (name: string) => boolean, follows: (name: string) => number | undefined = () => undefined): void {
    const shown = names.flatMap(name => { const input = live.inputOf(name); return input ? [input] : []; });
    const key = shown.map(input => input.name).join(" ");
    if (this.element.dataset.key !== key) {
      this.element.dataset.key = key;
      this.element.innerHTML = shown.map(input => {
        const id = `${this.element.id}-${input.name.replace(/\W/g, "-")}`;
        return `<div class="input" data-name="${input.name}" data-unit="${input.unit}">
          <div class="head"><label for="${id}" data-row="${input.name}">${input.symbol.includes("word") ? "" : `<math>${input.symbol}</math>`}${input.name.replace(/_/g, " ")}</label>
          <input type="text" id="${id}" aria-label="${input.name.replace(/_/g, " ")}" aria-describedby="${id}-wrong" spellcheck="false" autocomplete="off"><button type="button" class="reset" data-reset="${input.name}" aria-label="back to the default" title="back to the default">×</button></div>
          <input type="range" min="0" max="${STEPS}" step="1" aria-label="${input.name.replace(/_/g, " ")}: ${escape(input.meaning)}">
          <div class="wrong" id="${id}-wrong" role="alert" hidden></div></div>`;
      }).join("");
    }
    shown.forEach((input, i) => {
      const box = this.element.children[i] as HTMLElement, slider = box.querySelector<HTMLInputElement>("input[type=range]")!;
      const range = rangeOf(input);
      box.toggleAttribute("data-given", isGiven(input.name));
      box.dataset.range = JSON.stringify(range);
      const now = follows(input.name) ?? input.now;
      box.title = follows(input.name) === undefined ? "" : "follows from the context until you set it";
      this.show(box, now);
      if (document.activeElement !== slider) slider.value = String(place(now, range[0], range[1]));
      slider.setAttribute("aria-valuetext", this.engine.write(now, input.unit, 6));
    });
  }
}
