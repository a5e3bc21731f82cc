/* The numbers of one scenario: an open board of the engine that follows its inputs. */
import type { BoardInput, Engine } from "./engine";
import { Live } from "./live";
import { type Refusal, type Scenario, words } from "./state";

/* Where a slider and a drag end: [low, high, whole]; else around the value, within what the row allows. */
export const RANGES: Readonly<Record<string, readonly [number, number, boolean]>> = {
  batch: [1, 65536, true], context: [128, 4194304, true], chips: [1, 2304, true],
  prompt_tokens: [16, 262144, true], output_tokens: [1, 32768, true], pipeline_parallel: [1, 64, true], lecture_stages: [1, 64, true],
  tokens_per_pass: [1, 4096, true], chip_price: [0.2 / 3600, 30 / 3600, false], weight_bytes: [0.25, 4, false],
  hold_time: [0.01, 2.6e6, false], model_lifetime: [7 * 86400, 730 * 86400, false], ship_probability: [0.05, 1, false],
  stacked_layers: [1, 512, true], micro_batches: [1, 128, true], scale_up_domains: [1, 16, true], top_k: [1, 64, true],
  price_step_context: [8192, 2097152, true], price_step: [1.05, 4, false], family_size: [1, 100, true], price_over_cost: [0.1, 20, false],
  hop_time: [1e-5, 0.05, false], coupling_slope: [0.001, 2, false], inference_efficiency: [0.05, 1, false],
  token_rate: [1e6, 1e10, false], resume_limit: [0.05, 100, false], hit_ratio: [0.01, 1, false], moe_layers: [1, 128, true],
  batch_over_crossover: [0.02, 50, false], context_over_crossover: [0.01, 50, false], feistel_left: [0, 20, true], feistel_right: [0, 20, true],
  rl_flop_per_param: [2, 6, false], params_active: [1e8, 1e13, false], params_total: [1e8, 1e14, false], kv_per_token: [16, 4e6, false],
};

export interface Input { name: string; value: number; unit: string; low: number; high: number; whole: boolean; log: boolean; meaning: string; source: string; assumed: boolean; free: boolean }

const COUNTS = new Set(["1", "token"]);

function around(name: string, value: number, unit: string, facts: BoardInput | undefined): [number, number, boolean] {
  const known = RANGES[name];
  const whole = facts !== undefined && COUNTS.has(unit) && Number.isInteger(value) && value >= 1;
  let [low, high, counts] = known ?? (value > 0 ? [value / 1000, value * 1000, whole] : [facts?.least ?? 0, Math.min(facts?.most ?? 1, 1), false]);
  if (unit === "1" && facts && facts.most <= 1 && facts.least >= 0) [low, high, counts] = [facts.least, facts.most, false];
  low = Math.max(low, facts?.least ?? -Infinity, counts ? 1 * Number(low > 0) : -Infinity);
  high = Math.min(high, facts?.most ?? Infinity);
  return [Math.min(low, value), Math.max(high, value), counts];
}

