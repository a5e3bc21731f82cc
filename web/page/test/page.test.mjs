/* The built page from end to end, in a browser without a network: what it shows is what the
 * command line says, and everything on it can be reached, undone and taken away. */
import assert from "node:assert";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after as atEnd, before, test } from "node:test";
import { address, after, answer, CHAPTERS, launch, open, root, run, settled, shots, START, wordsOf } from "./browser.mjs";

const scratch = mkdtempSync(join(tmpdir(), "chalkline-page-"));
const SMALL = JSON.stringify({ architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 2048, intermediate_size: 8192,
  num_hidden_layers: 16, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 64, vocab_size: 128256, tie_word_embeddings: true,
  torch_dtype: "bfloat16", max_position_embeddings: 131072 }, null, 2);
writeFileSync(join(scratch, "config.json"), SMALL);

let browser, context;
before(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true, acceptDownloads: true });
});
atEnd(() => browser?.close());

/* A page of its own for each test; nothing but the file is fetched, nothing is complained of. */
const on = (name, hash, act, options = {}) => test(name, { timeout: 180000, ...options }, async t => {
  const page = await open(context, hash);
  try {
    await act(page, t);
    assert.deepEqual(page.errors, [], "the console is quiet");
    assert.deepEqual(page.requests.filter(url => !url.startsWith(address) && !/^(blob|data):/.test(url)), [], "nothing is fetched");
  } finally { await page.close(); }
});

/* ---- numbers as they are written, and what the command line says of the same words ------------- */

const PREFIX = { "": 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, Z: 1e21 };
const TIME = { s: 1, min: 60, h: 3600, d: 86400, years: 365.25 * 86400, year: 365.25 * 86400 };

function unit(text) {
  if (text === "%") return 0.01;
  if (TIME[text]) return TIME[text];
  const plain = /^([numkMGTPEZ]?)(s|B|FLOP|token|tokens|USD|W|J|bit)$/.exec(text);
  if (plain) return PREFIX[plain[1]];
  throw new Error(`what is ${text}?`);
}

/* "314 T tokens" and "37.6 B": counts have letters, and B is then a billion. */
const LETTER = { K: 1e3, M: 1e6, B: 1e9, T: 1e12, P: 1e15, E: 1e18 };

function worth(text, of = "") {
  const count = /^=?\s*([\d.,]+) ([KMBTPE])( tokens)?$/.exec(text.trim());
  if (count && (count[3] || of === "1")) return Number(count[1].replace(/,/g, "")) * LETTER[count[2]];
  const [, number, rest] = /^=?\s*(-?[\d.,]+(?:e[-+]?\d+)?)\s*(.*)$/.exec(text.trim()) ?? assert.fail(`not a number: ${text}`);
  const [above, ...below] = rest.trim() ? rest.trim().split("/") : [];
  return Number(number.replace(/,/g, "")) * (above ? unit(above) : 1) / below.reduce((all, b) => all * unit(b), 1);
}

const near = (shown, said, where, by = 0.006) =>
  assert.ok(shown === said || Math.abs(shown - said) <= by * Math.abs(said), `${where}: shown ${shown}, the command line says ${said}`);

/* All that stands on the board, by row: as text, and as the number behind it. */
const board = page => page.evaluate(() => {
  const { live } = window.chalkline, rows = {};
  for (const box of document.querySelectorAll("#results [data-why]:not(.served)"))
    rows[box.dataset.why] = { text: box.querySelector("b").textContent, value: live.first.value(box.dataset.why) };
  for (const box of document.querySelectorAll("#lines .value"))
    rows[box.dataset.why] = { text: box.firstChild.textContent, value: live.first.value(box.dataset.why) };
  return rows;
});
const hashOf = page => page.evaluate(() => location.hash);
const shown = (page, row) => page.textContent(`#results [data-why="${row}"] b`);
const slider = row => `#inputs .input[data-name="${row}"] input[type=range]`;
const field = row => `#inputs .input[data-name="${row}"] input[type=text]`;

/* One of the six questions, folded or not. */
async function start(page, i) {
  if (!await page.isVisible("#starts a")) await page.click("#starts summary");
  await page.click(`#starts a >> nth=${i}`);
}

async function agrees(page, cwd = scratch) {
  const words = wordsOf(await hashOf(page)), rows = await board(page), names = Object.keys(rows);
  assert.ok(names.length > 3, "a board with numbers");
  const said = await answer(["eval", ...names, ...words], cwd);
  for (const name of names) {
    const value = said[name]?.value ?? said[name];
    assert.equal(rows[name].value, value, `${name} with ${words.join(" ")}`);
    near(worth(rows[name].text, said[name]?.unit), value, `${name} as written`);
  }
  return { words, rows };
}

