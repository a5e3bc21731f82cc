/* Questions to the worker. The newest of a kind wins: an older one that still waits is dropped. */
import type { BoardDoc, Reply } from "./engine";
import workerCode from "virtual:worker";

export interface BoardReply {
  doc: BoardDoc;
  values: Record<string, Float64Array>;
  curves: Record<string, Float64Array[]>;
}

type Message = Record<string, unknown>;

export class Client {
  private worker: Worker | null = null;     // begun by the first question, after the first number
  private busy: number | null = null;
  private readonly done = new Map<number, (data: any) => void>();
  private queue: { id: number; lane: string; message: Message }[] = [];
  private readonly files = new Map<string, Uint8Array>();
  private next = 1;

  constructor(private readonly module: WebAssembly.Module) {}

  private begin(): Worker {
    const url = URL.createObjectURL(new Blob([workerCode], { type: "text/javascript" }));
    const worker = this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = event => this.answered(event.data);
    worker.onerror = event => this.answered({ id: this.busy, broken: event.message });
    worker.postMessage({ id: 0, kind: "start", module: this.module });
    for (const [name, data] of this.files) worker.postMessage({ id: 0, kind: "shelve", name, data });
    return worker;
  }

  private answered(data: any): void {
    if (!data.id) return;
    if (data.broken) { this.worker?.terminate(); this.worker = null; }
    this.done.get(data.id)?.(data);
    this.done.delete(data.id);
    this.busy = null;
    this.send();
  }

  private send(): void {
    const first = this.busy === null ? this.queue.shift() : undefined;
    if (!first) return;
    this.busy = first.id;
    (this.worker ?? this.begin()).postMessage({ id: first.id, ...first.message });
  }

  private post(lane: string, message: Message): Promise<any | null> {
    const id = this.next++;
    for (const old of this.queue.filter(q => q.lane === lane)) {
      this.done.get(old.id)?.(null);
      this.done.delete(old.id);
    }
    this.queue = this.queue.filter(q => q.lane !== lane);
    return new Promise(resolve => {
      this.done.set(id, resolve);
      this.queue.push({ id, lane, message });
      this.send();
    });
  }

  shelve(name: string, data: Uint8Array): void {
    this.files.set(name, data);
    this.worker?.postMessage({ id: 0, kind: "shelve", name, data });
  }

  /* null: a newer question of this lane took its place. */
  async ask(lane: string, words: string[]): Promise<Reply | null> {
    const data = await this.post(lane, { kind: "ask", words });
    if (!data) return null;
    return data.broken ? { error: { what: data.broken, hint: "ask for less" } } : data.reply;
  }

  async board(lane: string, slot: number, words: string[], quantities: string[],
              sweeps: Record<string, number[]>): Promise<BoardReply | null> {
    const data = await this.post(lane, { kind: "board", slot, words, quantities, sweeps });
    return !data || data.broken ? null : data;
  }
}
