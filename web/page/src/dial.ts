/* A number of an equation that is an input: drag it to change it, double-click to type it. */
import type { Moved } from "./inputs";
import type { Live } from "./live";
import { RANGES } from "./chapters";

const FACTOR = 240;                     // pixels for a factor of ten
const STILL = 3;                        // pixels that are a click yet

export function dials(element: HTMLElement, live: () => Live, moved: (m: Moved) => void, type: (name: string) => void): void {
  let held: { name: string; x: number; from: number; whole: boolean; dragged: boolean } | null = null;

  const inputAt = (target: EventTarget | null): string | null => {
    const index = (target as Element | null)?.closest?.("mn[data-of]")?.getAttribute("data-of");
    const of = index == null ? undefined : live().output(Number(index))?.of;
    return of !== undefined && live().inputOf(of) ? of : null;
  };
  const move = (event: PointerEvent, done: boolean): void => {
    if (!held) return;
    const input = live().inputOf(held.name);
    if (!input) return;
    let value = held.from * Math.pow(10, (event.clientX - held.x) / FACTOR);
    value = Math.min(input.most, Math.max(input.least, held.whole ? Math.max(1, Math.round(value)) : Number(value.toPrecision(3))));
    moved({ name: held.name, value, text: String(value), done });
  };

  element.addEventListener("pointerover", event => {
    const number = (event.target as Element).closest?.("mn[data-of]") as HTMLElement | null;
    if (number) number.classList.toggle("dial", inputAt(event.target) !== null);
  });
  element.addEventListener("pointerdown", event => {
    const name = inputAt(event.target), input = name === null ? undefined : live().inputOf(name);
    if (!name || !input || !(input.now > 0)) return;
    const whole = RANGES[name]?.[2] ?? (Number.isInteger(input.now) && (input.unit === "1" || input.unit === "token"));
    held = { name, x: event.clientX, from: input.now, whole, dragged: false };
  });
  element.addEventListener("pointermove", event => {
    if (!held || (!held.dragged && Math.abs(event.clientX - held.x) <= STILL)) return;
    if (!held.dragged) element.setPointerCapture(event.pointerId);      // not before: a click keeps its target
    held.dragged = true;
    move(event, false);
  });
  const end = (event: PointerEvent): void => {
    if (held?.dragged) {
      move(event, true);
      element.addEventListener("click", late => late.stopPropagation(), { capture: true, once: true });
      setTimeout(() => element.click());          // takes the listener away where no click follows
    }
    held = null;
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", () => { held = null; });
  element.addEventListener("dblclick", event => {
    const name = inputAt(event.target);
    if (name) type(name);
  });
}