/* The prediction beside it, and the same from `step`. */
async function servedAgrees(page, cwd = scratch) {
  await settled(page);
  const words = wordsOf(await hashOf(page)), said = await answer(["step", ...words], cwd);
  const texts = await page.$$eval("#results .served", boxes => boxes.map(box => [box.dataset.why, box.querySelector("b").textContent]));
  assert.ok(texts.length >= 3, "a prediction is on the board");
  for (const [name, text] of texts) near(worth(text), said[name], name, 0.06);
}

async function drop(page, files) {
  const transfer = await page.evaluateHandle(list => {
    const made = new DataTransfer();
    for (const [name, text] of list) made.items.add(new File([text], name, { type: "application/json" }));
    return made;
  }, files);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

/* ---- first ------------------------------------------------------------------------------------------ */

on("loads from its file, without a network, with the answer on the board", "", async page => {
  assert.match(await page.inputValue("#model"), /deepseek-v3/i);
  assert.match(await page.inputValue("#on"), /gb200-nvl72/i);
  assert.ok(worth(await shown(page, "bound_step")) > 0);
  await settled(page);
  assert.equal(page.requests.filter(url => url.startsWith("file:")).length, 1);
  await agrees(page);
});

on("the prediction on the board is the command line's", `#batch?${START}&batch=512&context=8192`, async page => servedAgrees(page));

/* Numbers may end on another last bit where threads add up. */
function alike(a, b, where) {
  if (typeof a === "number" && typeof b === "number") {
    const close = a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
    assert.ok(close, `${where}: ${a} on the page, ${b} on the command line`);
  } else if (a && b && typeof a === "object") {
    assert.deepEqual(Object.keys(a), Object.keys(b), where);
    for (const key of Object.keys(a)) alike(a[key], b[key], `${where}.${key}`);
  } else assert.equal(a, b, where);
}

for (const question of ["why bound_step --model deepseek-v3 --on gb200-nvl72", "plan --model llama-3.1-8b --on h100-sxm --gpus 8",
  "train --model llama-3.1-8b --on h100-sxm --gpus 64", "life --model llama-3.1-8b", "deduce prices --model claude-opus-4-7 --draws 4096",
  "simulate poisson:rate=4,count=200,input=500,output=60 --model llama-3.1-8b --on h100-sxm --gpus 1",
  "simulate poisson:rate=4,count=200 --blocks 28000 --step-time 10ms+0.05ms*tokens"])
  on(`the page's engine answers as the command line does: ${question.split(" ", 2).join(" ")}`, undefined, async page => {
    const words = question.split(" "), reply = await page.evaluate(w => window.chalkline.engine.ask(w), words);
    assert.equal(reply.error, undefined, JSON.stringify(reply.error));
    alike(JSON.parse(JSON.stringify(reply.answer)), await answer(words), "answer");
  });

on("the six starting points are links that answer", undefined, async page => {
  const links = await page.$$eval("#starts a", list => list.map(a => a.getAttribute("href")));
  assert.equal(links.length, 6);
  for (const [i, hash] of links.entries()) {
    await after(page, () => start(page, i));
    assert.equal(await page.isVisible("#error"), false, `${hash}: ${await page.textContent("#error")}`);
    await agrees(page);
  }
});

on("the starting points are on the first screen", undefined, async page => {
  const box = await page.locator("#starts summary, #starts a").first().boundingBox();
  assert.ok(box.y < 900, `the first is ${Math.round(box.y)} pixels down`);
});

/* ---- inputs ------------------------------------------------------------------------------------------ */

on("a slider by keyboard moves the number, which is the command line's", undefined, async page => {
  for (const [row, key, times] of [["batch", "ArrowLeft", 30], ["context", "PageUp", 1], ["chip_price", "ArrowRight", 30],
                                   ["hbm_bandwidth", "Home", 1]]) {
    const was = await shown(page, row === "chip_price" ? "bound_cost_per_token" : "bound_step");
    await after(page, async () => {
      await page.focus(slider(row));
      for (let i = 0; i < times; i++) await page.keyboard.press(key);
    });
    const is = await shown(page, row === "chip_price" ? "bound_cost_per_token" : "bound_step");
    assert.notEqual(is, was, `${row} moves it`);
    assert.equal(await page.evaluate(() => document.activeElement.type), "range", "the slider keeps its focus");
    await agrees(page);
  }
  await servedAgrees(page);
});

on("a slider by mouse moves the number while it is dragged", undefined, async page => {
  for (const row of ["batch", "context"]) {
    const box = await page.locator(slider(row)).boundingBox(), y = box.y + box.height / 2, seen = new Set();
    await settled(page);
    await page.evaluate(() => { delete document.documentElement.dataset.settled; });
    await page.mouse.move(box.x + box.width * 0.7, y);
    await page.mouse.down();
    for (let i = 0; i <= 10; i++) {
      await page.mouse.move(box.x + box.width * (0.7 - 0.03 * i), y);
      await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      seen.add(await page.textContent('#lines [data-why="bound_kv"]'));
    }
    await page.waitForTimeout(500);     /* what was asked on the way is answered */
    await after(page, () => page.mouse.up());
    assert.ok(seen.size > 6, `${seen.size} different numbers in eleven places`);
    await agrees(page);
  }
});

on("a value with a unit is understood, and can be taken back", undefined, async page => {
  const before = await shown(page, "bound_step");
  for (const [row, text] of [["hbm_bandwidth", "4000 GB/s"], ["chip_price", "0.001 USD/s"], ["context", "32k"], ["batch", "1,024"]]) {
    await page.fill(field(row), text);
    await after(page, () => page.press(field(row), "Enter"));
    assert.equal(await page.isVisible(`#inputs .input[data-name="${row}"] .wrong`), false, text);
    await agrees(page);
  }
  assert.match(decodeURIComponent(await hashOf(page)), /hbm_bandwidth=4000GB\/s/);
  for (const row of ["hbm_bandwidth", "chip_price", "context", "batch"]) await page.click(`#inputs [data-reset="${row}"]`);
  assert.equal(await shown(page, "bound_step"), before);
});

on("a wrong unit is told beside the field, and changes nothing", undefined, async page => {
  const before = await board(page), at = `#inputs .input[data-name="hbm_bandwidth"]`;
  await page.fill(field("hbm_bandwidth"), "4 ms");
  await page.press(field("hbm_bandwidth"), "Enter");
  await page.waitForSelector(`${at} .wrong:visible`);
  assert.ok((await page.textContent(`${at} .wrong`)).length > 8);
  assert.equal(await page.getAttribute(field("hbm_bandwidth"), "aria-invalid"), "true");
  assert.deepEqual(await board(page), before);
  const tied = await page.$eval(field("hbm_bandwidth"), f => {
    const by = document.getElementById(f.getAttribute("aria-errormessage") ?? f.getAttribute("aria-describedby") ?? "");
    return !!by?.textContent || !!f.closest(".input").querySelector(".wrong[role=alert], .wrong[aria-live]");
  });
  await page.fill(field("hbm_bandwidth"), "4 TB/s");
  await after(page, () => page.press(field("hbm_bandwidth"), "Enter"));
  assert.equal(await page.isVisible(`${at} .wrong`), false);
  await agrees(page);
  assert.ok(tied, "a screen reader is told too (aria-describedby or a live region)");
});

on("the sliders show what the prediction reads", undefined, async page => {
  await settled(page);
  const said = await answer(["step", ...wordsOf(await hashOf(page))]);
  for (const row of ["prompt_tokens", "output_tokens"])
    near(worth(await page.inputValue(field(row))), said[row], row);
});

on("an unknown model and an unknown machine are told, and the way back is open", undefined, async page => {
  for (const [id, good] of [["model", "llama-3.1-8b"], ["on", "h100-sxm"]]) {
    await page.fill("#" + id, "no-such-thing");
    await page.press("#" + id, "Enter");
    await page.waitForSelector("#error:visible");
    assert.match(await page.textContent("#error"), /no-such-thing/);
    await page.fill("#" + id, good);
    await after(page, () => page.press("#" + id, "Enter"));
    assert.equal(await page.isVisible("#error"), false);
  }
  await agrees(page);
});

/* ---- files ------------------------------------------------------------------------------------------- */

on("a dropped config.json is the model", `#batch?${START}`, async page => {
  await after(page, () => drop(page, [["config.json", SMALL]]));
  assert.equal(wordsOf(await hashOf(page))[1], "./config.json");
  await agrees(page);
  await servedAgrees(page);
});

on("a config.json chosen by the file field is the model", `#batch?on=h100-sxm&model=llama-3.1-8b`, async page => {
  await after(page, () => page.setInputFiles("#file", join(scratch, "config.json")));
  await agrees(page);
  await servedAgrees(page);
});

const shared = process.env.CHALKLINE_SHARED;      // published files: make page-tests SHARED=DIR
const real = shared && resolve(root, shared, "data/configs/Qwen--Qwen3-30B-A3B.json");
on("a published config.json is the model", "#batch?model=llama-3.1-8b&on=h100-sxm&gpus=4", async page => {
  const text = readFileSync(real, "utf8");
  writeFileSync(join(scratch, "published.json"), text);
  await after(page, () => drop(page, [["published.json", text]]));
  await agrees(page);
  await servedAgrees(page);
}, { skip: !(real && existsSync(real)) && "no published configurations here" });

for (const [what, name, text, told] of [
  ["cut short", "config.json", '{"model_type": "llama", "hidden_size": 20', /config\.json.*(JSON|end of|expected)/is],
  ["without its layers", "config.json", '{"model_type": "llama", "hidden_size": 2048}', /num_hidden_layers/],
  ["of another thing", "config.json", '{"name": "my-app", "version": "1.0.0"}', /config\.json.*(model|field)/is]]) {
  on(`a config.json ${what} is told clearly and the page stays usable`, undefined, async page => {
    await settled(page);
    await drop(page, [[name, text]]);
    await page.waitForTimeout(1500);
    const message = (await page.isVisible("#error") ? await page.textContent("#error") : await page.textContent(".said"));
    assert.match(message, told);
    const was = await shown(page, "bound_step");
    await page.focus(slider("context"));
    for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(400);
    assert.notEqual(await shown(page, "bound_step"), was, "a slider still moves the number");
    await page.click('#chapters a[data-chapter="experts"]');
    await page.waitForSelector('#results [data-why="all_to_all_share"]', { timeout: 3000 });
    await page.fill("#model", "llama-3.1-8b");
    await page.press("#model", "Enter");
    await page.waitForSelector("#error", { state: "hidden" });
    await page.waitForTimeout(400);
    await agrees(page);
  });
}

/* ---- why --------------------------------------------------------------------------------------------- */

on("a number clicked says why; Escape goes back to it", undefined, async page => {
  await settled(page);
  await page.click('#results [data-why="bound_step"]');
  await page.waitForSelector("#why:visible");
  const said = await answer(["why", "bound_step", ...wordsOf(await hashOf(page))]);
  near(worth((await page.textContent("#why .is"))), said.value, "why");
  assert.ok((await page.textContent("#why .source")).trim().length > 3, "a source");
  assert.ok(await page.evaluate(() => document.getElementById("why").contains(document.activeElement)), "focus is in the panel");
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#why"), false);
  assert.equal(await page.evaluate(() => document.activeElement?.dataset?.why), "bound_step", "focus is back on the number");
});

for (const row of ["bound_step", "bound_kv", "bound_cost_per_token"])
on(`why ${row}: its formula, with numbers, and sliders of what moves it most`, undefined, async page => {
  await settled(page);
  await page.click(`#lines [data-why="${row}"]`);
  await page.waitForSelector("#why:visible");
  assert.ok(await page.locator("#why .formula math").count() >= 2, "algebra, and its numbers");
  const said = await answer(["why", row, ...wordsOf(await hashOf(page))]);      /* a model's shape is held */
  const movers = Object.values(said.elasticities).filter(e => Math.abs(e) > 0.001).length;
  assert.ok(movers >= 2, "something moves it");
  assert.equal(await page.locator("#why input[type=range]").count(), Math.min(3, movers));
  for (let nth = 0; nth < Math.min(3, movers); nth++) {
    const was = await page.textContent("#why .is");
    await after(page, async () => {
      await page.focus(`#why input[type=range] >> nth=${nth}`);
      for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
    });
    assert.notEqual(await page.textContent("#why .is"), was, "its sliders move it");
  }
  await agrees(page);
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#why"), false);
});

on("why by keyboard: Enter and Space, on results and on lines", undefined, async page => {
  await settled(page);
  for (const number of ['#results [data-why="user_speed"]', '#lines [data-why="bound_memory"]'])
    for (const key of ["Enter", " "]) {
      await page.focus(number);
      await page.keyboard.press(key);
      await page.waitForTimeout(100);
      assert.ok(await page.isVisible("#why"), `${JSON.stringify(key)} on ${number}`);
      await page.keyboard.press("Escape");
      assert.equal(await page.isVisible("#why"), false);
      assert.equal(await page.evaluate(() => document.activeElement?.dataset?.why), /why="(\w+)"/.exec(number)[1], "focus is back");
    }
});

on("every number of the board, and the prediction's, has a why", undefined, async page => {
  await settled(page);
  for (const of of await page.$$eval("#board [data-why]", list => [...new Set(list.map(e => e.dataset.why))])) {
    await page.click(`#board [data-why="${of}"] >> nth=0`);
    await page.waitForSelector("#why:visible");
    assert.ok(await page.locator("#why .is").count(), `${of}: ${await page.textContent("#why")}`);
    assert.ok((await page.textContent("#why .source")).trim(), `${of} has a source`);
    await page.keyboard.press("Escape");
  }
});

/* ---- chapters ---------------------------------------------------------------------------------------- */

/* Pixels of the four colours, or bars: what a picture without a curve does not have. */
const drawn = page => page.$$eval("#pictures figure", figures => figures.map(figure => {
  const style = getComputedStyle(document.documentElement), title = figure.querySelector("figcaption").textContent;
  const series = [1, 2, 3, 4].map(i => style.getPropertyValue(`--series-${i}`).trim())
    .map(c => [1, 3, 5].map(k => parseInt(c.slice(k, k + 2), 16)));
  const made = { id: figure.id, title, ink: 0 };
  const canvas = figure.querySelector("canvas");
  if (canvas) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 150 && series.some(c => c.reduce((sum, v, k) => sum + Math.abs(v - data[i + k]), 0) < 40)) made.ink++;
  } else for (const rect of figure.querySelectorAll("svg rect")) if (rect.getBoundingClientRect().width > 1) made.ink += 100;
  return made;
}));

