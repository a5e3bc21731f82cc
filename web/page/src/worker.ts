/* A second engine beside the page, for what takes longer than a frame. */
import { Engine } from "./engine";

let engine: Engine | null = null;

onmessage = (event: MessageEvent) => {
  const { id, kind, module, name, data, words, list, quantities, sweeps } = event.data;
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
