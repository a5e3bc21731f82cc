/* The page as a reader meets it, in one browser and one page: what hands, keys and files do. */
import assert from "node:assert";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { address, after, answer, CHAPTERS, file, go, open, root, run, SCREENS, settled } from "./browser.mjs";
import { browser, context, hashNow, num, on, page, rest, state, text } from "./reader.mjs";

const scratch = mkdtempSync(join(tmpdir(), "chalkline-page-"));

/* ---- numbers that move ------------------------------------------------------------------------- */

on("a number is dragged, undone, done again", "#lecture/batch", async () => {
  await num("batch").first().scrollIntoViewIfNeeded();
  const box = await num("batch").first().boundingBox();
  await page.mouse.move(box.x + 8, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 8, { steps: 4 });
  await page.mouse.move(box.x + 118, box.y + 8, { steps: 4 });
  await page.mouse.up();
  await rest();
  const moved = await num("batch").first().textContent();
  assert.equal(moved, "3,160", "110 px are half a decade");
  await page.keyboard.press("Control+z");
  await rest();
  assert.equal(await num("batch").first().textContent(), "1,000");
  await page.keyboard.press("Control+Shift+z");
  await rest();
  assert.equal(await num("batch").first().textContent(), "3,160");
  assert.match(await text(".verdict"), /^Yes: 3,160 users/);
  await page.keyboard.press("Control+z");
  await rest();
});

on("the keys move it, by the command line's numbers", "#lecture/batch", async () => {
  const n = num("batch").first();
  await n.focus();
  const is = async () => page.evaluate(() => window.chalkline.numbers.value("batch"));
  for (const [key, value] of [["ArrowRight", 1020], ["Shift+ArrowRight", 1120], ["PageUp", 2240], ["PageDown", 1120], ["Home", 1], ["ArrowLeft", 1], ["ArrowRight", 2], ["End", 65536]]) {
    await page.keyboard.press(key);
    assert.equal(await is(), value, key);
  }
  await rest();
  await page.keyboard.press("Escape");
  await rest();
  assert.equal(await is(), 1000);
  await page.keyboard.press("ArrowRight");
  await rest();
  const words = ["eval", "bound_step", "--batch", "1020", "--context", "50000", "--gpus", "64", ...["peak_flops=4.8e15FLOP/s", "hbm_bandwidth=8TB/s", "weight_bytes=1B", "params_active=1e11", "params_total=8e11", "kv_per_token=1666.66666666666667B/token"].flatMap(s => ["--set", s])];
  assert.equal(await page.evaluate(() => window.chalkline.numbers.value("bound_step")), (await answer(words)).bound_step.value);
});

on("it is typed with its unit, and refused in words when out of range", "#lecture/batch", async () => {
  const n = num("hbm_bandwidth").first();
  await n.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.matches(".typing input"));
  await page.keyboard.type("4TB/s");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.chalkline.numbers.value("hbm_bandwidth") === 4e12);
  for (const wrong of ["-1", "fast", "1e30TB/s"]) {
    await num("hbm_bandwidth").first().focus();
    await page.keyboard.press("Enter");
    await page.locator(".typing input").fill(wrong);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".typing .refused");
    assert.ok((await text(".typing .refused")).length > 15, wrong);
    assert.equal(await page.getAttribute(".typing input", "aria-invalid"), "true");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".typing", { state: "detached" });
    assert.equal(await page.evaluate(() => window.chalkline.numbers.value("hbm_bandwidth")), 4e12);
  }
  await page.keyboard.press("Control+z");
  await rest();
  assert.equal(await page.evaluate(() => window.chalkline.numbers.value("hbm_bandwidth")), 8e12);
});

