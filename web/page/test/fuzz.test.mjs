/* Random actions of a reader: no complaint, no number that is none, and memory that does not grow.
 * A few seconds; ten minutes with CHALKLINE_LONG. FUZZ_SEED repeats a run. */
import assert from "node:assert";
import { after as atEnd, before, test } from "node:test";
import { launch, open, SCREENS, settled } from "./browser.mjs";
import { random } from "./engine.mjs";

const LONG = !!process.env.CHALKLINE_LONG, ACTIONS = LONG ? Infinity : 90, SPAN = LONG ? 600e3 : 60e3, SEED = Number(process.env.FUZZ_SEED ?? 20261123);
let browser, page;
before(async () => { browser = await launch(); page = await open(await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true })); });
atEnd(() => browser?.close());

const draw = random(SEED), pick = list => list[Math.floor(draw() * list.length)];
const MODELS = ["deepseek-v3", "llama-3.1-8b", "qwen3-30b-a3b", "no-such-model", ""], MACHINES = ["h100-sxm", "gb200-nvl72", "rtx-4090", "nowhere", ""];
const ROWS = ["batch", "context", "hbm_bandwidth", "params_total", "params_active", "kv_per_token", "chips", "hold_time", "pretrain_tokens", "stacked_layers", "top_k", "micro_batches", "coupling_slope", "weight_bytes", "experts"];
const TEXTS = ["0", "-1", "1", "3.5", "1e-9", "1e9", "1e30", "inf", "8TB/s", "200k", "5min", "x", "", "1e12"];
const ACTS = [
  () => ["hash", pick(SCREENS) + pick(["", "?mine", `?mine&model=${pick(MODELS)}&on=${pick(MACHINES)}`, `?${pick(ROWS)}=${encodeURIComponent(pick(TEXTS))}`, "?utm_source=x", "?speed=" + pick(TEXTS), "?set=" + encodeURIComponent(`${pick(ROWS)}=${pick(TEXTS)}`)])],
  () => ["do", { do: "set", side: pick(["A", "B", "card", "deck"]), row: pick(ROWS), text: pick(TEXTS) }, draw() < 0.5],
  () => ["do", { do: "set", side: "deck", row: pick(ROWS), text: String(10 ** (draw() * 14 - 2)) }, true],
  () => ["do", { do: "unset", side: pick(["A", "card", "deck"]), row: pick(ROWS) }],
  () => ["do", { do: "name", side: pick(["A", "card"]), of: pick(["model", "on"]), text: pick([...MODELS, ...MACHINES]) }],
  () => ["do", { do: "beside", on: pick(["b200-sxm", "nowhere", null]) }],
  () => ["do", { do: "speed", value: 5 + draw() * 200 }],
  () => ["do", { do: "mine", mine: draw() < 0.5 }],
  () => ["do", { do: "statement", id: "x.y", deck: pick(["", "step200k; context=100000token", "rack64; moe256; batch=9", "bound_step=20ms", "no_such_row=1", "two-numbers"]) }],
  () => ["do", { do: "why", of: pick(ROWS), side: "deck" }],
  () => ["do", { do: "panel", panel: pick([null, "inputs", "quiz", "find"]), words: pick(["", "bubble", "1"]) }],
  () => ["undo"], () => ["redo"], () => ["key", pick(["ArrowRight", "PageUp", "Home", "End", "Escape", "Enter", "t", "Tab", "5"])],
  () => ["drag", draw(), draw(), draw()], () => ["theme"], () => ["size", pick([390, 1024, 1280])],
];
const act = async ([what, ...of]) => {
  if (what === "hash") await page.evaluate(to => window.chalkline.go(to), of[0]);
  else if (what === "do") await page.evaluate(([action, moving]) => window.chalkline.dispatch(action, moving), of);
  else if (what === "undo" || what === "redo") await page.evaluate(which => window.chalkline[which](), what);
  else if (what === "key") await page.keyboard.press(of[0]);
  else if (what === "theme") await page.click(".theme");
  else if (what === "size") await page.setViewportSize({ width: of[0], height: 850 });
  else {
    const list = await page.$$("main .num, main svg g.frame"), one = list[Math.floor(of[0] * list.length)], box = await one?.boundingBox();
    if (!box) return;
    await page.mouse.move(box.x + box.width * of[1], box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * of[1] + 300 * (of[2] - 0.5), box.y + box.height / 2, { steps: 3 });
    await page.mouse.up();
  }
};
const heap = async () => {
  const session = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i++) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage"), nodes = await session.send("Memory.getDOMCounters");
  await session.detach();
  return { bytes: usedSize, nodes: nodes.nodes, listeners: nodes.jsEventListeners };
};

test(`random actions of seed ${SEED}: no complaint, no NaN`, { timeout: SPAN + 240e3 }, async t => {
  const began = Date.now(), done = [];
  let count = 0;
  for (; count < ACTIONS && Date.now() - began < SPAN; count++) {
    const one = pick(ACTS)();
    done.push(JSON.stringify(one));
    const where = () => `action ${count}: ${done.slice(-5).join("\n")}`;
    await Promise.race([act(one), new Promise((_, fail) => setTimeout(() => fail(new Error(`stuck after ${where()}`)), 30e3).unref())]);
    assert.deepEqual(page.errors, [], where());
    const wrong = await page.evaluate(() => /.{0,40}(NaN|Infinity|undefined|\[object).{0,40}/.exec(document.body.innerText)?.[0] ?? null);
    assert.equal(wrong, null, where());
    assert.ok(await page.locator("h1").count() === 1, where());
  }
  await settled(page);
  t.diagnostic(`${count} actions in ${((Date.now() - began) / 1000).toFixed(0)} s`);
});

/* The same round trip again and again: what it leaves behind is what leaks. */
test("memory is flat over the screens", { timeout: 300e3 }, async t => {
  const round = async () => {
    for (const hash of ["#lecture/batch", "#lecture/memory", "#lecture/reversible", "#run?model=llama-3.1-8b", "#lecture/experts?mine", "#lecture/prices"]) {
      await page.evaluate(to => window.chalkline.go(to), hash);
      await page.evaluate(async () => { for (let i = 0; i < 12; i++) { window.chalkline.dispatch({ do: "set", side: "deck", row: "context", text: String(1000 + 977 * i) }, true); await new Promise(requestAnimationFrame); } });
      await settled(page);
    }
  };
  await page.evaluate(() => { const h = window.chalkline.history; window.chalkline.history = { ...h, past: [], future: [] }; });
  for (let i = 0; i < (LONG ? 4 : 2); i++) await round();
  const before = await heap();
  for (let i = 0; i < (LONG ? 40 : 2); i++) await round();
  const end = await heap();
  t.diagnostic(`${(before.bytes / 1e6).toFixed(2)} to ${(end.bytes / 1e6).toFixed(2)} MB, ${before.nodes} to ${end.nodes} nodes, ${before.listeners} to ${end.listeners} listeners`);
  assert.ok(end.bytes < before.bytes + 1e6, `${before.bytes} to ${end.bytes} bytes`);
  assert.ok(end.nodes < before.nodes * 1.1 + 200, `${before.nodes} to ${end.nodes} nodes`);
  assert.ok(end.listeners < before.listeners * 1.1 + 20, `${before.listeners} to ${end.listeners} listeners`);
  assert.deepEqual(page.errors, []);
});
