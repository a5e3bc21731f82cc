/* How fast the page is, in plain lines; nothing is asserted. */
import { readFileSync } from "node:fs";
import { gzipSync, brotliCompressSync } from "node:zlib";
import { file, launch, open, settled, START } from "./browser.mjs";

const LOADS = 7, MOVES = 200;
const at = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];

const page = readFileSync(file);
console.log(`page ${(page.length / 1000).toFixed(0)} kB, gzip ${(gzipSync(page, { level: 9 }).length / 1000).toFixed(0)} kB, ` +
            `brotli ${(brotliCompressSync(page).length / 1000).toFixed(0)} kB`);

const browser = await launch();
const fresh = () => browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true });
const ready = [], painted = [], answered = [];
for (let i = 0; i < LOADS; i++) {
  const context = await fresh(), began = await open(context);
  ready.push(Number(await began.getAttribute("html", "data-ready")));
  painted.push(await began.evaluate(() => new Promise(done =>
    requestAnimationFrame(() => done(performance.getEntriesByType("paint")[0]?.startTime ?? NaN)))));
  await settled(began);
  answered.push(await began.evaluate(() => performance.now()));
  await context.close();
}
console.log(`first number after ${at(ready, 0.5)} ms (median of ${LOADS}; ${Math.min(...ready)} to ${Math.max(...ready)})`);
console.log(`first paint after ${at(painted, 0.5).toFixed(0)} ms; the worker has answered all after ${at(answered, 0.5).toFixed(0)} ms`);

/* Each move in a frame of its own: the handlers, then all that the frame calls, until it is painted. */
const context = await fresh();
for (const [chapter, input] of [["batch", "batch"], ["batch", "context"], ["memory", "hold_time"], ["experts", "batch"],
                                ["prices", "context"]]) {
  const moved = await open(context, `#${chapter}?${START}`);
  await settled(moved);
  const times = await moved.evaluate(async ([name, moves]) => {
    const slider = document.querySelector(`#inputs .input[data-name="${name}"] input[type=range]`);
    const script = [], whole = [], real = window.requestAnimationFrame.bind(window);
    let spent = 0;
    window.requestAnimationFrame = call => real(t => { const began = performance.now(); call(t); spent += performance.now() - began; });
    const frame = () => new Promise(done => real(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    for (let i = 0; i < moves; i++) {
      slider.value = String(200 + Math.round(600 * Math.abs(Math.sin(i / 17))));
      spent = 0;
      const began = performance.now();
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      const handlers = performance.now() - began;
      await frame();
      whole.push(performance.now() - began);
      script.push(handlers + spent);
    }
    slider.dispatchEvent(new Event("change", { bubbles: true }));
    const began = performance.now();
    await new Promise(done => setTimeout(done));
    return { script, whole, rest: performance.now() - began };
  }, [input, MOVES]);
  const f = v => v.toFixed(1);
  console.log(`${chapter}, slider of ${input}: script ${f(at(times.script, 0.5))} ms, p95 ${f(at(times.script, 0.95))} ms; ` +
              `until painted ${f(at(times.whole, 0.5))} ms, p95 ${f(at(times.whole, 0.95))} ms; board anew after it ${f(times.rest)} ms`);
  await moved.close();
}
await browser.close();