for (const chapter of CHAPTERS) on(`chapter ${chapter}: numbers, a sentence, and no picture is empty`, undefined, async page => {
  await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
  assert.ok((await page.textContent("#claim")).length > 30);
  assert.doesNotMatch(await page.textContent("#claim"), /—(?!\s)|NaN|Infinity|undefined/);
  await agrees(page);
  const pictures = await drawn(page);
  assert.ok(pictures.length >= 1);
  for (const picture of pictures) {
    assert.ok(picture.ink > 60, `${picture.id} is empty: ${picture.title}`);
    assert.ok(picture.title.length > 5 && !/…$|NaN|undefined|—/.test(picture.title), picture.title);
  }
});

for (const [what, words] of [["a dense model", "model=llama-3.3-70b&on=h100-sxm"], ["the lecture's own numbers", "on=gb200-nvl72"]])
  on(`every chapter opens with ${what}`, `#batch?${words}`, async page => {
    for (const chapter of CHAPTERS) {
      await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
      assert.equal(await page.isVisible("#error"), false, `${chapter}: ${await page.textContent("#error")}`);
      assert.doesNotMatch(await page.textContent("#claim"), /NaN|Infinity|undefined|—/, chapter);
      assert.doesNotMatch(await page.textContent("#results"), /NaN|Infinity|undefined|—/, chapter);
    }
  });