on("the picture is a hand too: a press sets the point, the crossover moves what puts it there", "#lecture/batch", async () => {
  const press = async () => {         /* where the picture stands now */
    const frame = await page.locator("#batch-1 svg g.frame").first().evaluate(g => { const r = g.ownerSVGElement.getBoundingClientRect(), [x, y, w, h] = g.dataset.box.split(" ").map(Number); return { x: r.left + x, y: r.top + y, w, h, to: Number(g.dataset.x.split(" ")[1]) }; });
    await page.mouse.click(frame.x + frame.w / 2, frame.y + frame.h / 2);
    await rest();
    return Math.abs(await page.evaluate(() => window.chalkline.numbers.value("batch")) / (frame.to / 2) - 1) < 0.01;
  };
  let set = false;
  for (let i = 0; i < 8 && !set; i++) set = await press();
  assert.ok(set, "the press sets the batch");
  const mark = await page.locator("#batch-1 svg g.mark circle").first().boundingBox(), before = await page.evaluate(() => window.chalkline.numbers.value("params_total"));
  await page.mouse.move(mark.x + mark.width / 2, mark.y + mark.height / 2);
  await page.mouse.down();
  await page.mouse.move(mark.x - 40, mark.y, { steps: 6 });
  await page.mouse.up();
  await rest();
  assert.ok(await page.evaluate(() => window.chalkline.numbers.value("params_total")) < 0.8 * before);
});

on("the task is answered by dragging, in each chapter", null, async () => {
  for (const [chapter, row, value] of [["batch", "batch", 3200], ["experts", "batch", 1020], ["pipeline", "pipeline_stages", 3], ["training", "pretrain_tokens", 2.6e14], ["prices", "price_step_context", 200000], ["memory", "hold_time", 12460], ["reversible", "stacked_layers", 500]]) {
    await go(page, `#lecture/${chapter}`);
    const first = await text(".verdict b");
    await after(page, () => page.evaluate(([r, v]) => window.chalkline.dispatch({ do: "set", side: "deck", row: r, text: String(v) }), [row, value]));
    assert.match(await text(".verdict b"), /^Yes/, chapter);
    assert.ok(!/^Yes/.test(first), `${chapter} begins answered: ${first}`);
  }
});

on("numbers of the equation stand under their symbols", "#lecture/batch", async () => {
  for (const chapter of CHAPTERS) {
    await go(page, `#lecture/${chapter}`);
    const off = await page.evaluate(() => [...document.querySelectorAll(".eq")].flatMap(eq => {
      const cells = [...eq.querySelectorAll(".fraction")], centre = e => { const range = document.createRange(); range.selectNodeContents(e); const r = range.getBoundingClientRect(); return r.left + r.width / 2; };
      const rows = new Map();
      for (const f of cells) { const key = f.closest(".eq-cell"); rows.set(key, f); }
      const symbols = cells.filter(f => f.querySelector(".factor math")), numbers = cells.filter(f => !f.querySelector(".factor math"));
      return symbols.flatMap(s => {
        const left = s.getBoundingClientRect(), n = numbers.find(f => Math.abs((f.getBoundingClientRect().left + f.getBoundingClientRect().right) / 2 - (left.left + left.right) / 2) < 30);
        if (!n) return [];
        const a = [...s.querySelectorAll(".factor")], b = [...n.querySelectorAll(".factor")];
        return a.map((f, i) => b[i] ? Math.abs(centre(f) - centre(b[i])) : 0).filter(d => d > 9);
      });
    }));
    assert.deepEqual(off, [], chapter);
  }
});

/* ---- one answer --------------------------------------------------------------------------------- */

on("every number that does not move says why, and why says that number", null, async () => {
  let clicked = 0;
  for (const hash of ["#lecture/batch", "#lecture/batch?mine", "#lecture/experts?mine", "#lecture/training", "#lecture/memory", "#lecture/prices", "#lecture/pipeline?mine&model=llama-3.3-70b&on=h100-sxm"]) {
    await go(page, hash);
    const rows = await page.$$eval("main .asked[data-why]", list => [...new Set(list.filter(e => e.dataset.why !== "-").map(e => e.dataset.why))]);
    for (const row of rows) {
      const shown = await page.evaluate(r => ({ value: window.chalkline.numbers.value(r), words: null }), row);
      await page.locator(`main .asked[data-why="${row}"]`).first().click();
      await page.waitForSelector("#why .is");
      const said = await text("#why .is"), line = await text("#why p:last-child code"), unit = await page.evaluate(r => window.chalkline.numbers.unit(r), row);
      const words = line.replace(/^chalkline /, "").match(/'[^']*'|\S+/g).map(w => w.replace(/^'|'$/g, ""));
      const own = await answer(words);
      assert.equal(own.value, shown.value, `${hash}: ${line}`);
      assert.equal(said, await page.evaluate(([v, u]) => window.chalkline.engine.write(v, u, 4), [own.value, own.unit ?? unit]), `${hash} ${row}`);
      await page.keyboard.press("Escape");
      await page.waitForSelector("#why", { state: "detached" });
      clicked++;
    }
  }
  assert.ok(clicked > 40, `${clicked} numbers`);
});

