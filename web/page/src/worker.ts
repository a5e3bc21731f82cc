/* The page's script in a worker. It unpacks the engine and opens the first board while the browser lays the page out and
 * shows what was built in; the page goes on from a copy of its memory. Then it answers what takes longer than a frame. */
import { App } from "./app";
import type { Client } from "./client";
import { Engine } from "./engine";

let engine: Engine | null = null;

async function unpacked(text: string): Promise<WebAssembly.Module> {
  const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  const packed = direct ? direct.call(Uint8Array, text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

/* An address that the engine gives up at is opened, and refused, in the page. */
async function begin(packed: string, hash: string): Promise<void> {
  const module = await unpacked(packed), first = Engine.load(module, null, true);
  let begun = null;
  try {
    if (hash) await new App(first, null as unknown as Client).prepare(hash);
    begun = first.begun();
    engine = first;
  } catch { engine = Engine.load(module); }
  postMessage({ module, begun }, { transfer: begun ? [begun.bytes.buffer] : [] });
}

export function work(): void {
  Object.assign(globalThis, { window: { setTimeout: () => 0 }, document: { documentElement: { dataset: {} } } });
  onmessage = (event: MessageEvent) => {
    const { id, kind, module, name, data, packed, hash, words, list, quantities, sweeps } = event.data;
    if (kind === "unpack") { begin(packed, hash).catch(error => postMessage({ failed: String(error) })); return; }
    try {
      if (kind === "start") { engine = Engine.load(module); return; }
      if (!engine) throw new Error("not started");
      if (kind === "shelve") { engine.shelve(name, data); return; }
      if (kind === "ask") { postMessage({ id, reply: engine.ask(words) }); return; }
      if (kind === "asks") { const asked = engine; postMessage({ id, replies: (list as string[][]).map(one => asked.ask(one)) }); return; }
      const doc = engine.board(0, words, quantities);
      const curves: Record<string, Float64Array[]> = {};
      const values: Record<string, Float64Array> = {};
      for (const side of ["bound", "server"] as const) {
        const of = doc[side];
        if (!of) continue;
        values[side] = engine.values(0, side, of.outputs.length).slice();
        for (const [input, x] of Object.entries(sweeps as Record<string, number[]>)) {
          const at = of.inputs.findIndex(i => i.name === input);
          if (at >= 0) curves[`${side}:${input}`] = engine.sweep(0, side, at, x, of.outputs.length);
        }
      }
      postMessage({ id, doc, values, curves });
    } catch (error) {
      engine = null;              // its memory may be anywhere: the page starts another
      postMessage({ id, broken: (error as Error).message });
    }
  };
}
