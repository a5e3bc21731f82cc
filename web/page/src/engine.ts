/* The engine: WebAssembly behind plain functions. Words in, documents out. */

export interface Refusal { what: string; hint: string }

export interface Reply {
  status?: number;
  answer?: any;
  text?: string;
  csv?: string;
  error?: Refusal;
}

/* What board.c says of one side: formulas, outputs in the order of values, inputs. */
export interface BoardRow {
  of: string;
  symbol?: string;
  meaning?: string;
  source?: string;
  formula?: string;
  numbers?: string;
}
export interface BoardOutput { of: string; unit: string; decides?: boolean }
export interface BoardInput {
  name: string;
  symbol: string;
  meaning: string;
  unit: string;
  value: number;
  least: number;
  most: number;
  source: string;
  assumed: boolean; chosen: boolean;
}
export interface BoardSide { rows: BoardRow[]; outputs: BoardOutput[]; inputs: BoardInput[] }
export interface BoardDoc {
  model?: string;
  machine?: string;
  layout?: string;
  refused?: string;
  infeasible?: string;
  assumed?: string[];
  bound?: BoardSide;
  server?: BoardSide;
  error?: Refusal;
}

export interface Tables {
  verbs: Record<string, string>;
  options: Record<string, { value: boolean; verbs: string }>;
}

export type Side = "bound" | "server";
const SIDE = { bound: 0, server: 1 };
export type Theme = "auto" | "light" | "dark" | "page";
const THEME = { auto: 0, light: 1, dark: 2, page: 3 };

/* The first questions of an engine with their replies, and the pages of its memory that they changed: another engine of the same
 * module continues from them. Between questions the stack is empty, so that the memory is the whole state. */
export interface Begun { size: number; pages: Uint32Array; bytes: Uint8Array; replies: [string, string][] }
const PAGE = 4096;

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  room(size: number): number;
  release(at: number): void;
  shelve(path: number, data: number, size: number): number;
  measured(path: number): number;
  size(): number;
  reply(): number;
  ask(text: number, size: number): number;
  tables(): number;
  board(slot: number, text: number, size: number, rows: number, rowsSize: number): number;
  inputs(slot: number, side: number): number;
  values(slot: number, side: number): number;
  run(slot: number, side: number): void;
  sweep(slot: number, side: number, input: number, x: number, points: number, to: number): void;
  write_quantity(value: number, unit: number, digits: number, field: number): number;
  read_quantity(text: number, unit: number): number;
  picture(json: number, size: number, width: number, height: number, theme: number): number;
  picture_style(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const byteDecoder = new TextDecoder("latin1");          // a character for each byte

/* A value of JSON as the bytes that json_page.c reads. They are written into one room, which grows: a
 * picture that is dragged has thousands of numbers in each frame. */
let flat = new DataView(new ArrayBuffer(1 << 16));

function flatten(value: unknown): Uint8Array {
  let at = 0;
  const reserve = (size: number): void => {
    if (at + size <= flat.byteLength) return;
    const more = new Uint8Array(2 * (at + size));
    more.set(new Uint8Array(flat.buffer, 0, at));
    flat = new DataView(more.buffer);
  };
  const mark = (kind: string): void => { reserve(1); flat.setUint8(at++, kind.charCodeAt(0)); };
  const count = (n: number): void => { reserve(4); flat.setUint32(at, n, true); at += 4; };
  const text = (s: string): void => {
    reserve(4 + 3 * s.length);
    const { written } = encoder.encodeInto(s, new Uint8Array(flat.buffer, at + 4));
    flat.setUint32(at, written!, true);
    at += 4 + written!;
  };
  const walk = (v: unknown): void => {
    if (typeof v === "number") { mark("d"); reserve(8); flat.setFloat64(at, v, true); at += 8; }
    else if (v === null || v === undefined) mark("n");
    else if (v === true) mark("t");
    else if (v === false) mark("f");
    else if (typeof v === "string") { mark("s"); text(v); }
    else if (Array.isArray(v)) { mark("["); count(v.length); for (const kid of v) walk(kid); }
    else {
      const keys = Object.keys(v as object).filter(key => (v as Record<string, unknown>)[key] !== undefined);
      mark("{"); count(keys.length);
      for (const key of keys) { text(key); walk((v as Record<string, unknown>)[key]); }
    }
  };
  walk(value);
  return new Uint8Array(flat.buffer, 0, at);
}

/* Python writes Infinity, which JSON does not have: null, but not inside strings. */
const INFINITY = /"(?:[^"\\]|\\.)*"|-?Infinity/g;

function parse(text: string): Uint8Array {
  try {
    const plain = text.includes("Infinity")
      ? text.replace(INFINITY, found => found.startsWith('"') ? found : "null") : text;
    return flatten(JSON.parse(plain));
  } catch (error) {
    const why = encoder.encode((error as Error).message);
    return new Uint8Array([33, ...new Uint8Array(new Uint32Array([why.length]).buffer), ...why]);
  }
}