/* What of an error's words names a field of the page. */
export function fieldOf(what: string, of: Scenario): string {
  if (/unknown model|model '|configuration/.test(what)) return "model";
  if (/unknown machine|machine '/.test(what)) return "on";
  const named = [...Object.keys(of.given), ...Object.keys(of.options)].find(name => new RegExp(`(^|[^\\w])${name.replace(/[^\w-]/g, ".")}([^\\w]|$)`).test(what));
  return named ?? (/precision|format/.test(what) ? "precision" : "address");
}

/* Every given row with its text; options that are rows among them. */
const ROW_OF_OPTION: Readonly<Record<string, string>> = { gpus: "chips", batch: "batch", context: "context", isl: "prompt_tokens", osl: "output_tokens" };
function rowsOf(of: Scenario): Map<string, string> {
  const rows = new Map<string, string>(Object.entries(of.given));
  for (const [name, text] of Object.entries(of.options)) rows.set(ROW_OF_OPTION[name] ?? "--" + name, text);
  return rows;
}

/* Several tokens are tokens. */
export const counted = (text: string): string => text === "1 token" ? text : text.replace(/ token$/, " tokens");

export class Numbers {
  readonly live: Live;
  of: Scenario | null = null;
  private rows = "";
  stale = false;                // moved since it was opened: what is assumed may follow, ask again at rest

  constructor(private readonly engine: Engine, slot: number) { this.live = new Live(engine, slot); }

  /* Null: these are the numbers of this scenario now. A refusal: those of the one before stay. */
  update(of: Scenario, quantities: readonly string[], moving: boolean): Refusal | null {
    const rows = quantities.join(" ");
    if (this.of && rows === this.rows && !(this.stale && !moving)) {
      if (this.of === of) return null;
      const moved = moving ? this.onlyMoved(of) : null;
      if (moved) {
        this.of = of;
        this.stale = true;
        this.live.move(moved[0], moved[1]);
        return null;                    // the values are right; which branch of a formula is printed follows at rest
      }
    }
    if (!this.live.openWhat(words(of), [...quantities])) {
      const error = this.live.error!;
      return { field: fieldOf(error.what, of), says: error.what + (error.hint ? `: ${error.hint}` : "") };
    }
    this.of = of;
    this.rows = rows;
    this.stale = false;
    return null;
  }

  /* The one input that differs, if it is open and nothing else does. */
  private onlyMoved(of: Scenario): [string, number] | null {
    if (!this.of || of.model !== this.of.model || of.on !== this.of.on) return null;
    const before = rowsOf(this.of), now = rowsOf(of);
    const differ = [...new Set([...before.keys(), ...now.keys()])].filter(name => before.get(name) !== now.get(name));
    if (differ.length !== 1 || !now.has(differ[0])) return null;
    const input = this.live.inputOf(differ[0]);
    if (!input) return null;
    const value = this.engine.read(now.get(differ[0])!, input.unit);
    return typeof value === "number" && value >= input.least && value <= input.most ? [differ[0], value] : null;
  }

  has(row: string): boolean { return this.live.has(row) || this.live.inputOf(row) !== undefined; }
  value(row: string): number { return this.live.has(row) ? this.live.value(row) : this.live.inputOf(row)?.now ?? NaN; }
  unit(row: string): string { return this.live.has(row) ? this.live.unit(row) : this.live.inputOf(row)?.unit ?? "1"; }
  price(perToken: number): string { return counted(this.engine.write(perToken, "USD/token", 3)); }
  write(row: string, digits = 3): string { return counted(this.engine.write(this.value(row), this.unit(row), digits)); }
  symbol(row: string): string {
    const symbol = this.live.row(row)?.symbol ?? this.live.inputOf(row)?.symbol ?? "";
    return symbol.includes("word") ? "" : symbol;
  }
  meaning(row: string): string { return this.live.row(row)?.meaning ?? this.live.inputOf(row)?.meaning ?? ""; }
  source(row: string): string { return this.live.inputOf(row)?.source ?? this.live.row(row)?.source ?? ""; }

  /* As something to be dragged: an input of the board, or a row that can be given a value of its own. */
  input(row: string): Input {
    const facts = this.live.inputOf(row), value = this.value(row), unit = this.unit(row);
    const [low, high, whole] = around(row, value, unit, facts);
    return { name: row, value, unit, low, high, whole, log: low > 0 && high / low > 8, meaning: this.meaning(row), source: this.source(row),
             assumed: facts?.assumed ?? false, free: facts !== undefined };
  }

  /* Columns of quantities along an input. */
  sweep(row: string, x: readonly number[]): (of: string) => number[] {
    const columns = this.live.sweep(row, [...x]);
    return of => {
      const column = columns?.(of);
      return column ? Array.from(column) : x.map(v => of === row ? v : this.value(of));
    };
  }
}