/* ---- the address -------------------------------------------------------------------------------------- */

on("the address holds all of it: numbers, chapter and the dropped configuration", undefined, async page => {
  await after(page, () => drop(page, [["config.json", SMALL]]));
  await after(page, () => page.click('#chapters a[data-chapter="memory"]'));
  await page.fill(field("hold_time"), "20 min");
  await after(page, () => page.press(field("hold_time"), "Enter"));
  await after(page, async () => {
    await page.focus(slider("context"));
    for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowRight");
  });
  await page.selectOption('[data-option="kv-precision"]', "fp8");
  await settled(page);
  const { words } = await agrees(page), hash = await hashOf(page), before = await board(page);
  const again = await open(context, hash);
  try {
    assert.deepEqual(await board(again), before);
    assert.equal(await again.textContent("#chapters [aria-current]"), "memory");
    assert.equal(await again.inputValue("#model"), "./config.json");
    await settled(again);
    assert.equal(await again.inputValue('[data-option="kv-precision"]'), "fp8");
    assert.deepEqual(wordsOf(await hashOf(again)), words);
    assert.deepEqual(again.errors, []);
  } finally { await again.close(); }
});

on("back and forward go between chapters", undefined, async page => {
  const current = () => page.evaluate(() => document.querySelector("#chapters [aria-current]")?.textContent ?? `gone to ${location.href}`);
  for (const chapter of ["experts", "memory"]) await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
  await page.goBack();
  await page.waitForTimeout(500);
  assert.equal(await current(), "experts");
  await page.goBack();
  await page.waitForTimeout(500);
  assert.equal(await current(), "batch");
  await page.goForward();
  await page.waitForTimeout(500);
  assert.equal(await current(), "experts");
  await agrees(page);
});

