/* Pictures in a browser, by themselves: true boxes of all texts, keys, drags, the table, and nothing left behind. */
import assert from "node:assert";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { after as afterAll, before, test } from "node:test";
import { build } from "esbuild";
import { launch, root, run } from "./browser.mjs";

const descriptions = readFileSync(root + "tests/fixtures/pictures.jsonl", "utf8").trim().split("\n").map(line => JSON.parse(line));
const WIDTHS = [320, 640, 1100];
let browser, page, errors;

before(async () => {
  const entry = `import { Engine } from "./engine"; import { mountPicture } from "./drawing";
    window.start = base64 => { window.engine = Engine.load(new WebAssembly.Module(Uint8Array.from(atob(base64), c => c.charCodeAt(0)))); };
    window.mountPicture = mountPicture;`;
  const made = await build({ stdin: { contents: entry, resolveDir: root + "web/page/src", loader: "ts" }, bundle: true, format: "iife", write: false });
  browser = await launch();
  page = await (await browser.newContext({ viewport: { width: 1200, height: 900 } })).newPage();
  errors = [];
  page.on("console", message => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", error => errors.push(String(error)));
  await page.setContent(`<!doctype html><html lang="en"><title>pictures</title><body style="margin:0"><div id="host"></div></body></html>`);
  await page.evaluate(made.outputFiles[0].text);
  await page.evaluate(code => window.start(code), readFileSync(root + "build/wasm/chalkline.wasm").toString("base64"));
});
afterAll(async () => { await browser?.close(); });

/* What the browser says: texts that meet, texts that are cut, by a pixel or more. */
const looked = () => page.evaluate(() => {
  const svg = document.querySelector("#host svg"), frame = svg.getBoundingClientRect(), found = [];
  const boxes = [...svg.querySelectorAll("text")].map(t => {
    const box = t.getBoundingClientRect(), inset = (box.height - parseFloat(getComputedStyle(t).fontSize)) / 2;
    return { text: t.textContent, left: box.left, right: box.right, top: box.top + inset, bottom: box.bottom - inset };
  });
  boxes.forEach((a, i) => {
    if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) found.push(`"${a.text}" is cut`);
    boxes.slice(0, i).forEach(b => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1) found.push(`"${b.text}" meets "${a.text}"`);
    });
  });
  return found;
});

test("texts neither meet nor are cut, with the faces of this browser", async () => {
  for (const width of WIDTHS) for (const font of ["", "Liberation Sans, Arial", "DejaVu Sans"]) {
    await page.evaluate(([wide, face]) => {
      const host = document.querySelector("#host");
      host.style.width = wide + "px";
      document.querySelector("#face")?.remove();
      if (face) document.head.insertAdjacentHTML("beforeend", `<style id="face">.chart text{font-family:${face}}</style>`);
    }, [width, font]);
    for (const description of descriptions) {
      await page.evaluate(d => { window.now = mountPicture(document.querySelector("#host"), window.engine); window.now.update(d); }, description);
      assert.deepEqual(await looked(), [], `${description.title.slice(0, 40)}, ${width} px, ${font}`);
      await page.evaluate(() => window.now.remove());
    }
  }
  await page.evaluate(() => document.querySelector("#face")?.remove());
  assert.deepEqual(errors, []);
});

const mount = (index, width = 640) => page.evaluate(([d, wide]) => {
  document.querySelector("#host").style.width = wide + "px";
  window.calls = [];
  window.now = mountPicture(document.querySelector("#host"), window.engine, {
    drag: (...args) => window.calls.push(["drag", ...args]), mark: (...args) => window.calls.push(["mark", ...args]) });
  window.now.update(d);
}, [descriptions[index], width]);
const unmount = () => page.evaluate(() => window.now.remove());
const frame = () => page.evaluate(() => {
  const [left, top, width, height] = document.querySelector("#host g.frame").dataset.box.split(" ").map(Number);
  const at = document.querySelector("#host svg").getBoundingClientRect();
  return { left: at.left + left, top: at.top + top, width, height };
});

test("a press in the frame and a drag say values of the axes; a mark says its own", async () => {
  await mount(0);
  const box = await frame();
  await page.mouse.move(box.left + box.width / 4, box.top + box.height / 5);
  await page.mouse.down();
  await page.mouse.move(box.left + box.width * .75, box.top + box.height / 2, { steps: 4 });
  await page.mouse.up();
  const calls = await page.evaluate(() => window.calls);
  const [first, last] = [calls[0], calls.at(-1)];
  assert.equal(first[0], "drag");
  assert.ok(Math.abs(first[1] - 2000) < 20 && !first[3], String(first));
  assert.ok(Math.abs(last[1] - 6000) < 20 && last[3] === true, String(last));
  assert.ok(Math.abs(last[2] - 2.5) < .05, String(last));
  const ring = await page.evaluate(() => { const r = document.querySelector("#host g.mark circle").getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 }; });
  await page.evaluate(() => { window.calls = []; });
  await page.mouse.move(ring.x, ring.y);
  await page.mouse.down();
  await page.mouse.move(ring.x + box.width / 8, ring.y, { steps: 3 });
  await page.mouse.up();
  const marked = (await page.evaluate(() => window.calls)).at(-1);
  assert.equal(marked[0], "mark");
  assert.equal(marked[1], "crossover 3,200");
  assert.ok(Math.abs(marked[2] - 4200) < 30 && marked[3] === true, String(marked));
  await unmount();
});