on("the first screen's answer is plan's", "#model", async () => {
  const said = await answer(["plan", "--model", "deepseek-v3", "--on", "gb200-nvl72", "--isl", "1024", "--osl", "1024", "--speed", "5"]);
  const speed = p => p.disagg_speed_per_user ?? p.speed_per_user, point = said.front.sort((a, b) => speed(a) - speed(b)).find(p => speed(p) >= 40);
  const users = point.running, two = v => Number(v.toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 6 });
  const answerText = await text("h1");
  assert.ok(answerText.includes(`${two(users)} users`) && answerText.includes(`${two(1e6 * point.cost)} USD`), answerText);
  const bound = await answer(["eval", "bound_step", ...point.words]), three = v => Number(v.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
  assert.ok((await page.locator("#waterfall svg title").first().textContent()).includes(`The bound is ${three(1e3 * bound.bound_step.value)} ms`));
  await after(page, () => page.evaluate(() => window.chalkline.dispatch({ do: "speed", value: 1e4 })));
  assert.match(await text("h1"), /^No layout gives 10,000 token\/s; the fastest is \d/);
});

/* The renderer's name that WebGL gives, in a browser of its own; null: no WebGL. */
async function drawnBy(renderer, hash, act) {
  const own = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true });
  await own.addInitScript(name => {
    const made = HTMLCanvasElement.prototype.getContext, told = 37446;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      if (kind !== "webgl") return made.call(this, kind, ...rest);
      return name && { RENDERER: 7937, getParameter: of => of === told ? name : "WebKit WebGL", getExtension: of => of === "WEBGL_debug_renderer_info" ? { UNMASKED_RENDERER_WEBGL: told } : null };
    };
  }, renderer);
  const fresh = await open(own, hash);
  await settled(fresh);
  await act(fresh);
  assert.deepEqual(fresh.errors, []);
  await own.close();
}

on("can I run it is can's, figure by figure", "#run?on=rtx-4090", async () => {
  const write = a => page.evaluate(([v, u]) => window.chalkline.engine.write(v, u), [a.value, a.unit]), two = v => Number(v.toPrecision(2)).toLocaleString("en"), three = v => Number(v.toPrecision(3)).toLocaleString("en");
  for (const [hash, words] of [["#run?on=rtx-4090", ["qwen3-30b-a3b", "--on", "rtx-4090"]], ["#run?model=qwen3-14b&on=m3-pro&context=16384", ["qwen3-14b", "--on", "m3-pro", "--context", "16384"]], ["#run?model=qwen3-14b&on=rtx-3060&precision=Q4_K_M", ["qwen3-14b", "--on", "rtx-3060", "--precision", "Q4_K_M"]]]) {
    await go(page, hash);
    const said = await answer(["can", ...words]), precision = words.indexOf("--precision"), all = await answer(["can", ...(precision < 0 ? words : words.slice(0, precision))]);
    assert.equal(await text("h1 b"), `${two(said.decode_speed.value)} token/s`);
    const detail = await text(".detail");
    for (const part of [`80 % between ${two(said.decode_speed.low)} and ${two(said.decode_speed.high)}`, `comes in ${await write(said.ttft)}`, `Up to ${said.context_most.value.toLocaleString("en")} tokens`]) assert.ok(detail.includes(part), `${detail}: ${part}`);
    const rows = await page.locator(".fits tbody tr").evaluateAll(list => list.map(tr => [...tr.children].map(cell => cell.textContent)));
    const cells = await Promise.all(all.choices.map(async t => [t.precision, three(t.weights_stored.value / 1e9), three(t.memory_needed.value / 1e9), ...(t.fits ? [three(t.decode_speed.value), await write(t.ttft), t.context_most.value.toLocaleString("en")] : ["does not fit"])]));
    assert.deepEqual(rows, cells);
    assert.deepEqual(await page.locator(".changes li").allTextContents(), said.changes.map(c => c.replaceAll("`", "")));
    assert.equal(await page.evaluate(() => window.chalkline.numbers.value("memory_needed")), said.memory_needed.value, "the picture's");
    assert.ok((await page.locator(".code").allTextContents()).includes(said.command));
  }
});