on("back and forward go between links", undefined, async page => {
  const first = await board(page);
  await after(page, () => start(page, 0));
  const second = await board(page);
  assert.notDeepEqual(second, first);
  await page.goBack();
  await page.waitForTimeout(600);
  assert.deepEqual(await board(page), first);
  await page.goForward();
  await page.waitForTimeout(600);
  assert.deepEqual(await board(page), second);
});

on("a broken link is told, not shown as an empty page", "#batch?model=nothing-like-it&on=gb200-nvl72", async page => {
  assert.ok(await page.isVisible("#error"));
  assert.match(await page.textContent("#error"), /nothing-like-it/);
});

/* ---- two scenarios -------------------------------------------------------------------------------------- */

on("compare names the input that was changed, and both numbers", `#batch?${START}&batch=512`, async page => {
  await after(page, () => page.click("#compare"));
  await page.fill(field("hbm_bandwidth"), "2 TB/s");
  await after(page, () => page.press(field("hbm_bandwidth"), "Enter"));
  const told = await page.textContent("#difference");
  assert.match(told, /hbm bandwidth/i);
  const rows = await page.$$eval("#difference table tr", list => list.slice(1).map(tr => [...tr.cells].map(c => c.textContent)));
  assert.equal(rows.length, 1, "one input differs");
  assert.deepEqual(rows[0].slice(1).map(worth), [8e12, 2e12]);
  const text = await page.textContent('#results [data-why="bound_step"]');
  const words = ["eval", "bound_step", "--model", "deepseek-v3", "--on", "gb200-nvl72", "--batch", "512"];
  const both = [await answer(words), await answer([...words, "--set", "hbm_bandwidth=2TB/s"])];
  const written = [...text.matchAll(/[\d.]+ [mu]s/g)].map(found => worth(found[0])).sort((a, b) => a - b);
  both.map(b => b.bound_step.value).sort((a, b) => a - b).forEach((v, i) => near(written[i], v, "A and B"));
  const again = await open(context, await hashOf(page));
  try {
    await settled(again);
    assert.match(await again.textContent("#difference"), /hbm bandwidth/i, "the link holds both");
  } finally { await again.close(); }
  await page.click("#compare");
  assert.equal(await page.isVisible("#difference"), false);
});

