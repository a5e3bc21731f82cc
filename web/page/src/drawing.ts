/* Pictures on the page. The engine draws them (report/picture.h), as it does for a report and for --plot;
 * here they follow the hand: tips, keys, drags, the table, files to take away.
 *
 *     const picture = mountPicture(host, engine, { drag: (x, y, done) => ... });
 *     picture.update(description);
 *     picture.remove();
 *
 * All pictures share the listeners of the document and one observer of sizes; the last to be removed takes
 * them along. */
import { commas } from "./plain";
import type { Engine } from "./engine";

export type Kind = "compute" | "weights" | "cache" | "network" | "host" | "result";
export type Scenario = "A" | "B" | "C" | "D";
/* A range that is not given is that of the values; `time`: seconds, with the ticks of a clock. */
export interface Axis { name: string; unit: string; log: boolean; time?: boolean; from?: number | null; to?: number | null }
export interface Line {
  name: string;
  kind: Kind;
  role: "term" | "bound" | "predicted" | "sum" | "result";
  of?: Scenario;
  shade?: 0 | 1 | 2 | 3;                // of a tier, from near to far
  dots?: boolean;
  points: ([number, number] | null)[];  // null: a gap
  band?: [number, number, number][];    // x, low, high
}
export interface Part { kind: Kind; value: number; name?: string; beyond?: boolean }
/* A total begins at 0, another bar where the one before it ended, unless `from` says it. */
export interface Bar {
  name: string;
  parts?: Part[];
  total?: boolean;
  role?: "term" | "bound";
  from?: number;
  band?: [number, number];
  measured?: number;
  text?: string;
  range?: [number, number];             // an interval in the place of parts: 90 %, 50 %, before, the middle
  inner?: [number, number];
  prior?: [number, number];
  middle?: number;
}
export interface Measured { x: number; y: number; of?: Scenario; what?: string; source?: string; date?: string; near?: boolean }
export interface Mark { name: string; x: number; y: number; sets?: string }
export interface Area { name: string; of?: "x" | "y"; from?: number; to?: number }
export interface Table { columns: string[]; rows: (string | number | null)[][] }
export interface Panel {
  title?: string;
  x: Axis;
  y?: Axis;                             // bars have none
  lines?: Line[];
  bars?: Bar[];
  points?: Measured[];
  marks?: Mark[];
  areas?: Area[];
  here?: { x: number; y: number; sets?: string; name?: string };
  table?: Table;
  key?: boolean;
}
export interface Picture extends Omit<Panel, "x"> { title: string; x?: Axis; columns?: number; panels?: Panel[] }

export interface Handlers {
  height?: number;                      // at least, px
  drag?(x: number, y: number, done: boolean): void;             // anywhere in the frame, where `here` is
  mark?(name: string, x: number, done: boolean): void;          // a mark that sets something
}
export interface Mounted { readonly seen: boolean; update(picture: Picture): void; remove(): void }

/* The renderer takes numbers up to here. What a reader has driven beyond has no place on an axis, and is
 * left out; bars and axes end here. */
const LARGEST = 1e30;
const bounded = <T,>(of: T): T => (typeof of === "number" ? Math.max(-LARGEST, Math.min(LARGEST, of)) : Array.isArray(of) ? of.map(bounded)
  : of && typeof of === "object" ? Object.fromEntries(Object.entries(of).map(([key, value]) => [key, bounded(value)])) : of) as T;
const fits = (...numbers: number[]): boolean => numbers.every(v => Math.abs(v) <= LARGEST);
/* Figures of a screen that a moving hand has just opened are not there yet: the picture waits for them. */
const known = (of: unknown): boolean => typeof of === "number" ? !Number.isNaN(of) : !of || typeof of !== "object" || Object.values(of).every(known);
/* The reader's point stays in its picture: an axis that ends before it ends at the next round number beyond. */
function reaching(axis: Axis, value: number): Axis {
  const { from, to } = axis;
  const beyond = (v: number): number => { const power = 10 ** Math.floor(Math.log10(v)); return power * [1, 2, 5, 10].find(n => n * power >= v)!; };
  return { ...axis, ...(typeof to === "number" && value > to ? { to: beyond(value) } : {}),
    ...(typeof from === "number" && value < from && value > 0 && axis.log ? { from: beyond(value) / 10 } : {}) };
}
function within<P extends Partial<Panel>>(of: P): P {
  const { lines, marks, here } = of, x = bounded(of.x), y = bounded(of.y), beyond = (p: Line["points"][number]): boolean => p !== null && !fits(p[0], p[1]);
  return { ...of, ...(of.bars && { bars: bounded(of.bars) }), ...(x && { x }), ...(y && { y }),
    ...(here && fits(here.x, here.y) ? { here, ...(x && { x: reaching(x, here.x) }), ...(y && { y: reaching(y, here.y) }) } : { here: undefined }),
    lines: lines?.map(line => line.points.some(beyond) ? { ...line, points: line.points.filter(p => !beyond(p)) } : line),
    marks: marks?.filter(mark => fits(mark.x, mark.y)) };
}
export const drawable = (picture: Picture): Picture => ({ ...within(picture), ...(picture.panels ? { panels: picture.panels.map(within) } : {}) });