test("tips at the pointer, arrows walk the points, t opens the numbers, Escape closes them", async () => {
  await mount(1);
  const box = await frame();
  await page.mouse.move(box.left + box.width * .4, box.top + box.height * .3);
  assert.match(await page.textContent("#host .tip"), /token\/s.*speed for each user/);
  await page.focus("#host .drawing");
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#host .tip"), false);
  await page.keyboard.press("ArrowRight");
  const one = await page.textContent("#host .tip");
  await page.keyboard.press("ArrowRight");
  const two = await page.textContent("#host .tip");
  assert.notEqual(one, two);
  assert.match(one, /^GB200 NVL72/);
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#host .tip"), /^8 × B200/);
  await page.keyboard.press("t");
  assert.ok(await page.locator("#host .table tr").count() > 60);
  assert.equal(await page.getAttribute("#host .numbers", "aria-expanded"), "true");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#host [data-take=SVG]")]);
  const svg = readFileSync(await download.path(), "utf8");
  assert.match(svg, /^<svg .*role="img"/);
  assert.match(svg, /prefers-color-scheme:dark/);
  const [table] = await Promise.all([page.waitForEvent("download"), page.click("#host [data-take=CSV]")]);
  assert.match(readFileSync(await table.path(), "utf8"), /^series,speed for each user \(token\/s\),throughput of a GPU \(token\/s\)/);
  const [png] = await Promise.all([page.waitForEvent("download"), page.click("#host [data-take=PNG]")]);
  assert.equal(readFileSync(await png.path()).subarray(1, 4).toString(), "PNG");
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#host .table"), false);
  assert.equal(await page.evaluate(() => document.activeElement.className), "numbers");
  await unmount();
  await mount(2);
  const chart = await frame();
  await page.mouse.move(chart.left + 20, chart.top + 15);
  assert.match(await page.textContent("#host .tip"), /read the weights: 4\.4/);
  await unmount();
  assert.deepEqual(errors, []);
});

test("a picture is updated while dragging, and nothing is left of 300 pictures", async t => {
  const lines = Array.from({ length: 10 }, (_, k) => ({ name: `line ${k}`, kind: "compute", role: "term",
    points: Array.from({ length: 200 }, (_, i) => [1 + 40 * i, (k + 1) * (1 + 40 * i) ** (.3 + k / 20)]) }));
  const times = await page.evaluate(given => {
    const host = document.querySelector("#host"), picture = mountPicture(host, window.engine, { drag() {} }), times = [];
    for (let i = 0; i < 120; i++) {
      const d = { ...given, here: { x: 100 + i, y: 50, sets: "batch" } };
      const from = performance.now();
      picture.update(d);
      host.getBoundingClientRect();
      times.push(performance.now() - from);
    }
    picture.remove();
    return times.sort((a, b) => a - b);
  }, { title: "many", x: { name: "batch", unit: "", log: false }, y: { name: "time", unit: "ms", log: true }, lines });
  t.diagnostic(`an update takes ${times[60].toFixed(1)} ms, at worst ${times[119].toFixed(1)} ms`);
  const left = await page.evaluate(all => {
    const counts = { added: 0, removed: 0 };
    const add = document.addEventListener, drop = document.removeEventListener;
    document.addEventListener = function (...args) { counts.added++; return add.apply(this, args); };
    document.removeEventListener = function (...args) { counts.removed++; return drop.apply(this, args); };
    const host = document.querySelector("#host");
    for (let i = 0; i < 300; i++) {
      const picture = mountPicture(host, window.engine);
      picture.update(all[i % all.length]);
      picture.remove();
    }
    document.addEventListener = add;
    document.removeEventListener = drop;
    return { ...counts, children: host.childElementCount };
  }, descriptions.slice(0, 12));
  assert.equal(left.children, 0);
  assert.equal(left.added, left.removed);
});

test("a description that is none is refused with its place", async () => {
  const said = await page.evaluate(() => { try { window.engine.picture({ title: "a", x: { name: "x", unit: "", log: false }, y: { name: "y", unit: "", log: false },
    lines: [{ name: "b", points: [[1, NaN]] }] }, 300); } catch (error) { return error.message; } });
  assert.match(said, /lines\[0\]\.points\[0\]\[1\] is out of range; a number between/);
});

test("a report brings the live page along, behind its link", async () => {
  const dir = mkdtempSync(tmpdir() + "/chalkline-"), file = dir + "/step.html";
  const said = await run(["step", "deepseek-v3", "--on", "gb200-nvl72", "--report-page", "--report", file]);
  assert.equal(said.code, 0, said.err);
  const opened = await (await browser.newContext()).newPage();
  const requests = [];
  opened.on("request", request => requests.push(request.url()));
  await opened.goto("file://" + file);
  assert.match(await opened.title(), /^At least 12 ms/);
  assert.equal(await opened.locator("figure svg").count(), 1);
  await opened.click("#live");
  await opened.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 30000 });
  assert.match(await opened.evaluate(() => document.getElementById("state").textContent), /"words": \[\s*"step"/);
  assert.deepEqual(requests.filter(url => !url.startsWith("file:") && !url.startsWith("data:") && !url.startsWith("blob:")), []);
  await opened.close();
  rmSync(dir, { recursive: true });
});