/* An extended regular expression of POSIX as one of the browser: inside brackets a backslash is itself, and
 * classes have names. */
const CLASSES: Record<string, string> = { alpha: "a-zA-Z", digit: "0-9", alnum: "a-zA-Z0-9", space: " \\t-\\r", upper: "A-Z", lower: "a-z", punct: "!-\\/:-@\\[-`{-~" };
const BRACKETS = /\[(\^?)(\]?(?:\[:\w+:\]|[^\]])*)\]/g;
const posix = (text: string): RegExp => new RegExp(text.replace(BRACKETS, (_, not: string, inside: string) => `[${not}${
  inside.replace(/\[:(\w+):\]|[\\[\]]/g, (found, name?: string) => name ? CLASSES[name] ?? found : "\\" + found)}]`), "d");

export class Engine {
  private readonly wasm: Exports;
  private parsed = 0;
  private ready: Uint8Array | null = null;               // what is asked for next, parsed already
  private readonly patterns = new Map<string, RegExp>();
  private readonly units = new Map<string, number>();    // that stay: every frame writes numbers

  private fresh: BigUint64Array | null = null;           // in the worker that begins for the page: the memory before all questions
  private readonly asked: [string, string][] = [];       // in this worker: the questions since, with their replies
  private replies: [string, string][];                   // in the page: the replies to its next questions