on("what does not fit is told with what would do; a type of the table is chosen by a click", "#run?model=llama-3.1-405b&on=rtx-4090", async () => {
  assert.match(await text("h1"), /^No: in IQ2_XXS it needs 112 GB of 24\.7 GB/);
  assert.match(await text(".detail"), /It would fit on/);
  await go(page, "#run?on=rtx-4090");
  await after(page, () => page.locator(".fits button", { hasText: "Q4_K_M" }).click());
  assert.equal((await state()).card.options.precision, "Q4_K_M");
  assert.match(await text("h1"), /^Yes, at/);
});

test("the card that the browser draws with fills the field, and is said to be read from it", { timeout: 120000 }, async () => {
  const machine = fresh => fresh.evaluate(() => window.chalkline.numbers.live.doc.machine);
  await drawnBy("ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 (0x00002503) Direct3D11 vs_5_0 ps_5_0, D3D11)", "#run", async fresh => {
    assert.match(await machine(fresh), /^RTX 3060/);
    assert.match(await fresh.textContent(".detail"), /read from this browser, which draws with “NVIDIA GeForce RTX 3060”/);
    assert.equal(await fresh.evaluate(() => window.chalkline.history.past.length), 0, "nothing to undo");
  });
  await drawnBy("ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 (0x00002503) Direct3D11 vs_5_0 ps_5_0, D3D11)", "#run?on=m3-max", async fresh => {
    assert.match(await machine(fresh), /^M3 Max/, "a link's machine stays");
    assert.doesNotMatch(await fresh.textContent(".detail"), /browser/);
  });
  for (const masked of [null, "Apple GPU", "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)", "GeForce GTX 980, or similar"])
    await drawnBy(masked, "#run", async fresh => {
      assert.equal(await machine(fresh), "RTX 4090", String(masked));
      assert.doesNotMatch(await fresh.textContent(".detail"), /browser/);
    });
});

/* ---- state -------------------------------------------------------------------------------------- */

on("a refusal keeps the board and marks the one field", "#model?on=h100-sxm&model=llama-3.1-8b", async () => {
  const h1 = await text("h1");
  const field = page.locator(".pick input").first();
  await field.focus();
  await field.fill("no such model");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#refusal");
  assert.match(await text("#refusal"), /unknown model/);
  assert.equal(await page.locator(".pick.guilty").count(), 1);
  assert.equal(await text("h1"), h1);
  assert.equal((await state()).A.model, "llama-3.1-8b");
  await after(page, () => page.evaluate(() => window.chalkline.dispatch({ do: "speed", value: 33 })));
  assert.equal(await page.locator("#refusal").count(), 0, "the other fields go on");
});

on("an address that is wrong is refused whole; a truncated one says what is wrong with it", "#lecture/batch?batch=777", async () => {
  for (const [hash, says] of [["#model?model=gpt-9", /unknown model/], ["#lecture/batch?set=hbm_bandwidth%3D-1TB/s", /out of range/], ["#model?speed=none", /speed/], ["#lecture/tenth", /no chapter/], ["#model?model=.%2Fc.json&file.c.json=eNq", /cut off/], ["#lecture/batch?set=colour%3D3", /unknown row/]]) {
    const began = Date.now();
    await after(page, () => page.evaluate(to => window.chalkline.go(to), hash));
    assert.match(await text("#refusal"), says, hash);
    assert.ok(Date.now() - began < 10000, "at once");
    assert.equal(await page.evaluate(() => window.chalkline.numbers.value("batch")), 777);
  }
  await go(page, "#lecture/batch?utm_source=mail&batch=500");
  assert.equal(await hashNow(), "#lecture/batch?batch=500");
});

