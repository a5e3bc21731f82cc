/* Questions to a second engine in a worker. The newest of a lane wins: an older one that waits is
 * dropped, one that runs is stopped with its worker. What a question asks is its number: the page
 * shows an answer only to the question that it has now. */
import type { BoardDoc, Reply } from "./engine";

export interface BoardReply {
  doc: BoardDoc;
  values: Record<string, Float64Array>;
  curves: Record<string, Float64Array[]>;
}
export type Question =
  | { kind: "ask"; words: string[] }
  | { kind: "asks"; list: string[][] }
  | { kind: "board"; words: string[]; quantities: string[]; sweeps: Record<string, number[]> };

/* A worker that runs the page's own script. */
export function thread(code: string): Worker {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" })), worker = new Worker(url);
  URL.revokeObjectURL(url);
  return worker;
}

export class Client {
  private busy: { id: number; lane: string } | null = null;
  private readonly done = new Map<number, (data: any) => void>();
  private queue: { id: number; lane: string; message: Question }[] = [];
  private readonly files = new Map<string, Uint8Array>();
  private next = 1;

  /* The first worker has its engine already. */
  constructor(private readonly module: WebAssembly.Module, private readonly code: string, private worker: Worker | null) { if (worker) this.listen(worker); }

  private listen(worker: Worker): void {
    worker.onmessage = event => { if (worker === this.worker) this.answered(event.data); };
    worker.onerror = event => { if (worker === this.worker) this.answered({ id: this.busy?.id, broken: event.message }); };
  }

  private begin(): Worker {
    const worker = this.worker = thread(this.code);
    this.listen(worker);
    worker.postMessage({ id: 0, kind: "start", module: this.module });
    for (const [name, data] of this.files) worker.postMessage({ id: 0, kind: "shelve", name, data });
    return worker;
  }

  private stop(): void { this.worker?.terminate(); this.worker = null; this.busy = null; }

  private settle(id: number, data: any): void {
    this.done.get(id)?.(data);
    this.done.delete(id);
  }

  private answered(data: any): void {
    if (!data.id) return;
    if (data.broken) this.stop();
    this.busy = null;
    this.settle(data.id, data);
    this.send();
  }

  private send(): void {
    const first = this.busy === null ? this.queue.shift() : undefined;
    if (!first) return;
    this.busy = { id: first.id, lane: first.lane };
    (this.worker ?? this.begin()).postMessage({ id: first.id, ...first.message });
  }

  /* Nobody waits for an answer of this lane any more. */
  forget(lane: string): void {
    for (const old of this.queue.filter(q => q.lane === lane)) this.settle(old.id, null);
    this.queue = this.queue.filter(q => q.lane !== lane);
    if (this.busy?.lane === lane) { const { id } = this.busy; this.stop(); this.settle(id, null); this.send(); }
  }

  shelve(name: string, data: Uint8Array): void {
    this.files.set(name, data);
    this.worker?.postMessage({ id: 0, kind: "shelve", name, data });
  }

  /* null: a newer question of this lane took its place. */
  post(lane: string, message: Question): Promise<any | null> {
    this.forget(lane);
    const id = this.next++;
    return new Promise(resolve => {
      this.done.set(id, resolve);
      this.queue.push({ id, lane, message });
      this.send();
    });
  }
}

export const broken = (data: any): Reply | null => data?.broken ? { error: { what: "this took more than the browser gives", hint: "ask for less" } } : null;