/* ---- frames: pixels and values ------------------------------------------------------------------ */

interface Scale { from: number; to: number; log: boolean }
interface Frame { left: number; top: number; width: number; height: number; x: Scale; y: Scale | null; of: Panel }
interface Spot { x: number; y: number; lines: string[]; group: number }

const scaleOf = (text: string | undefined): Scale | null => {
  if (!text) return null;
  const [from, to, kind] = text.split(" ");
  return { from: Number(from), to: Number(to), log: kind === "log" };
};
const shareOf = (s: Scale, v: number): number =>
  s.log ? Math.log(v / s.from) / Math.log(s.to / s.from) : (v - s.from) / (s.to - s.from);
const valueAt = (s: Scale, share: number): number => {
  const t = Math.max(0, Math.min(1, share));
  return s.log ? s.from * Math.pow(s.to / s.from, t) : s.from + (s.to - s.from) * t;
};

/* Three digits, as the engine writes them at bars. */
function written(v: number): string {
  const size = Math.abs(v);
  if (v === 0) return "0";
  if (size < 1e-3 || size >= 1e6) return v.toExponential(2).replace(/\.?0+e/, "e").replace(/e\+?(-?)(\d+)/, "·10^$1$2");
  return commas(size >= 1000 ? Math.round(v) : Number(v.toPrecision(3)), 6);
}
const withUnit = (v: number, axis: Axis | undefined): string => axis?.unit ? `${written(v)} ${axis.unit}` : written(v);
const xWords = (v: number, axis: Axis | undefined): string => axis?.name ? `${axis.name}: ${withUnit(v, axis)}` : withUnit(v, axis);

/* Everything one can point at, in pixels. */
function spotsOf(frame: Frame): Spot[] {
  const { x: xs, y: ys, of } = frame, spots: Spot[] = [];
  const at = (x: number, y: number) => ({ x: frame.left + frame.width * shareOf(xs, x), y: frame.top + frame.height * (1 - shareOf(ys!, y)) });
  const inside = (p: { x: number; y: number }): boolean =>
    p.x >= frame.left - 1 && p.x <= frame.left + frame.width + 1 && p.y >= frame.top - 1 && p.y <= frame.top + frame.height + 1;
  if (!ys) return spots;
  (of.lines ?? []).forEach((line, group) => {
    for (const point of line.points) {
      const p = point && at(point[0], point[1]);
      if (p && inside(p)) spots.push({ ...p, group, lines: [`${line.name} ${withUnit(point[1], of.y)}`, xWords(point[0], of.x)] });
    }
  });
  (of.points ?? []).forEach(dot => {
    const p = at(dot.x, dot.y);
    if (inside(p))
      spots.push({ ...p, group: (of.lines ?? []).length, lines: [`${dot.what || "measured"} ${withUnit(dot.y, of.y)}`,
        [xWords(dot.x, of.x), dot.source, dot.date].filter(Boolean).join(", ")] });
  });
  return spots;
}

/* ---- the table and the files ---------------------------------------------------------------------- */

const title = (axis: Axis | undefined): string => !axis ? "" : axis.unit ? `${axis.name} (${axis.unit})` : axis.name;

