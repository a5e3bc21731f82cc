/* How fast the page is, in plain lines, as it is and with the processor slowed four times; nothing is
 * asserted. On a machine that does other work too, compare what stands beside the milliseconds: how many times an idle loop,
 * which the same page ran just before, would fit. */
import { readFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { file, launch, open, settled } from "./browser.mjs";

const LOADS = Number(process.env.LOADS ?? 7), MOVES = 150;
const at = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];
const f = v => v.toFixed(1);
/* The fastest of five loops of a million multiplications, in ms. */
const idle = page => page.evaluate(() => Math.min(...Array.from({ length: 5 }, () => { const began = performance.now(); let sum = 1; for (let i = 0; i < 1e6; i++) sum = Math.imul(sum, 1103515245) + i | 0; return performance.now() - began + 0 * sum; })));

const page = readFileSync(file);
console.log(`page ${(page.length / 1000).toFixed(0)} kB, packed ${(readFileSync(file + ".gz").length / 1000).toFixed(0)} kB, brotli ${(brotliCompressSync(page).length / 1000).toFixed(0)} kB`);

const browser = await launch();
for (const slow of [1, 4]) {
  const fresh = async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true }), blank = await context.newPage();
    const session = await context.newCDPSession(blank);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slow });
    return { context, blank };
  };
  for (const hash of ["#lecture/batch", "#lecture/batch.crossover", "#model"]) {
    const ready = [], marks = [], whole = [], painted = [], loops = [];
    for (let i = 0; i < LOADS; i++) {
      const { context, blank } = await fresh();
      loops.push(await idle(blank));
      await blank.goto("file://" + file + hash);
      await blank.waitForFunction(() => document.documentElement.dataset.ready);
      painted.push(await blank.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()));
      ready.push(Number(await blank.getAttribute("html", "data-ready")));
      marks.push(await blank.evaluate(() => performance.getEntriesByType("mark").map(m => `${m.name} ${Math.round(m.startTime)}`).join(", ")));
      if (slow === 1) { await settled(blank); whole.push(await blank.evaluate(() => performance.now())); }
      await context.close();
    }
    const middle = ready.indexOf(at(ready, 0.5)), times = list => f(at(list.map((ms, i) => ms / loops[i]), 0.5));
    console.log(`${slow} x slower: ${hash} is painted after ${at(painted, 0.5).toFixed(0)} ms = ${times(painted)} loops, live after ${ready[middle]} ms = ${times(ready)} loops (${Math.min(...ready)} to ${Math.max(...ready)}; ${marks[middle]})${whole.length ? `; all is answered after ${at(whole, 0.5).toFixed(0)} ms` : ""}`);
  }
  /* Each move in a frame of its own: the handler, then all that the frame calls, until it is painted. */
  for (const [hash, row] of [["#lecture/batch", "batch"], ["#lecture/batch", "context"], ["#lecture/experts", "batch"], ["#lecture/memory", "hold_time"], ["#model", "speed"]]) {
    const { context, blank } = await fresh();
    await blank.goto("file://" + file + hash);
    await settled(blank);
    const loop = await idle(blank), times = await blank.evaluate(async ([name, moves]) => {
      const app = window.chalkline, script = [], whole = [], real = window.requestAnimationFrame.bind(window);
      let spent = 0;
      window.requestAnimationFrame = call => real(t => { const began = performance.now(); call(t); spent += performance.now() - began; });
      const frame = () => new Promise(done => real(() => { const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); }));
      for (let i = 0; i < moves; i++) {
        const share = Math.abs(Math.sin(i / 17));
        spent = 0;
        const began = performance.now();
        if (name === "speed") app.dispatch({ do: "speed", value: 10 + 80 * share }, true);
        else { const input = app.numbers.input(name); app.dispatch({ do: "set", side: "deck", row: name, text: String(Math.round(Math.max(1, input.value * (0.9 + 0.2 * share)))) }, true); }
        const handler = performance.now() - began;
        await frame();
        whole.push(performance.now() - began);
        script.push(handler + spent);
      }
      return { script, whole };
    }, [row, MOVES]);
    console.log(`${slow} x slower: ${hash}, ${row}: script ${f(at(times.script, 0.5))} ms, p95 ${f(at(times.script, 0.95))}; until painted ${f(at(times.whole, 0.5))} ms, p95 ${f(at(times.whole, 0.95))} = ${f(at(times.whole, 0.95) / loop)} loops`);
    await context.close();
  }
}
await browser.close();