on("the link shows the same again; back leaves the screen", "#lecture/memory?hold_time=1h", async () => {
  await after(page, () => page.evaluate(() => window.chalkline.dispatch({ do: "set", side: "deck", row: "hold_time", text: "2h" })));
  const hash = await hashNow();
  assert.equal(hash, "#lecture/memory?set=hold_time%3D2h");
  await page.click('nav.entries a[href="#run"]');
  await page.waitForFunction(() => window.chalkline.state.entry === "run");
  await settled(page);
  await page.goBack();
  await page.waitForFunction(() => window.chalkline.state.entry === "lecture");
  await settled(page);
  assert.equal((await state()).deck.given.hold_time, "2h");
  const copy = await open(context, hash);
  await settled(copy);
  assert.equal(await copy.locator("h1").textContent(), await text("h1"));
  assert.equal(await copy.locator(".verdict").textContent(), await text(".verdict"));
  await copy.close();
});

on("the six questions open what they ask", "#model", async () => {
  const list = await page.$$eval(".starts a", links => links.map(a => [a.textContent, a.getAttribute("href")]));
  assert.equal(list.length, 6);
  for (const [question, hash] of list) {
    await go(page, hash);
    assert.equal(await page.locator("#refusal").count(), 0, question);
    assert.ok((await text("h1")).length > 10);
  }
});

on("two scenarios stand in one picture, and one difference is named", "#model?model=llama-3.1-8b&on=h100-sxm&gpus=2", async () => {
  await after(page, () => page.locator("button", { hasText: "beside" }).first().click());
  const svg = page.locator("#frontier svg");
  assert.ok(await svg.locator("path.line").count() >= 4, "two fronts and two bounds");
  assert.match(await text(".notes section:nth-child(2)"), /Against B200 SXM.*Most of it is/s);
  assert.match(await hashNow(), /beside=b200-sxm/);
});

/* ---- files --------------------------------------------------------------------------------------- */

async function drop(files) {
  const before = await page.evaluate(() => window.chalkline.dropped), transfer = await page.evaluateHandle(list => { const data = new DataTransfer(); for (const [name, content] of list) data.items.add(new File([content], name)); return data; }, files);
  await after(page, async () => {
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await page.waitForFunction(was => window.chalkline.dropped > was, before);
  });
}
const CONFIG = JSON.stringify({ architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 2048, intermediate_size: 8192, num_hidden_layers: 16, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, head_dim: 64, torch_dtype: "bfloat16", tie_word_embeddings: true });

on("a dropped config.json is a model, travels in the address, and answers as the command line does", "#lecture/batch?mine&on=h100-sxm&model=llama-3.1-8b", async () => {
  await drop([["config.json", CONFIG]]);
  assert.equal((await state()).A.model, "./config.json");
  writeFileSync(join(scratch, "config.json"), CONFIG);
  const list = await page.evaluate(() => { const of = window.chalkline.shown(); return ["--model", of.model, "--on", of.on, ...Object.entries(of.options).flatMap(([k, v]) => ["--" + k, v])]; });
  const own = await answer(["eval", "bound_step", ...list], scratch);
  assert.equal(await page.evaluate(() => window.chalkline.numbers.value("bound_step")), own.bound_step.value);
  const copy = await open(context, await hashNow());
  await settled(copy);
  assert.equal(await copy.evaluate(() => window.chalkline.numbers.value("bound_step")), own.bound_step.value);
  await copy.close();
});

on("a file that is no model is refused, and the model stays", "#lecture/batch?mine&on=h100-sxm&model=llama-3.1-8b", async () => {
  await drop([["config.json", "{\"colour\": 3}"]]);
  await page.waitForSelector("#refusal");
  assert.match(await text("#refusal"), /config\.json is neither a model configuration/);
  assert.equal((await state()).A.model, "llama-3.1-8b");
});