const MODELS = "#batch?model=llama-3.1-8b&on=h100-sxm&batch=64&b.model=llama-3.3-70b&b.on=h100-sxm&b.batch=64";
on("compare two models says it is the model", MODELS, async page => {
  await settled(page);
  assert.match(await page.textContent("#difference h2"), /model/i);
});

/* ---- taking away ------------------------------------------------------------------------------------------ */

async function take(page, figure, kind) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`${figure} [data-take="${kind}"]`)]);
  return { name: download.suggestedFilename(), data: readFileSync(await download.path()) };
}

for (const [chapter, id] of [["batch", "latency"], ["batch", "operators"], ["prices", "deduced"]])
  on(`${id} can be taken as CSV, JSON, SVG and PNG`, `#${chapter}?${START}`, async page => {
    await settled(page);
    const figure = `#picture-${id}`, title = await page.textContent(`${figure} figcaption`);
    const csv = await take(page, figure, "csv"), lines = csv.data.toString().trim().split("\n");
    assert.ok(lines.length > 5 && lines[0].includes(","), csv.name);
    assert.ok(lines.slice(1).every(line => /\d/.test(line)));
    const json = JSON.parse((await take(page, figure, "json")).data);
    assert.equal(json.title, title);
    assert.equal(json.rows.length, lines.length);
    const svg = (await take(page, figure, "svg")).data.toString();
    assert.match(svg, /^<svg[^>]+xmlns/);
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
    assert.ok((svg.match(/<(path|rect)/g) ?? []).length > 5);
    const wrong = await page.evaluate(text =>
      new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror")?.textContent ?? "", svg);
    assert.equal(wrong, "");
    const png = (await take(page, figure, "png")).data;
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    assert.ok(png.readUInt32BE(16) >= 600 && png.readUInt32BE(20) >= 200 && png.length > 5000);
  });

on("the CSV of every picture is a table whose columns say what they are, with units", undefined, async page => {
  for (const chapter of ["batch", "training", "prices"]) {
    await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
    for (const id of await page.$$eval("#pictures figure", list => list.map(f => f.id))) {
      const lines = (await take(page, "#" + id, "csv")).data.toString().trim().split("\n");
      const cells = line => line.match(/("(?:[^"]|"")*"|[^,]*)(,|$)/g).length - 1;
      const widths = new Set(lines.map(line => cells(line + ",") ));
      assert.equal(widths.size, 1, `${id}: rows of ${[...widths].join(", ")} cells`);
      assert.ok(lines[0].split(",").every(name => name !== ""), `${id}: a column without a name: ${lines[0]}`);
      if (id === "picture-latency") assert.match(lines[0], /[([ ](s|ms|us)\b/, `no unit: ${lines[0]}`);
    }
  }
});

on("the numbers of a picture are a table one key away", undefined, async page => {
  await settled(page);
  await page.focus("#picture-latency");
  await page.keyboard.press("t");
  await page.waitForSelector("#picture-latency .table table:visible", { timeout: 5000 });
  assert.ok(await page.locator("#picture-latency .table tr").count() > 20);
});

/* ---- traffic --------------------------------------------------------------------------------------------- */

async function replayed(page, trace) {
  await page.waitForFunction(() => !/replaying/.test(document.querySelector(".said").textContent), null, { timeout: 60000 });
  const said = await run(["simulate", trace, ...wordsOf(await hashOf(page)), "--requests", "-"], scratch);
  assert.equal(said.code, 0, said.err);
  const rows = said.out.split("\n").filter(line => /^\d+,/.test(line)).map(line => line.split(","));
  const waits = rows.map(cells => Number(cells[4]) - Number(cells[1])).sort((a, b) => a - b);
  assert.match(await page.textContent(".said"), new RegExp(`^${rows.length.toLocaleString("en")} requests`));
  const title = await page.textContent("#picture-ttft figcaption");
  const [, half, most] = /within ([\d.,]+ \w+), 99 % within ([\d.,]+ \w+)/.exec(title) ?? assert.fail(`the title: ${title}`);
  near(worth(half), waits[Math.floor(0.5 * waits.length)], "median");
  near(worth(most), waits[Math.min(waits.length - 1, Math.floor(0.99 * waits.length))], "99 %");
  for (const id of ["queue", "ttft"]) assert.ok(await page.isVisible(`#picture-${id} canvas`), id);
}

on("a small Poisson is replayed as the command line does", "#batch?model=llama-3.1-8b&on=h100-sxm&gpus=1", async page => {
  const trace = "poisson:rate=4,count=80,input=500,output=60";
  await page.fill("#trace", trace);
  await page.click("#replay");
  await replayed(page, trace);
  await page.click("#play");
  await page.waitForTimeout(600);
  const early = await page.inputValue("#clock");
  assert.ok(Number(early) > 0 && Number(early) < 240, "the clock runs");
});

on("a dropped trace is replayed", "#batch?model=llama-3.1-8b&on=h100-sxm&gpus=1", async page => {
  const rows = Array.from({ length: 50 }, (_, i) => `${(0.2 * i).toFixed(1)},${200 + 37 * (i % 9)},${20 + i}\n`);
  const text = "arrival,input,output\n" + rows.join("");
  writeFileSync(join(scratch, "day.csv"), text);
  await drop(page, [["day.csv", text]]);
  await page.waitForSelector("#picture-ttft:visible", { timeout: 60000 });
  await replayed(page, "./day.csv");
});

on("a trace that is none is told", "#batch?model=llama-3.1-8b&on=h100-sxm&gpus=1", async page => {
  await drop(page, [["day.csv", "colour,shape\nred,round\n"]]);
  await page.waitForFunction(() => !/replaying|A description/.test(document.querySelector(".said").textContent), null, { timeout: 20000 });
  assert.match(await page.textContent(".said"), /arrival|column|trace/i);
});

/* ---- looks ------------------------------------------------------------------------------------------------ */

on("the theme switches, and the pictures with it", undefined, async page => {
  await settled(page);
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper();
  await page.click("#theme");
  assert.notEqual(await paper(), light);
  assert.ok((await drawn(page)).every(picture => picture.ink > 60), "pictures in the colours of the theme");
  await page.click("#theme");
  assert.equal(await paper(), light);
});

test("a reader who prefers dark gets dark", async () => {
  const dark = await browser.newContext({ colorScheme: "dark", offline: true });
  const page = await open(dark);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await dark.close();
});

for (const theme of ["light", "dark"])
  on(`text stands out from its paper, ${theme}`, undefined, async page => {
    await settled(page);
    await page.evaluate(name => window.chalkline.theme(name), theme);
    const poor = await page.evaluate(() => {
      const parse = c => c.match(/[\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const found = new Map();
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const element = node.parentElement;
        if (!node.textContent.trim() || element.closest("option, script, style, .hidden")) continue;
        if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
        let under = element, paper = [0, 0, 0, 0];
        while (under && !(paper[3] ?? 1)) { paper = parse(getComputedStyle(under).backgroundColor); under = under.parentElement; }
        const style = getComputedStyle(element), ink = parse(element.closest("svg") ? style.fill : style.color);
        if (element.getAttribute("fill") === getComputedStyle(document.documentElement).getPropertyValue("--on-series").trim())
          continue;                     /* on a bar, whose colour is not its parent's */
        const [a, b] = [light(ink), light(paper)].sort((p, q) => q - p), ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) found.set(`${ink} on ${paper.slice(0, 3)}`, `${ratio.toFixed(2)}: ${node.textContent.trim().slice(0, 30)}`);
      }
      return [...found];
    });
    assert.deepEqual(poor, [], "contrast below 4.5");
  });

const WIDE = "no sideways scrolling at 1440, 1024 and 390 pixels, light and dark";
for (const chapter of CHAPTERS) on(`chapter ${chapter}: ${WIDE}`, `#${chapter}?${START}`, async page => {
  await settled(page);
  const wide = [];
  for (const theme of ["light", "dark"]) {
    await page.evaluate(name => window.chalkline.theme(name), theme);
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(120);
      await page.screenshot({ path: `${shots}${chapter}-${width}-${theme}.png`, fullPage: true });
      const over = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth);
      if (over > 0) wide.push(`${over} pixels too wide at ${width}, ${theme}`);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(wide, []);
});

for (const width of [1440, 1024, 390])
  on(`no number and no label is cut off at ${width} pixels`, undefined, async page => {
    await page.setViewportSize({ width, height: 900 });
    const cut = [];
    for (const chapter of CHAPTERS) {
      await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
      cut.push(...await page.evaluate(chapter => {
        const found = [];
        for (const e of document.querySelectorAll("main input[type=text], .input label, figcaption, #results b, #results span"))
          if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1) found.push(`${chapter}: ${e.value ?? e.textContent.trim()}`);
        for (const svg of document.querySelectorAll("figure svg"))
          for (const text of svg.querySelectorAll("text")) {
            const box = text.getBBox(), whole = svg.viewBox.baseVal;
            if (box.x < -1 || box.x + box.width > whole.width + 1) found.push(`${chapter}: ${text.textContent}`);
          }
        return found;
      }, chapter));
    }
    assert.deepEqual(cut, []);
  });

/* ---- by keyboard, and by ear --------------------------------------------------------------------------------- */

const REACH = 'a[href], button, input, select, summary, [tabindex="0"]';
const TAB = "Tab reaches everything, and shows where it is";
for (const chapter of ["batch", "prices"]) on(`chapter ${chapter}: ${TAB}`, `#${chapter}?${START}`, async page => {
  await settled(page);
  await page.evaluate(() => { document.activeElement?.blur(); window.seen = new Set(); });
  const unseen = [];
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body || window.seen.has(e)) return null;
      window.seen.add(e);
      const ring = [e, e.closest("label")].map(x => x && getComputedStyle(x))
        .some(style => style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
      const box = e.getBoundingClientRect();
      const what = e.id || e.dataset.why || e.textContent.trim().slice(0, 30) || e.className;
      return { what, ring, inside: box.bottom > 0 && box.top < innerHeight };
    });
    if (!at) break;
    if (!at.ring || !at.inside) unseen.push(at.what);
  }
  const missed = await page.evaluate(reach => [...document.querySelectorAll(reach)]
    .filter(e => e.checkVisibility({ checkVisibilityCSS: true }) && !e.disabled && e.tabIndex >= 0 && !window.seen.has(e))
    .map(e => e.id || e.textContent.trim().slice(0, 30)), REACH);
  assert.deepEqual(missed, [], "not reached");
  assert.deepEqual(unseen, [], "focus not to be seen");
  const mouse = await page.$$eval("[data-why]", list => list.filter(e => e.checkVisibility() && e.tabIndex < 0).map(e => e.dataset.why));
  assert.deepEqual(mouse, [], "numbers that only a mouse can ask");
});

