/* One scenario's board in the page's own engine: values at once, curves at once. */
import type { BoardDoc, BoardInput, BoardOutput, BoardRow, BoardSide, Engine, Refusal } from "./engine";

export class Live {
  doc: BoardDoc = {};
  side: BoardSide = { rows: [], outputs: [], inputs: [] };
  error: Refusal | null = null;
  private readonly at = new Map<string, number>();
  private readonly input = new Map<string, number>();
  private numbers: Float64Array = new Float64Array();
  private decided: number[] = [];

  constructor(private readonly engine: Engine, readonly slot: number) {}

  /* False: refused; what was there before stays. */
  open(words: string[], quantities: string[]): boolean {
    const doc = this.engine.board(this.slot, words, quantities);
    this.error = doc.error ?? null;
    if (!doc.bound) return false;
    this.doc = doc;
    this.side = doc.bound;
    this.at.clear();
    this.input.clear();
    this.side.outputs.forEach((output, i) => this.at.set(output.of, i));
    this.side.inputs.forEach((input, i) => this.input.set(input.name, i));
    this.take();
    this.decided = this.decisions();
    return true;
  }

  /* The same without what has no single number here: a row with a value for each layer, a tier
   * that this machine lacks. */
  openWhat(words: string[], quantities: string[]): boolean {
    let wanted = quantities;
    for (let tries = 0; tries < 24; tries++) {
      if (this.open(words, wanted)) return true;
      const named = [...(this.error?.what ?? "").matchAll(/'([^']+)'/g)].map(m => m[1]);
      const left = wanted.filter(q => !named.some(n => q === n || q.endsWith(`[${n}]`)));
      if (left.length === wanted.length) return false;
      wanted = left;
    }
    return false;
  }

  private take(): void {
    this.numbers = this.engine.values(this.slot, "bound", this.side.outputs.length).slice();
  }

  private decisions(): number[] {
    return this.side.outputs.flatMap((output, i) => output.decides ? [this.numbers[i]] : []);
  }

  /* Move an input; true: another branch of a formula is now taken, so open anew. */
  move(name: string, value: number): boolean {
    const i = this.input.get(name);
    if (i === undefined) return false;
    this.engine.inputs(this.slot, "bound", this.side.inputs.length)[i] = value;
    this.engine.run(this.slot, "bound");
    this.take();
    return this.decisions().some((d, k) => d !== this.decided[k]);
  }

  has(of: string): boolean { return this.at.has(of); }
  value(of: string): number { return this.numbers[this.at.get(of) ?? -1] ?? NaN; }
  output(index: number): BoardOutput { return this.side.outputs[index]; }
  number(index: number): number { return this.numbers[index]; }
  unit(of: string): string { return this.side.outputs[this.at.get(of) ?? -1]?.unit ?? "1"; }
  row(of: string): BoardRow | undefined { return this.side.rows.find(row => row.of === of); }

  /* As it stands now, after moves. */
  inputOf(name: string): (BoardInput & { now: number }) | undefined {
    const i = this.input.get(name);
    if (i === undefined) return undefined;
    return { ...this.side.inputs[i], now: this.engine.inputs(this.slot, "bound", this.side.inputs.length)[i] };
  }

  write(of: string, digits = 3): string { return this.engine.write(this.value(of), this.unit(of), digits); }

  /* Columns by quantity along an input; null: the input is not on this board. */
  sweep(name: string, x: number[]): ((of: string) => Float64Array | null) | null {
    const i = this.input.get(name);
    if (i === undefined) return null;
    const columns = this.engine.sweep(this.slot, "bound", i, x, this.side.outputs.length);
    return of => { const k = this.at.get(of); return k === undefined ? null : columns[k]; };
  }

  /* The outputs if some inputs had other values; then all is as before. */
  trial(changes: [string, number][], of: string): number {
    const inputs = this.engine.inputs(this.slot, "bound", this.side.inputs.length);
    const before = inputs.slice();
    for (const [name, value] of changes) {
      const i = this.input.get(name);
      if (i !== undefined) inputs[i] = value;
    }
    this.engine.run(this.slot, "bound");
    const k = this.at.get(of) ?? -1;
    const result = this.engine.values(this.slot, "bound", this.side.outputs.length)[k] ?? NaN;
    this.engine.inputs(this.slot, "bound", this.side.inputs.length).set(before);
    this.engine.run(this.slot, "bound");
    return result;
  }
}