on("traffic is replayed as the command line does, a described one and a dropped one", "#model?model=llama-3.1-8b&on=h100-sxm&gpus=1", async () => {
  const trace = "poisson:rate=4,count=80,input=500,output=60";
  await after(page, () => page.locator("button", { hasText: "replay traffic" }).click());
  await page.locator(".trace").fill(trace);
  await after(page, () => page.keyboard.press("Enter"));
  await page.waitForSelector("#ttft svg");
  const check = async (name, cwd) => {
    const said = await run(["simulate", name, "--model", "llama-3.1-8b", "--on", "h100-sxm", "--gpus", "1", "--requests", "-"], cwd), waits = said.out.split("\n").filter(l => /^\d+,/.test(l)).map(l => l.split(",")).map(c => Number(c[4]) - Number(c[1])).sort((a, b) => a - b);
    const half = await page.evaluate(v => window.chalkline.engine.write(v, "s"), waits[Math.floor(0.5 * waits.length)]);
    assert.ok((await page.locator("#ttft svg title").first().textContent()).includes(`within ${half}, `), name);
  };
  await check(trace, root);
  const csv = "arrival,input,output\n" + Array.from({ length: 50 }, (_, i) => `${(0.2 * i).toFixed(1)},${200 + 37 * (i % 9)},${20 + i}\n`).join("");
  writeFileSync(join(scratch, "day.csv"), csv);
  await drop([["day.csv", csv]]);
  await check("day.csv", scratch);
  await drop([["day.csv", "colour,shape\nred,round\n"]]);
  assert.equal((await state()).panel, "traffic");
});

on("a picture's numbers are one key away, and can be taken", "#lecture/batch", async () => {
  await page.locator("#batch-1 figure").focus();
  await page.keyboard.press("t");
  await page.waitForSelector("#batch-1 .table table");
  for (const kind of ["CSV", "SVG", "PNG"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#batch-1 [data-take="${kind}"]`)]);
    const data = readFileSync(await download.path());
    if (kind === "PNG") assert.equal(data.subarray(1, 4).toString(), "PNG");
    else assert.doesNotMatch(data.toString(), /NaN|undefined/);
  }
  await page.locator("#batch-1 figure").focus();
  await page.keyboard.press("t");
});

/* ---- second level -------------------------------------------------------------------------------- */

on("an assumption is a switch, and every input can be found", "#lecture/batch?mine&model=deepseek-v3&on=gb200-nvl72", async () => {
  const before = await page.evaluate(() => window.chalkline.numbers.value("bound_compute"));
  await after(page, () => page.locator(".assumed label", { hasText: "FLOPs of attention" }).click());
  assert.ok(await page.evaluate(() => window.chalkline.numbers.value("bound_compute")) < before);
  await after(page, () => page.locator("button", { hasText: "every input" }).click());
  await page.locator(".inputs input[type=search]").fill("memory bandwidth");
  const found = page.locator('.inputs .num[data-row="hbm_bandwidth"]');
  await found.focus();
  await page.keyboard.press("PageUp");
  await rest();
  assert.equal(await page.evaluate(() => window.chalkline.numbers.value("hbm_bandwidth")), 1.6e13);
  await after(page, () => page.locator('.inputs button[aria-label$="hbm bandwidth"]').click());
  assert.equal(await page.evaluate(() => window.chalkline.numbers.value("hbm_bandwidth")), 8e12);
});

on("a further statement sets its deck, and says whether it holds", "#lecture/batch", async () => {
  await page.waitForSelector(".more li");
  assert.ok(await page.locator(".more li").count() > 20);
  await after(page, () => page.locator(".more .line", { hasText: "bound by compute or by memory" }).click());
  assert.equal((await state()).statement, "batch.slopes");
  assert.equal(await page.evaluate(() => window.chalkline.numbers.value("context")), 100000);
  assert.match(await text(".yours .verdict-here"), /^(Holds|Does not hold)/);
});

on("every statement has an address, with its sentence and its second of the video", "#lecture/batch", async () => {
  const statements = (await answer(["lecture"])).statements;
  assert.ok(statements.length >= 111, `${statements.length}`);
  for (const { id, statement, time } of statements) {
    await page.evaluate(to => window.chalkline.go(to), `#lecture/${id}`);
    await page.waitForFunction(said => document.querySelector("h1").textContent === said, statement, { timeout: 30000 });
    const at = await page.evaluate(() => [window.chalkline.state.statement, document.querySelector(".place a.second").href, document.querySelector(".place time").dateTime, document.getElementById("refusal")?.textContent ?? ""]);
    const second = Number(/^PT(\d+)S$/.exec(at[2])[1]);
    assert.deepEqual([at[0], at[1].endsWith(`?t=${second}`), at[3]], [id, true, ""]);
    if (time) assert.equal(second, time.split(":").reduce((sum, part, i) => sum + Number(part) * 60 ** (2 - i), 0), id);
  }
  assert.equal(await hashNow(), `#lecture/${statements.at(-1).id}`);
});

test("the first screens that were built in are what the engine answers", { timeout: 240000 }, async () => {
  const built = Object.fromEntries([...readFileSync(file, "utf8").matchAll(/<template data-at="([^"]+)">(.*?)<\/template>/gs)].map(m => [m[1], m[2]]));
  const own = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true }), fresh = await open(own, "#model");
  assert.deepEqual(Object.keys(built), SCREENS.filter(hash => hash !== "#run"));
  for (const [hash, html] of Object.entries(built)) {
    await go(fresh, hash);
    const [was, is] = await fresh.evaluate(html => { const box = document.createElement("div"), main = document.querySelector("main"); box.innerHTML = html;
      return [box.querySelector("main"), main].map(of => [...of.querySelectorAll(".query, h1, .detail, .equations, p.hand, p.verdict")].map(e => [e.textContent, ...[...e.querySelectorAll("math.spoken")].map(s => s.textContent)].reduce((all, part) => all.replace(part, "")))); }, html);
    assert.ok(was.length >= 3);
    assert.match(html, /<p class="note">The picture is drawn once the engine has been unpacked/, `${hash}: a picture says why it waits`);
    assert.deepEqual(was, is, hash);
  }
  await own.close();
});