function tableOfPanel(panel: Panel): Table {
  if (panel.table) return panel.table;
  if (panel.bars?.length)
    return { columns: ["bar", "part", title(panel.x), "low", "high"], rows: panel.bars.flatMap(bar => [
      ...(bar.parts ?? []).map(part => [bar.name, part.name ?? "", part.value, bar.band?.[0] ?? null, bar.band?.[1] ?? null]),
      ...(bar.measured === undefined ? [] : [[bar.name, "measured", bar.measured, null, null]]),
      ...(bar.range ? [[bar.name, "middle", bar.middle ?? null, bar.range[0], bar.range[1]]] : [])]) };
  return { columns: ["series", title(panel.x), title(panel.y), "low", "high", "source"], rows: [
    ...(panel.lines ?? []).flatMap(line => {
      const bands = new Map(line.band?.map(b => [b[0], b]));
      return line.points.filter(p => p !== null).map(p =>
        [line.name, p![0], p![1], bands.get(p![0])?.[1] ?? null, bands.get(p![0])?.[2] ?? null, ""]);
    }),
    ...(panel.points ?? []).map(dot => [dot.what || "measured", dot.x, dot.y, null, null, [dot.source, dot.date].filter(Boolean).join(", ")])] };
}
export const tablesOf = (picture: Picture): Table[] =>
  picture.table || !picture.panels?.length ? [tableOfPanel(picture as Panel)] : picture.panels.map(tableOfPanel);