  private constructor(module: WebAssembly.Module, begun: Begun | null, keeps: boolean) {
    const BAD = 8, NONE = 0;            // WASI: no such file; well
    const system: Record<string, unknown> = new Proxy({}, { get: (_, name) => {
      if (name === "proc_exit") return () => { throw new Error("the engine gave up"); };
      if (name === "clock_time_get") return (id: number, _p: bigint, at: number) => {
        const now = id ? performance.now() : Date.now();        // of the day, else since the start
        new DataView(this.wasm.memory.buffer).setBigUint64(at, BigInt(Math.round(now * 1e6)), true);
        return NONE;
      };
      return () => BAD;
    } });
    const page = { parse: (text: number, size: number) => this.parse(text, size), match: this.match.bind(this) };
    const instance = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: system as WebAssembly.ModuleImports, page });
    this.wasm = instance.exports as unknown as Exports;
    this.replies = begun?.replies ?? [];
    if (!begun) {
      this.fresh = keeps ? new BigUint64Array(this.wasm.memory.buffer.slice(0)) : null;
      this.wasm._initialize();
      return;
    }
    const { memory } = this.wasm;
    memory.grow((begun.size - memory.buffer.byteLength) / 65536);
    const to = new Uint8Array(memory.buffer);
    begun.pages.forEach((page, i) => to.set(begun.bytes.subarray(i * PAGE, (i + 1) * PAGE), page * PAGE));
  }

  static load(module: WebAssembly.Module, begun: Begun | null = null, keeps = false): Engine { return new Engine(module, begun, keeps); }
  /* What the questions so far changed; later questions are not kept. */
  begun(): Begun {
    const { fresh, wasm: { memory: { buffer } } } = this, now = new BigUint64Array(buffer), words = PAGE / 8, pages: number[] = [];
    for (let page = 0; page < now.length / words; page++) {
      let i = page * words;
      const end = i + words;
      while (i < end && now[i] === (fresh![i] ?? 0n)) i++;
      if (i < end) pages.push(page);
    }
    const bytes = new Uint8Array(PAGE * pages.length);
    pages.forEach((page, i) => bytes.set(new Uint8Array(buffer, page * PAGE, PAGE), i * PAGE));
    this.fresh = null;
    return { size: buffer.byteLength, pages: Uint32Array.from(pages), bytes, replies: this.asked };
  }

  /* The engine's answer, a document. The memory is as it is after all of `replies`, so that they are right in their order only:
   * the first other question ends them. */
  private document(question: string, ask: () => number): any {
    if (this.replies[0]?.[0] === question) return JSON.parse(this.replies.shift()![1]);
    this.replies = [];
    const reply = ask(), text = this.text(reply, this.wasm.size());
    if (this.fresh) this.asked.push([question, text]);
    return JSON.parse(text);
  }

  /* What the words ask, as the command line would. */
  ask(words: string[]): Reply {
    return this.document(JSON.stringify(words), () => {
      const [at, size] = this.words(["chalkline", ...words]), reply = this.wasm.ask(at, size);
      this.wasm.release(at);
      return reply;
    });
  }

  /* Verbs with what stands beside them, options with the verbs that take them. */
  tables(): Tables { return this.document("tables", () => this.wasm.tables()); }

  /* From now on a file of this name can be asked about. */
  shelve(name: string, data: Uint8Array): boolean {
    const [path] = this.words([name]);
    const at = this.bytes(data);
    return this.wasm.shelve(path, at, data.length) !== 0;
  }

  /* Does the file of this name have measurements of a server? */
  measured(name: string): boolean {
    const [path] = this.words([name]), told = this.wasm.measured(path) !== 0;
    this.wasm.release(path);
    return told;
  }

  board(slot: number, words: string[], quantities: string[]): BoardDoc {
    return this.document(JSON.stringify([slot, words, quantities]), () => {
      const [at, size] = this.words(["chalkline", "eval", ...words]), [rows, rowsSize] = this.words(quantities);
      const reply = this.wasm.board(slot, at, size, rows, rowsSize);
      this.wasm.release(at);
      this.wasm.release(rows);
      return reply;
    });
  }

  /* Live views: they hold until memory grows, so take them anew for each use. */
  inputs(slot: number, side: Side, count: number): Float64Array {
    return new Float64Array(this.wasm.memory.buffer, this.wasm.inputs(slot, SIDE[side]), count);
  }
  values(slot: number, side: Side, count: number): Float64Array {
    return new Float64Array(this.wasm.memory.buffer, this.wasm.values(slot, SIDE[side]), count);
  }
  run(slot: number, side: Side): void { this.wasm.run(slot, SIDE[side]); }

  /* Values of all outputs along one input: a column each. */
  sweep(slot: number, side: Side, input: number, x: ArrayLike<number>, outputs: number): Float64Array[] {
    const n = x.length, size = 8 * n;
    const at = this.wasm.room(size * (outputs + 1));
    if (!at) throw new Error("out of memory");
    new Float64Array(this.wasm.memory.buffer, at, n).set(x);
    this.wasm.sweep(slot, SIDE[side], input, at, n, at + size);
    const columns: Float64Array[] = [];
    for (let i = 0; i < outputs; i++)
      columns.push(new Float64Array(this.wasm.memory.buffer, at + size * (i + 1), n).slice());
    this.wasm.release(at);
    return columns;
  }

  /* "3.55 ms", as the command line writes it. */
  write(value: number, unit: string, digits = 3, field = false): string {
    if (!Number.isFinite(value)) return "—";
    let at = this.units.get(unit);
    if (at === undefined) {
      [at] = this.words([unit]);
      this.units.set(unit, at);
    }
    const reply = this.wasm.write_quantity(value, at, digits, Number(field));
    return this.text(reply, this.wasm.size());
  }

  /* "20ms" in base units, or why not. */
  read(text: string, unit: string): number | string {
    const [at] = this.words([text, unit]);
    const value = this.wasm.read_quantity(at, at + encoder.encode(text).length + 1);
    this.wasm.release(at);
    return Number.isNaN(value) ? this.text(this.wasm.reply(), this.wasm.size()) : value;
  }

  /* The SVG of a description (report/picture.h): of the page, in its colours, or by itself. */
  picture(description: object, width: number, height = 0, theme: Theme = "page"): string {
    this.ready = flatten(description);
    const reply = this.wasm.picture(0, 0, width, height, THEME[theme]);
    const svg = this.text(reply, this.wasm.size());
    if (svg.startsWith("<")) return svg;
    const { what, hint } = JSON.parse(svg).error as Refusal;
    throw new Error(`${what}; ${hint}`);
  }

  /* The style that pictures of the page need, once. */
  pictureStyle(): string { return this.text(this.wasm.picture_style(), this.wasm.size()); }

  private bytes(data: Uint8Array): number {
    const at = this.wasm.room(data.length || 1);
    if (!at) throw new Error("out of memory");
    new Uint8Array(this.wasm.memory.buffer, at, data.length).set(data);
    return at;
  }
  private words(words: string[]): [number, number] {
    const data = encoder.encode(words.map(word => word + "\0").join(""));
    return [this.bytes(data), data.length];
  }
  private text(at: number, size: number): string {
    return decoder.decode(new Uint8Array(this.wasm.memory.buffer, at, size));
  }
  /* Where a pattern is found (base/pattern_page.c): 1, 0 nowhere, -1 it is none. A character is a byte. */
  private match(pattern: number, patternSize: number, text: number, size: number, to: number, groups: number): number {
    const bytes = (at: number, count: number): string => byteDecoder.decode(new Uint8Array(this.wasm.memory.buffer, at, count));
    const source = bytes(pattern, patternSize);
    try {
      const compiled = this.patterns.get(source) ?? posix(source);
      this.patterns.set(source, compiled);
      const found = compiled.exec(bytes(text, size));
      const offsets = Array.from({ length: groups }, (_, i) => found?.indices?.[i + 1] ?? [-1, -1]).flat();
      new Int32Array(this.wasm.memory.buffer, to, 2 * groups).set(offsets);
      return Number(found !== null);
    } catch { return -1; }
  }
  private parse(text: number, size: number): number {
    const bytes = this.ready ?? parse(this.text(text, size));
    this.ready = null;
    if (this.parsed) this.wasm.release(this.parsed);
    return this.parsed = this.bytes(bytes);
  }
}
