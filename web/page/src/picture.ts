/* Pictures: curves by uPlot, bars as SVG. Each has a title that is its answer, its numbers as
 * a table, and itself to take away as CSV, JSON, SVG or PNG. */
import { escape } from "./escape";
import uPlot from "uplot";

export interface Line {
  name: string;
  y: (number | null)[];
  colour: number;                       // of the four
  thin?: boolean;
  points?: boolean;
  band?: { low: (number | null)[]; high: (number | null)[] };
  x?: number[];                         // its own, of points
  sources?: string[];                   // of points, on hover
}
export interface Curves {
  kind: "curves";
  title: string;
  x: number[];
  xName: string;
  yName: string;
  xUnit?: string;                       // of the numbers themselves
  yUnit?: string;
  xLog?: boolean;
  yLog?: boolean;
  lines: Line[];
  mark?: { x: number; text: string };
  xWrite(v: number): string;
  yWrite(v: number): string;
}
export interface Bar { name: string; parts: { name: string; value: number; colour: number }[]; text: string }
export interface Bars { kind: "bars"; title: string; bars: Bar[]; total?: number; unit?: string; write(v: number): string }
export interface Span { name: string; low: number; lowQ: number; mid: number; highQ: number; high: number;
                        faintLow?: number; faintHigh?: number; text: string }
export interface Spans { kind: "spans"; title: string; spans: Span[]; write(s: Span, v: number): string }
export type Drawing = Curves | Bars | Spans;

export const colours = (): string[] => {
  const style = getComputedStyle(document.documentElement);
  return [1, 2, 3, 4].map(i => style.getPropertyValue(`--series-${i}`).trim());
};
const ink = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();


/* ---- tables and files ---------------------------------------------------------------------- */

const unitOf = (name: string, unit?: string): string => unit && unit !== "1" ? `${name} (${unit})` : name;

export function rowsOf(drawing: Drawing): (string | number)[][] {
  if (drawing.kind === "curves") {
    const head = ["series", unitOf(drawing.xName, drawing.xUnit), unitOf(drawing.yName, drawing.yUnit), "low", "high", "source"];
    return [head, ...drawing.lines.flatMap(line => (line.x ?? drawing.x).map((x, i): (string | number)[] =>
      [line.name, x, line.y[i] ?? "", line.band?.low[i] ?? "", line.band?.high[i] ?? "", line.sources?.[i] ?? ""]))];
  }
  if (drawing.kind === "bars")
    return [["bar", "part", unitOf("value", drawing.unit)], ...drawing.bars.flatMap(bar => bar.parts.map(part => [bar.name, part.name, part.value]))];
  return [["quantity", "5 %", "25 %", "50 %", "75 %", "95 %"],
          ...drawing.spans.map(s => [s.name, s.low, s.lowQ, s.mid, s.highQ, s.high])];
}

const csvCell = (cell: string | number): string =>
  typeof cell === "string" && /[",\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : String(cell);
export const csvOf = (drawing: Drawing): string =>
  rowsOf(drawing).map(row => row.map(csvCell).join(",")).join("\n") + "\n";

function save(name: string, type: string, data: BlobPart): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* ---- as SVG ----------------------------------------------------------------------------------- */

interface Scale { at(v: number): number; ticks: number[] }

function scaleOf(values: number[], log: boolean, from: number, to: number): Scale {
  const good = values.filter(v => Number.isFinite(v) && (!log || v > 0));
  let low = Math.min(...good), high = Math.max(...good);
  if (!good.length) { low = 0; high = 1; }
  if (!log) low = Math.min(low, 0);
  if (low === high) high = low + (low || 1);
  const f = (v: number): number => log ? Math.log10(v) : v;
  const at = (v: number): number => from + (to - from) * (f(v) - f(low)) / (f(high) - f(low));
  const ticks: number[] = [];
  if (log) {
    const decades = Math.log10(high / low);
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) ticks.push(Math.pow(10, e));
    if (decades < 2) for (const t of [...ticks, low]) for (const m of [2, 5]) {
      const v = Math.pow(10, Math.floor(Math.log10(t))) * m;
      if (v >= low && v <= high && !ticks.includes(v)) ticks.push(v);
    }
  } else {
    const step = Math.pow(10, Math.floor(Math.log10((high - low) / 4)));
    const nice = [1, 2, 5, 10].map(m => m * step).find(s => (high - low) / s <= 5) ?? step;
    for (let v = Math.ceil(low / nice) * nice; v <= high; v += nice) ticks.push(v);
  }
  return { at, ticks };
}