const cell = (c: string | number | null): string =>
  c === null ? "" : typeof c === "string" && /[",\n]/.test(c) ? `"${c.replace(/"/g, '""')}"` : String(c);
export const csvOfPicture = (picture: Picture): string =>
  tablesOf(picture).map(t => [t.columns, ...t.rows].map(row => row.map(cell).join(",")).join("\n")).join("\n\n") + "\n";

function save(name: string, data: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const FILE_WIDTH = 720;
function savePng(name: string, svg: string): void {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => { if (blob) save(name, blob); });
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
}
const fileName = (picture: Picture, end: string): string =>
  (picture.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "picture") + end;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'" };
const unescaped = (text: string): string => text.replace(/&(#?\w+);/g, (found, name: string) => ENTITIES[name] ?? found);

/* ---- one picture -------------------------------------------------------------------------------------- */

const STYLE = `
.drawing{position:relative;margin:0;break-inside:avoid}
.drawing svg{display:block;max-width:100%;height:auto;overflow:visible}
.drawing.dragged svg{touch-action:pan-y;cursor:crosshair;user-select:none;-webkit-user-select:none}
.drawing .mark[data-sets]{cursor:ew-resize}
.drawing .numbers{position:absolute;left:0;border:0;background:none;padding:4px 0;min-height:24px;font:inherit;font-size:12.5px;color:var(--soft);cursor:pointer}
.drawing .numbers:hover{color:var(--ink)}
.drawing .tip{position:absolute;pointer-events:none;background:var(--paper);color:var(--ink);border:1px solid var(--rule);padding:3px 8px;font-size:12.5px;line-height:17px;white-space:nowrap;z-index:2}
.drawing .tip span{display:block;color:var(--soft)}
.drawing .hair{position:absolute;pointer-events:none;width:1px;background:var(--soft);opacity:.5}
.drawing .table{overflow:auto;max-height:24em;font-size:14.5px;line-height:21px}
.drawing .table td,.drawing .table th{padding:1px 12px 1px 0;text-align:left;font-weight:400;font-variant-numeric:tabular-nums}
.drawing .table th{color:var(--soft)}
.drawing .table button{border:0;background:none;font:inherit;color:var(--soft);padding:4px 12px 4px 0;min-height:24px;cursor:pointer;text-decoration:underline}
@media print{.drawing .numbers,.drawing .table,.drawing .tip,.drawing .hair{display:none}}`;

const NEAR = 40, MARK_REACH = 16, DEAD = 3;

class Drawing implements Mounted {
  readonly figure = document.createElement("figure");
  private readonly place = document.createElement("div");
  private readonly numbers = document.createElement("button");
  private readonly table = document.createElement("div");
  private readonly tip = document.createElement("div");
  private readonly hair = document.createElement("div");
  private picture: Picture | null = null;
  private frames: Frame[] = [];
  private spots: Spot[] | null = null;
  private width = 0;
  private svg = "";
  seen = true;
  private walked = -1;
  private held: { pointer: number; frame: Frame; mark: string | null; x: number; last: { x: number; y: number }; moved: boolean } | null = null;

  constructor(host: HTMLElement, private readonly engine: Engine, private readonly handlers: Handlers) {
    this.figure.className = "drawing";
    this.figure.tabIndex = 0;
    this.numbers.type = "button";
    this.numbers.className = "numbers";
    this.numbers.textContent = "numbers";
    this.numbers.setAttribute("aria-expanded", "false");
    this.table.className = "table";
    this.table.hidden = this.tip.hidden = this.hair.hidden = true;
    this.table.tabIndex = 0;
    this.tip.className = "tip";
    this.tip.setAttribute("role", "status");
    this.hair.className = "hair";
    this.figure.append(this.place, this.numbers, this.table, this.hair, this.tip);
    host.append(this.figure);
    begin(this, engine);
  }

  update(picture: Picture): void {
    if (![picture, ...(picture.panels ?? [])].every(panel => known([panel.x, panel.y, panel.bars]))) return;
    this.picture = drawable(picture);
    this.draw();
  }

  remove(): void {
    end(this);
    this.figure.remove();
    this.picture = this.spots = this.held = null;
    this.frames = [];
  }

  /* The text is the engine's own SVG, in which all names are escaped. */
  draw(): void {
    const picture = this.picture;
    if (!picture) return;
    this.width = this.width || this.figure.clientWidth;
    this.show(this.engine.picture(picture, Math.max(200, this.width), this.handlers.height ?? 0));
    this.figure.classList.toggle("dragged", !!this.handlers.drag);
    this.figure.setAttribute("aria-label", picture.title);
    const panels: Panel[] = picture.panels?.length ? picture.panels : [picture as Panel];
    this.frames = [...this.place.querySelectorAll<SVGGElement>("g.frame")].map((g, i) => {
      const [left, top, width, height] = g.dataset.box!.split(" ").map(Number);
      return { left, top, width, height, x: scaleOf(g.dataset.x)!, y: scaleOf(g.dataset.y), of: panels[i] };
    });
    this.spots = null;
    const svg = this.place.firstElementChild as SVGSVGElement;
    this.numbers.style.top = `${Number(svg.getAttribute("height")) - 29}px`;
    if (!this.held) this.hideTip();
    if (!this.table.hidden) this.fillTable();
  }

  /* Where only numbers and places differ from the picture before, its elements stay and take those. */
  private show(svg: string): void {
    const before = this.svg.split("<"), now = svg.split("<");
    this.svg = svg;
    const name = (tag: string): string => tag.slice(0, tag.search(/[\s>]/));
    if (before.length !== now.length || before.some((tag, i) => tag !== now[i] && (tag[0] === "/" || name(tag) !== name(now[i])))) { this.place.innerHTML = svg; return; }
    const elements = this.place.querySelectorAll("*");
    let at = -1;
    now.forEach((tag, i) => {
      if (!tag || tag[0] === "/") { if (tag !== before[i]) this.place.innerHTML = svg; return; }
      const element = elements[++at];
      if (tag === before[i] || !element) return;
      const end = tag.lastIndexOf(">"), made = new Map([...tag.slice(0, end).matchAll(/([\w:-]+)="([^"]*)"/g)].map(m => [m[1], unescaped(m[2])]));
      for (const { name } of [...element.attributes]) if (!made.has(name)) element.removeAttribute(name);
      for (const [name, value] of made) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
      if (element.firstChild?.nodeType === Node.TEXT_NODE) element.firstChild.nodeValue = unescaped(tag.slice(end + 1));
      else if (tag.length > end + 1) element.prepend(unescaped(tag.slice(end + 1)));
    });
  }

  resized(): void {
    const width = this.figure.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.draw();
  }

  /* ---- the pointer ---- */

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.place.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private frameAt(p: { x: number; y: number }): Frame | undefined {
    return this.frames.find(f => p.x >= f.left - 4 && p.x <= f.left + f.width + 4 && p.y >= f.top - 8 && p.y <= f.top + f.height + 24);
  }

  down(event: PointerEvent): void {
    if (!(event.target as Element).closest("svg") || event.button) return;
    const p = this.at(event), frame = this.frameAt(p);
    if (!frame || !frame.y) return;
    const mark = !this.handlers.mark ? undefined : frame.of.marks?.find(m => m.sets !== undefined &&
      Math.hypot(frame.left + frame.width * shareOf(frame.x, m.x) - p.x, frame.top + frame.height * (1 - shareOf(frame.y!, m.y)) - p.y) < MARK_REACH);
    if (!mark && !(this.handlers.drag && frame.of.here)) { this.point(p); return; }
    this.held = { pointer: event.pointerId, frame, mark: mark?.name ?? null, x: p.x, last: p, moved: false };
    event.preventDefault();                     // no text is selected, and then dragged itself
    this.figure.focus({ preventScroll: true });
    this.figure.setPointerCapture(event.pointerId);
    this.hideTip();
    if (!mark) this.hand(p, false);
  }

  move(event: PointerEvent): void {
    const p = this.at(event);
    if (this.held?.pointer === event.pointerId) {
      this.held.last = p;
      this.held.moved ||= Math.abs(p.x - this.held.x) > DEAD;
      if (this.held.moved || !this.held.mark) this.hand(p, false);
    } else if (!this.held && (event.target as Element).closest("svg")) this.point(p);
    else if (!this.held) this.hideTip();
  }

  up(event: PointerEvent): void {
    if (this.held?.pointer !== event.pointerId) return;
    if (this.held.moved || !this.held.mark) this.hand(this.held.last, true);
    this.held = null;
  }

  private hand(p: { x: number; y: number }, done: boolean): void {
    const { frame, mark } = this.held!;
    const x = valueAt(frame.x, (p.x - frame.left) / frame.width);
    const y = valueAt(frame.y!, 1 - (p.y - frame.top) / frame.height);
    if (mark !== null) this.handlers.mark?.(mark, x, done);
    else this.handlers.drag?.(x, y, done);
  }

  /* ---- tips ---- */

  private allSpots(): Spot[] {
    return this.spots ??= this.frames.flatMap(spotsOf);
  }

  private point(p: { x: number; y: number }): void {
    const frame = this.frameAt(p);
    if (!frame) return this.hideTip();
    if (!frame.y) return this.pointBar(frame, p);
    let best: Spot | null = null, least = NEAR;
    for (const spot of this.allSpots()) {
      const far = Math.abs(spot.x - p.x) + .5 * Math.abs(spot.y - p.y);
      if (far < least) least = far, best = spot;
    }
    if (best) this.showTip(best, p, frame);
    else this.hideTip();
  }

  private pointBar(frame: Frame, p: { x: number; y: number }): void {
    const bars = frame.of.bars ?? [];
    const titles = [...this.place.querySelectorAll<SVGRectElement>("rect")].filter(r => {
      const y = Number(r.getAttribute("y"));
      return r.firstElementChild?.tagName === "title" && p.y >= y - 6 && p.y <= y + Number(r.getAttribute("height")) + 6;
    });
    const hit = titles.find(r => p.x <= Number(r.getAttribute("x")) + Number(r.getAttribute("width"))) ?? titles[titles.length - 1];
    if (!hit || !bars.length) return this.hideTip();
    this.showTip({ x: p.x, y: p.y, group: 0, lines: [hit.textContent ?? ""] }, p, null);
  }

  private showTip(spot: Spot, p: { x: number; y: number }, frame: Frame | null): void {
    const [first, ...rest] = spot.lines;
    this.tip.textContent = first;
    for (const line of rest) this.tip.append(Object.assign(document.createElement("span"), { textContent: line }));
    this.tip.hidden = false;
    const wide = this.tip.offsetWidth, high = this.tip.offsetHeight;
    const left = p.x + 12 + wide > this.width ? p.x - 12 - wide : p.x + 12;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, p.y - 12 - high)}px`;
    this.hair.hidden = !frame;
    if (frame)
      Object.assign(this.hair.style, { left: `${spot.x}px`, top: `${frame.top}px`, height: `${frame.height}px` });
  }

  hideTip(): void { this.tip.hidden = this.hair.hidden = true; this.walked = -1; }

  /* ---- keys ---- */

  key(event: KeyboardEvent): void {
    if (event.key === "Escape" && !this.table.hidden) { this.toggle(); this.numbers.focus(); return; }
    if (event.key === "Escape") return this.hideTip();
    if (event.target !== this.figure || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "t") return this.toggle();
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, ArrowUp: 0 }[event.key];
    const spots = this.allSpots();
    if (step === undefined || !spots.length) return;
    event.preventDefault();
    if (this.walked < 0) this.walked = 0;
    else if (step) this.walked = Math.max(0, Math.min(spots.length - 1, this.walked + step));
    else this.walked = this.otherGroup(spots, event.key === "ArrowDown" ? 1 : -1);
    const spot = spots[this.walked], at = this.walked;
    this.showTip(spot, spot, this.frameAt(spot) ?? null);
    this.walked = at;
  }

  /* The nearest x of the next line. */
  private otherGroup(spots: Spot[], step: number): number {
    const now = spots[this.walked], group = now.group + step;
    let best = this.walked, least = Infinity;
    spots.forEach((spot, i) => {
      if (spot.group === group && Math.abs(spot.x - now.x) < least) least = Math.abs(spot.x - now.x), best = i;
    });
    return best;
  }

  /* ---- the table ---- */

  click(target: Element): void {
    if (target === this.numbers) this.toggle();
    const take = (target as HTMLElement).dataset?.take;
    if (!take || !this.picture) return;
    const picture = this.picture;
    if (take === "CSV") save(fileName(picture, ".csv"), new Blob([csvOfPicture(picture)], { type: "text/csv" }));
    else if (take === "SVG") save(fileName(picture, ".svg"), new Blob([this.engine.picture(picture, FILE_WIDTH, 0, "auto")], { type: "image/svg+xml" }));
    else savePng(fileName(picture, ".png"), this.engine.picture(picture, FILE_WIDTH, 0, "light"));
  }

  private toggle(): void {
    this.table.hidden = !this.table.hidden;
    this.numbers.setAttribute("aria-expanded", String(!this.table.hidden));
    if (!this.table.hidden) this.fillTable();
  }

  private fillTable(): void {
    const made: HTMLElement[] = [];
    const add = <K extends keyof HTMLElementTagNameMap>(to: HTMLElement, tag: K, text = ""): HTMLElementTagNameMap[K] => {
      const element = document.createElement(tag);
      element.textContent = text;
      to.append(element);
      return element;
    };
    const files = document.createElement("div");
    for (const kind of ["CSV", "SVG", "PNG"]) {
      const button = add(files, "button", kind);
      button.type = "button";
      button.dataset.take = kind;
    }
    made.push(files);
    for (const { columns, rows } of tablesOf(this.picture!)) {
      const table = document.createElement("table");
      const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
      columns.forEach(name => { add(head, "th", name).scope = "col"; });
      for (const row of rows.slice(0, 400)) {
        const line = add(body, "tr");
        row.forEach(c => add(line, "td", typeof c === "number" ? written(c) : c ?? ""));
      }
      made.push(table);
    }
    this.table.replaceChildren(...made);
  }
}