on("light and dark, kept for the next time; a reader who prefers dark gets dark", "#lecture/batch", async () => {
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper();
  await page.click(".theme");
  assert.notEqual(await paper(), light);
  await page.click(".theme");
  assert.equal(await paper(), light);
  const own = await browser.newContext({ colorScheme: "dark", offline: true }), dark = await open(own);
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), "dark");
  await own.close();
});

test("a report is the page with its question, and what was answered", { timeout: 120000 }, async () => {
  const path = join(scratch, "report.html"), said = await run(["step", "llama-3.3-70b", "--on", "h100-sxm", "--gpus", "8", "--batch", "64", "--report", path]);
  assert.equal(said.code, 0, said.err);
  const own = await context.newPage();
  await own.goto("file://" + path);
  const live = await own.evaluate(() => !!document.getElementById("wasm"));
  if (live) {
    await own.waitForFunction(() => document.documentElement.dataset.settled, null, { timeout: 60000 });
    assert.equal(await own.evaluate(() => window.chalkline.state.A.model), "llama-3.3-70b");
    assert.match(await own.textContent("#sent"), /limited by/);
  }
  await own.close();
});

test("on paper no figure is cut in two, equations keep their bars, and the reader's point is there", { timeout: 120000 }, async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await go(page, "#lecture/batch");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("#batch-1 figure")).breakInside), "avoid");
  assert.equal(await page.locator(".theme").isVisible(), false);
  assert.ok((await page.pdf({ format: "A4" })).length > 10000);
  await page.setViewportSize({ width: 680, height: 900 });              // what A4 leaves
  for (const chapter of CHAPTERS) {
    await go(page, `#lecture/${chapter}`);
    const seen = await page.evaluate(() => { const width = document.documentElement.clientWidth, box = e => e.getBoundingClientRect();
      return { wide: document.querySelectorAll(".equation.wide").length, rules: [...document.querySelectorAll(".eq .rule")].every(e => box(e).width > 8), beyond: [...document.querySelectorAll(".eq *")].filter(e => box(e).right > width + 1).length,
               points: [...document.querySelectorAll(".drawing circle.hand")].map(e => box(e).width > 0) }; });
    assert.ok(seen.wide && seen.rules && !seen.beyond && seen.points.every(Boolean), `${chapter}: ${JSON.stringify(seen)}`);
  }
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1440, height: 900 });
});
