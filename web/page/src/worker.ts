/* A second engine beside the page, for what takes longer than a frame. */
import { Engine } from "./engine";

let engine: Engine | null = null;

onmessage = (event: MessageEvent) => {
  const { id, kind, module, name, data, words, slot, quantities, sweeps } = event.data;
  try {
    if (kind === "start") { engine = Engine.load(module); postMessage({ id }); return; }
    if (!engine) throw new Error("not started");
    if (kind === "shelve") { engine.shelve(name, data); postMessage({ id }); return; }
    if (kind === "ask") { postMessage({ id, reply: engine.ask(words) }); return; }
    const doc = engine.board(slot, words, quantities);
    const curves: Record<string, Float64Array[]> = {};
    const values: Record<string, Float64Array> = {};
    for (const side of ["bound", "server"] as const) {
      const of = doc[side];
      if (!of) continue;
      values[side] = engine.values(slot, side, of.outputs.length).slice();
      for (const [input, x] of Object.entries(sweeps as Record<string, number[]>)) {
        const at = of.inputs.findIndex(i => i.name === input);
        if (at >= 0) curves[`${side}:${input}`] = engine.sweep(slot, side, at, x, of.outputs.length);
      }
    }
    postMessage({ id, doc, values, curves });
  } catch (error) {
    engine = null;              // its memory may be anywhere: the page starts another
    postMessage({ id, broken: (error as Error).message });
  }
};