const WIDTH = 640, HEIGHT = 360, LEFT = 84, RIGHT = 16, TOP = 40, BOTTOM = 48;

function curvesSvg(drawing: Curves): string {
  const palette = colours(), text = ink("--ink"), faint = ink("--rule");
  const xs = scaleOf([...drawing.x, ...drawing.lines.flatMap(l => l.x ?? [])], !!drawing.xLog, LEFT, WIDTH - RIGHT);
  const ys = scaleOf(drawing.lines.flatMap(l => [...l.y.map(v => v ?? NaN), ...(l.band?.high ?? []).map(v => v ?? NaN), ...(l.band?.low ?? []).map(v => v ?? NaN)]),
                     !!drawing.yLog, HEIGHT - BOTTOM, TOP);
  const out: string[] = [];
  for (const t of xs.ticks) {
    out.push(`<path d="M${xs.at(t)} ${TOP}V${HEIGHT - BOTTOM}" stroke="${faint}"/>`);
    out.push(`<text x="${xs.at(t)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${escape(drawing.xWrite(t))}</text>`);
  }
  for (const t of ys.ticks) {
    out.push(`<path d="M${LEFT} ${ys.at(t)}H${WIDTH - RIGHT}" stroke="${faint}"/>`);
    out.push(`<text x="${LEFT - 6}" y="${ys.at(t) + 4}" text-anchor="end">${escape(drawing.yWrite(t))}</text>`);
  }
  for (const line of drawing.lines) {
    const x = line.x ?? drawing.x, colour = palette[line.colour];
    const point = (v: number | null, i: number): string | null =>
      v !== null && Number.isFinite(v) && (!drawing.yLog || v > 0) ? `${xs.at(x[i]).toFixed(1)} ${ys.at(v).toFixed(1)}` : null;
    if (line.band) {
      const up = line.band.high.map(point), down = line.band.low.map(point).reverse();
      const both = [...up, ...down].filter(p => p !== null);
      if (both.length) out.push(`<path d="M${both.join("L")}Z" fill="${colour}" opacity=".15"/>`);
    }
    const path = line.y.map(point);
    if (line.points)
      for (const p of path) { if (p) { const [cx, cy] = p.split(" "); out.push(`<circle cx="${cx}" cy="${cy}" r="3.5" fill="none" stroke="${colour}" stroke-width="1.5"/>`); } }
    else {
      const d = path.map((p, i) => p === null ? "" : (i && path[i - 1] !== null ? "L" : "M") + p).join("");
      out.push(`<path d="${d}" fill="none" stroke="${colour}" stroke-width="${line.thin ? 1 : 2.2}"/>`);
    }
    const last = path.map((p, i) => p === null ? -1 : i).filter(i => i >= 0).pop();
    if (last !== undefined && !line.points) {
      const [lx, ly] = path[last]!.split(" ");
      out.push(`<text x="${+lx - 4}" y="${+ly - 6}" text-anchor="end" fill="${colour}">${escape(line.name)}</text>`);
    }
  }
  if (drawing.mark)
    out.push(`<path d="M${xs.at(drawing.mark.x)} ${TOP}V${HEIGHT - BOTTOM}" stroke="${ink("--accent")}" stroke-dasharray="4 3"/>`);
  out.push(`<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${escape(drawing.xName)}</text>`);
  out.push(`<text x="14" y="${TOP - 8}">${escape(drawing.yName)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11" fill="${text}"><rect width="100%" height="100%" fill="${ink("--paper")}"/><text x="14" y="18" font-size="13" font-weight="600">${escape(drawing.title)}</text>${out.join("")}</svg>`;
}

const ROW = 26;

/* On a phone a name stands above its bar. */
const NARROW = 420;

function barsSvg(drawing: Bars, titled: boolean, width: number): string {
  const palette = colours(), narrow = width < NARROW, head = titled ? 30 : 4, high = narrow ? 40 : ROW;
  const most = drawing.total ?? Math.max(...drawing.bars.map(b => b.parts.reduce((s, p) => s + p.value, 0)), 1e-300);
  const left = narrow ? 4 : 178, room = width - left - 104, out: string[] = [];
  drawing.bars.forEach((bar, i) => {
    const y = head + i * high + (narrow ? 15 : 0);
    let x = left;
    out.push(narrow ? `<text x="4" y="${y - 2}">${escape(bar.name)}</text>` : `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${escape(bar.name)}</text>`);
    for (const part of bar.parts) {
      const wide = Math.max(0, room * part.value / most);
      out.push(`<rect x="${x.toFixed(1)}" y="${y + 3}" width="${wide.toFixed(1)}" height="${ROW - 9}" fill="${palette[part.colour] ?? "none"}">` +
               `<title>${escape(part.name)}: ${escape(drawing.write(part.value))}</title></rect>`);
      if (wide > 7 * part.name.length + 8 && bar.parts.length > 1)
        out.push(`<text x="${(x + 5).toFixed(1)}" y="${y + 15}" fill="${ink(part.colour < 0 ? "--faint" : "--on-series")}">${escape(part.name)}</text>`);
      x += wide;
    }
    out.push(`<text x="${(x + 6).toFixed(1)}" y="${y + 15}">${escape(bar.text)}</text>`);
  });
  if (drawing.total)
    out.push(`<rect x="${left}" y="${head + (narrow ? 18 : 3)}" width="${room}" height="${ROW - 9}" fill="none" stroke="${ink("--faint")}"/>`);
  return svgOf(drawing.title, titled, width, head + drawing.bars.length * high + 4, out);
}

function spansSvg(drawing: Spans, titled: boolean, width: number): string {
  const palette = colours(), narrow = width < NARROW, head = titled ? 30 : 4, high = narrow ? 58 : 40;
  const left = narrow ? 4 : 150, room = width - left - 12, out: string[] = [];
  drawing.spans.forEach((span, i) => {
    const y = head + i * high + (narrow ? 16 : 0);
    const scale = scaleOf([span.low, span.high, span.faintLow ?? span.low, span.faintHigh ?? span.high], true, left, left + room);
    const bar = (a: number, b: number, tall: number, colour: string, opacity: number): string =>
      `<rect x="${scale.at(a).toFixed(1)}" y="${y + 12 - tall / 2}" width="${Math.max(1, scale.at(b) - scale.at(a)).toFixed(1)}" height="${tall}" fill="${colour}" opacity="${opacity}"/>`;
    out.push(narrow ? `<text x="4" y="${y - 3}">${escape(span.name)}</text>` : `<text x="${left - 8}" y="${y + 16}" text-anchor="end">${escape(span.name)}</text>`);
    if (span.faintLow !== undefined && span.faintHigh !== undefined) out.push(bar(span.faintLow, span.faintHigh, 3, ink("--faint"), .5));
    out.push(bar(span.low, span.high, 7, palette[0], .45), bar(span.lowQ, span.highQ, 13, palette[0], .8));
    out.push(`<path d="M${scale.at(span.mid).toFixed(1)} ${y + 3}v18" stroke="${ink("--ink")}" stroke-width="2"/>`);
    out.push(`<text x="${width - 12}" text-anchor="end" y="${y + 34}" font-size="11" fill="${ink("--faint")}">${escape(span.text)}</text>`);
  });
  return svgOf(drawing.title, titled, width, head + drawing.spans.length * high + 6, out);
}

function svgOf(title: string, titled: boolean, WIDTH: number, height: number, out: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" ${titled ? `width="${WIDTH}" height="${height}" ` : ""}viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${ink("--ink")}" role="img" aria-label="${escape(title)}">${titled ? `<rect width="100%" height="100%" fill="${ink("--paper")}"/><text x="10" y="18" font-size="13" font-weight="600">${escape(title)}</text>` : ""}${out.join("")}</svg>`;
}

export function svg(drawing: Drawing, titled = true, width = WIDTH): string {
  return drawing.kind === "curves" ? curvesSvg(drawing) : drawing.kind === "bars" ? barsSvg(drawing, titled, width) : spansSvg(drawing, titled, width);
}

function savePng(name: string, drawing: Drawing): void {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    const pen = canvas.getContext("2d")!;
    pen.scale(2, 2);
    pen.drawImage(image, 0, 0);
    canvas.toBlob(blob => { if (blob) save(name, "image/png", blob); });
  };
  image.src = "data:image/svg+xml;base64," + btoa(unescape(encodeURIComponent(svg(drawing))));
}

/* ---- on the page ------------------------------------------------------------------------------- */

export class Picture {
  readonly element: HTMLElement;
  private readonly title: HTMLElement;
  private readonly place: HTMLElement;
  private readonly numbers: HTMLDetailsElement;
  private plot: uPlot | null = null;
  private shape = "";
  private drawing: Drawing | null = null;

  constructor(readonly id: string) {
    this.element = document.createElement("figure");
    this.element.id = "picture-" + id;
    this.element.tabIndex = 0;
    this.element.setAttribute("aria-labelledby", `title-${id}`);
    this.element.innerHTML = `<figcaption id="title-${id}"></figcaption><div class="place"></div>
      <div class="take"><details><summary>numbers</summary><div class="table"></div></details>
      ${["csv", "json", "svg", "png"].map(k => `<button type="button" data-take="${k}">${k}</button>`).join("")}</div>`;
    this.title = this.element.querySelector("figcaption")!;
    this.place = this.element.querySelector(".place")!;
    this.numbers = this.element.querySelector("details")!;
    this.numbers.addEventListener("toggle", () => this.table());
    this.element.addEventListener("click", event => {
      const kind = (event.target as HTMLElement).dataset.take;
      if (kind) this.take(kind);
    });
    this.element.addEventListener("keydown", event => {
      if (event.key === "t" && event.target === this.element) this.numbers.open = !this.numbers.open;
    });
  }

  private take(kind: string): void {
    const drawing = this.drawing;
    if (!drawing) return;
    if (kind === "csv") save(this.id + ".csv", "text/csv", csvOf(drawing));
    else if (kind === "json") save(this.id + ".json", "application/json", JSON.stringify({ title: drawing.title, rows: rowsOf(drawing) }, null, 1));
    else if (kind === "svg") save(this.id + ".svg", "image/svg+xml", svg(drawing));
    else savePng(this.id + ".png", drawing);
  }

  private table(): void {
    if (!this.drawing || !this.numbers.open) return;
    const rows = rowsOf(this.drawing).slice(0, 200);
    const cell = (c: string | number): string => typeof c === "number" ? String(+c.toPrecision(5)) : escape(c);
    this.numbers.querySelector(".table")!.innerHTML = "<table>" + rows.map((row, i) =>
      "<tr>" + row.map(c => i ? `<td>${cell(c)}</td>` : `<th>${cell(c)}</th>`).join("") + "</tr>").join("") + "</table>";
  }

  say(text: string): void {
    this.drawing = null;
    this.plot?.destroy();
    this.plot = null;
    this.title.textContent = text;
    this.place.textContent = "";
  }

  draw(drawing: Drawing): void {
    this.drawing = drawing;
    if (this.title.textContent !== drawing.title) this.title.textContent = drawing.title;
    if (drawing.kind === "curves") this.curves(drawing);
    else {
      this.plot?.destroy();
      this.plot = null;
      this.place.innerHTML = svg(drawing, false, Math.max(320, Math.min(720, this.place.clientWidth || WIDTH)));
    }
    this.table();
  }

  redraw(): void { this.shape = ""; if (this.drawing) this.draw(this.drawing); }

  private curves(drawing: Curves): void {
    drawing = { ...drawing, lines: drawing.lines.map(apart) };
    const merged = mergeX(drawing);
    this.sources = drawing.lines.map(line => line.sources && new Map(line.x?.map((x, i) => [x, line.sources![i]])));
    const shape = JSON.stringify([drawing.lines.map(l => [l.name, l.colour, l.thin, l.points, !!l.band]), drawing.xLog, drawing.yLog,
                                  drawing.xName, drawing.yName, this.place.clientWidth]);
    if (this.plot && shape === this.shape) {
      this.marked = drawing;
      this.plot.setData(merged as uPlot.AlignedData);
      return;
    }
    this.plot?.destroy();
    this.place.textContent = "";
    this.shape = shape;
    this.marked = drawing;
    this.plot = new uPlot(this.options(drawing), merged as uPlot.AlignedData, this.place);
  }

  private marked: Curves | null = null;
  private sources: (Map<number, string> | undefined)[] = [];

  private options(drawing: Curves): uPlot.Options {
    const palette = colours(), grid = { stroke: ink("--rule"), width: 1 }, stroke = ink("--ink");
    const series: uPlot.Series[] = [{ label: drawing.xName, value: (_, v) => v == null ? "" : drawing.xWrite(v) }];
    const bands: uPlot.Band[] = [];
    drawing.lines.forEach((line, k) => {
      const colour = palette[line.colour];
      const told = (u: uPlot, v: number, index: number | null | undefined): string => {
        const from = index == null ? undefined : this.sources[k]?.get(u.data[0][index]);
        return drawing.yWrite(v) + (from ? ` — ${from}` : "");
      };
      series.push({ label: line.name, pxAlign: 0, stroke: colour, width: line.points ? 0 : line.thin ? 1 : 2.2, spanGaps: !line.points,
                    paths: line.points ? () => null : undefined,
                    points: { show: !!line.points, size: 8, stroke: colour, fill: "transparent" },
                    value: (u, v, _, index) => v == null ? "" : told(u, v, index) });
      if (!line.band) return;
      const at = series.length;
      for (const end of ["high", "low"])
        series.push({ label: `${line.name}, ${end}`, class: "of-band", stroke: "transparent", width: 0, points: { show: false }, spanGaps: true,
                      value: (_, v) => v == null ? "" : drawing.yWrite(v) });
      bands.push({ series: [at, at + 1], fill: colour + "44" });
    });
    const decades = (is: boolean | undefined) => is ? { filter: (_: uPlot, splits: number[]) => {
      const whole = splits.map(v => v > 0 && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6 ? Math.round(Math.log10(v)) : null);
      const every = Math.ceil(whole.filter(e => e !== null).length / 8);
      return splits.map((v, i) => whole[i] !== null && whole[i]! % every === 0 ? v : null);
    } } : {};
    const axis = { stroke, grid, ticks: grid, font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif" };
    const log = (is: boolean | undefined) => is ? { distr: 3 as const, log: 10 as const } : {};
    const sparse = (write: (v: number) => string, is: boolean | undefined) => (_: uPlot, values: number[]) =>
      values.map(v => v == null || (is && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) > 1e-6) ? "" : write(v));
    return {
      width: Math.max(280, this.place.clientWidth || 480), height: 250, series, bands, padding: [8, 30, 0, 0],
      legend: { live: true }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, ...log(drawing.xLog), range: (_, low, high) => drawing.xLog && high / low < 1.02 ? [low / 2, high * 2] : [low, high] }, y: { ...log(drawing.yLog), range: drawing.yLog ? undefined : (_, _low, high) => [0, high * 1.05 || 1] } },
      axes: [{ ...axis, ...decades(drawing.xLog), label: drawing.xName, labelSize: 18, size: 34, values: sparse(drawing.xWrite, drawing.xLog) },
             { ...axis, ...decades(drawing.yLog), label: drawing.yName, labelSize: 20, size: 76, values: sparse(drawing.yWrite, drawing.yLog) }],
      hooks: { draw: [u => this.drawMark(u)] },
    };
  }

  private drawMark(u: uPlot): void {
    const mark = this.marked?.mark;
    if (!mark || !(mark.x > 0)) return;
    const x = u.valToPos(mark.x, "x", true), { top, height, left, width } = u.bbox;
    if (x < left || x > left + width) return;
    u.ctx.save();
    u.ctx.strokeStyle = u.ctx.fillStyle = ink("--accent");
    u.ctx.setLineDash([4, 3]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, top);
    u.ctx.lineTo(x, top + height);
    u.ctx.stroke();
    u.ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    u.ctx.textAlign = x > left + width / 2 ? "right" : "left";
    u.ctx.fillText(mark.text, x + (x > left + width / 2 ? -5 : 5), top + 12 * devicePixelRatio);
    u.ctx.restore();
  }
}

/* Points at the same x would be one: they stand a hair apart. */
function apart(line: Line): Line {
  if (!line.x) return line;
  const seen = new Set<number>();
  return { ...line, x: line.x.map(x => { while (seen.has(x)) x *= 1 + 1e-9; seen.add(x); return x; }) };
}

/* Lines with points of their own have gaps at the others' x. */
function mergeX(drawing: Curves): (number | null)[][] {
  const own = drawing.lines.some(line => line.x);
  const x = own ? [...new Set([...drawing.x, ...drawing.lines.flatMap(l => l.x ?? [])])].sort((a, b) => a - b) : drawing.x;
  const place = new Map(x.map((v, i) => [v, i]));
  const spread = (from: number[], y: (number | null)[]): (number | null)[] => {
    if (!own) return y.map(v => v === null || !Number.isFinite(v) ? null : v);
    const out: (number | null)[] = new Array(x.length).fill(null);
    from.forEach((v, i) => { const w = y[i]; out[place.get(v)!] = w !== null && Number.isFinite(w) ? w : null; });
    return out;
  };
  const data: (number | null)[][] = [x];
  for (const line of drawing.lines) {
    data.push(spread(line.x ?? drawing.x, line.y));
    if (line.band) data.push(spread(drawing.x, line.band.high), spread(drawing.x, line.band.low));
  }
  return data;
}
