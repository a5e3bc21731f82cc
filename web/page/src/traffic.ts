/* A simulated hour: what waits, what runs, and the distribution of TTFT, played as it came. */
import type { Client } from "./client";
import type { Engine } from "./engine";
import { Picture } from "./picture";
import { type Scenario, words } from "./state";

interface Request { arrival: number; first: number; end: number }

const POINTS = 240, BINS = 40;

export class Traffic {
  private requests: Request[] = [];
  private arrivals: number[] = [];
  private firsts: number[] = [];
  private ends: number[] = [];
  private readonly queue = new Picture("queue");
  private readonly first = new Picture("ttft");
  private readonly field: HTMLInputElement;
  private readonly said: HTMLElement;
  private readonly time: HTMLInputElement;
  private readonly button: HTMLButtonElement;
  private frame = 0;
  private length = 0;
  private summary = "";

  constructor(element: HTMLElement, private readonly engine: Engine, private readonly client: Client,
              private readonly scenario: () => Scenario, private readonly kept: (trace: string) => void) {
    element.innerHTML = `<h2>Replay traffic</h2>
      <div class="row"><label>requests <input type="text" id="trace" spellcheck="false"></label><button type="button" id="replay">replay</button>
      <button type="button" id="play" hidden>play</button></div>
      <p class="said">A description, or drop a trace on the page: CSV or JSON lines with arrivals, prompt and output lengths, plain or gzip.</p>
      <input type="range" id="clock" min="0" max="${POINTS}" value="${POINTS}" aria-label="time of the replay" hidden>
      <div class="pictures"></div>`;
    this.field = element.querySelector("#trace")!;
    this.said = element.querySelector(".said")!;
    this.time = element.querySelector("#clock")!;
    this.button = element.querySelector("#play")!;
    element.querySelector(".pictures")!.append(this.queue.element, this.first.element);
    this.queue.element.hidden = this.first.element.hidden = true;
    element.querySelector("#replay")!.addEventListener("click", () => this.run());
    this.field.addEventListener("keydown", event => { if (event.key === "Enter") void this.run(); });
    this.time.addEventListener("input", () => this.draw());
    this.button.addEventListener("click", () => this.play());
  }

  show(trace: string): void { if (document.activeElement !== this.field) this.field.value = trace || "poisson:rate=2,count=1200,input=2000,output=300"; }

  redraw(): void { this.queue.redraw(); this.first.redraw(); }

  async run(trace = this.field.value.trim()): Promise<void> {
    this.field.value = trace;
    const of = this.scenario();
    this.kept(trace);
    this.said.textContent = "replaying…";
    const plain = { ...of, options: new Map([...of.options].filter(([name]) => ["gpus", "precision", "kv-precision", "experts-precision", "engine"].includes(name))) };
    const began = performance.now();
    const reply = await this.client.ask("traffic", ["simulate", trace, ...words(plain), "--requests", "-"]);
    if (!reply) return;
    if (reply.error) { this.said.textContent = `${reply.error.what}. ${reply.error.hint}`; return; }
    const lines = (reply.text ?? "").split("\n").filter(line => /^\d+,/.test(line)).map(line => line.split(","));
    this.requests = lines.map(cells => ({ arrival: Number(cells[1]), first: cells[4] === "" ? Infinity : Number(cells[4]), end: cells[5] === "" ? Infinity : Number(cells[5]) }));
    this.length = this.requests.reduce((most, r) => Math.max(most, Number.isFinite(r.end) ? r.end : r.arrival), 1e-9);
    const sorted = (of: (r: Request) => number): number[] => this.requests.map(of).sort((a, b) => a - b);
    this.arrivals = sorted(r => r.arrival);
    this.firsts = sorted(r => r.first);
    this.ends = sorted(r => r.end);
    const write = (v: number): string => this.engine.write(v, "s");
    this.summary = `${this.requests.length.toLocaleString("en")} requests over ${write(this.length)}, replayed in ${((performance.now() - began) / 1000).toFixed(2)} s`;
    this.said.textContent = this.summary;
    this.queue.element.hidden = this.first.element.hidden = this.time.hidden = this.button.hidden = false;
    this.time.value = String(POINTS);
    this.draw();
  }

  private play(): void {
    cancelAnimationFrame(this.frame);
    if (Number(this.time.value) >= POINTS) this.time.value = "0";
    const step = (): void => {
      this.time.value = String(Number(this.time.value) + 1);
      this.draw();
      if (Number(this.time.value) < POINTS) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  private draw(): void {
    const now = this.length * Number(this.time.value) / POINTS, write = (v: number): string => this.engine.write(v, "s");
    const { arrivals, firsts, ends } = this;
    const x: number[] = [], waiting: (number | null)[] = [], running: (number | null)[] = [];
    const upTo = (list: number[], at: number): number => { let low = 0, high = list.length; while (low < high) { const m = (low + high) >> 1; if (list[m] <= at) low = m + 1; else high = m; } return low; };
    for (let i = 0; i <= POINTS; i++) {
      const at = this.length * i / POINTS;
      x.push(at);
      waiting.push(at <= now ? upTo(arrivals, at) - upTo(firsts, at) : null);
      running.push(at <= now ? upTo(firsts, at) - upTo(ends, at) : null);
    }
    const most = Math.max(...waiting.map(v => v ?? 0));
    this.queue.draw({ kind: "curves", x, xName: "time", yName: "requests", title: `Up to ${most.toLocaleString("en")} requests wait for their first token`,
      lines: [{ name: "running", y: running, colour: 0 }, { name: "waiting", y: waiting, colour: 3 }], xWrite: write, yWrite: v => v.toLocaleString("en") });
    const seen = this.requests.filter(r => r.first <= now).map(r => r.first - r.arrival).sort((a, b) => a - b);
    if (!seen.length) return;
    const low = Math.max(seen[0], 1e-4), high = Math.max(seen[seen.length - 1], low * 1.01);
    const edges = Array.from({ length: BINS + 1 }, (_, i) => low * Math.pow(high / low, i / BINS));
    const share = edges.map(edge => upTo(seen, edge) / seen.length);
    const at = (q: number): number => seen[Math.min(seen.length - 1, Math.floor(q * seen.length))];
    this.first.draw({ kind: "curves", x: edges, xLog: true, xName: "TTFT", yName: "share of the requests", title: `Half of the requests have their first token within ${write(at(0.5))}, 99 % within ${write(at(0.99))}`,
      lines: [{ name: "TTFT below", y: share, colour: 0 }], xWrite: write, yWrite: v => `${Math.round(100 * v)} %` });
  }
}