/* ---- all pictures: the document's listeners, and one observer -------------------------------------------- */

const drawings = new Map<Element, Drawing>();
let observer: ResizeObserver | null = null, viewer: IntersectionObserver | null = null;
const EVENTS = ["pointerdown", "pointermove", "pointerup", "pointercancel", "keydown", "click"] as const;
let pointed: Drawing | null = null;

function listen(event: Event): void {
  const figure = event.target instanceof Element ? event.target.closest(".drawing") : null;
  const drawing = figure ? drawings.get(figure) ?? null : null;
  if (pointed && pointed !== drawing && event.type === "pointermove") pointed.hideTip();
  if (event.type === "pointermove") pointed = drawing;
  if (!drawing) return;
  if (event.type === "pointerdown") drawing.down(event as PointerEvent);
  else if (event.type === "pointermove") drawing.move(event as PointerEvent);
  else if (event.type === "keydown") drawing.key(event as KeyboardEvent);
  else if (event.type === "click") drawing.click(event.target as Element);
  else drawing.up(event as PointerEvent);
}

function begin(drawing: Drawing, engine: Engine): void {
  if (!drawings.size) {
    EVENTS.forEach(name => document.addEventListener(name, listen));
    observer = new ResizeObserver(entries => entries.forEach(e => drawings.get(e.target)?.resized()));
    viewer = new IntersectionObserver(entries => entries.forEach(e => { const drawing = drawings.get(e.target); if (drawing) drawing.seen = e.isIntersecting; }));
    if (!document.getElementById("drawing-style"))
      document.head.append(Object.assign(document.createElement("style"), { id: "drawing-style", textContent: engine.pictureStyle() + STYLE }));
  }
  drawings.set(drawing.figure, drawing);
  observer!.observe(drawing.figure);
  viewer!.observe(drawing.figure);
}

function end(drawing: Drawing): void {
  drawings.delete(drawing.figure);
  observer?.unobserve(drawing.figure);
  viewer?.unobserve(drawing.figure);
  if (pointed === drawing) pointed = null;
  if (drawings.size) return;
  EVENTS.forEach(name => document.removeEventListener(name, listen));
  observer?.disconnect();
  viewer?.disconnect();
  observer = viewer = null;
}

/* A picture at the end of `host`, as wide as it. */
export function mountPicture(host: HTMLElement, engine: Engine, handlers: Handlers = {}): Mounted {
  return new Drawing(host, engine, handlers);
}