on("focus stays where it is while the page computes", undefined, async page => {
  await page.focus('#results [data-why="user_speed"]');
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement?.dataset?.why), "user_speed", "when the prediction comes");
  await page.focus('#inputs [data-name="batch"] input[type=text]');
  await page.keyboard.press("Control+A");
  await page.keyboard.type("777");
  await after(page, () => page.keyboard.press("Tab"));
  assert.ok(await page.evaluate(() => document.activeElement !== document.body), "after a value was typed");
});

on("every input, button, link and figure has a name", undefined, async page => {
  const session = await context.newCDPSession(page);
  for (const chapter of CHAPTERS) {
    await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
    await page.evaluate(() => { document.getElementById("all").open = true; });
    await page.waitForTimeout(150);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const asked = new Set(["button", "link", "textbox", "searchbox", "slider", "combobox", "checkbox", "figure", "image", "img", "region"]);
    const found = nodes.filter(n => !n.ignored && asked.has(n.role?.value));
    assert.ok(found.length > 40);
    const nameless = [];
    for (const node of found.filter(n => !n.name?.value?.trim())) {
      const { node: { nodeName, attributes } } = await session.send("DOM.describeNode", { backendNodeId: node.backendDOMNodeId });
      nameless.push(`${nodeName.toLowerCase()} ${attributes.join(" ")}`);
    }
    assert.deepEqual(nameless, [], chapter);
    const current = await page.getAttribute(`#chapters a[data-chapter="${chapter}"]`, "aria-current");
    assert.ok(current === "page" || current === "true", `aria-current="${current}" says nothing`);
  }
});

on("results have names a reader knows: KV, HBM and MFU as such", undefined, async page => {
  const raw = [];
  for (const chapter of CHAPTERS) {
    await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
    for (const name of await page.$$eval("#results > [data-why]:not(.served) > span", list => list.map(s => s.textContent.trim())))
      if (/\b(pp|kv|hbm|mfu|rl)\b/.test(name)) raw.push(`${chapter}: ${name}`);
  }
  assert.deepEqual(raw, []);
});

on("numbers are written to be read, without an e", undefined, async page => {
  const raw = [];
  for (const chapter of CHAPTERS) {
    await after(page, () => page.click(`#chapters a[data-chapter="${chapter}"]`));
    for (const text of await page.$$eval("#claim, #results b, #results span, figcaption", list => list.map(e => e.textContent)))
      if (/\de[-+]?\d+/.test(text)) raw.push(`${chapter}: ${text}`);
  }
  assert.deepEqual(raw, []);
});
