/* Measurements that are dropped on the page: recognised by content, read as the command line reads them,
 * calibrated, shown point by point; then the first screen is of the server that was measured. */
import assert from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { answer, root, run, shots } from "./browser.mjs";
import { engine } from "./engine.mjs";
import { on, page, rest, state, text } from "./reader.mjs";

const fixtures = root + "tests/fixtures/", files = folder => readdirSync(fixtures + folder);
const content = path => readFileSync(fixtures + path);
const RUNS = content("calibration/runs.csv").toString();

test("a file is told by its content: measurements, not traces and not models", async () => {
  for (const [folder, told] of [["benchmarks", true], ["traces", false], ["configs", false]]) {
    const page = await engine();
    for (const name of files(folder)) {
      assert.ok(page.shelve(name, content(`${folder}/${name}`)), name);
      assert.equal(page.measured(name), told, `${folder}/${name}`);
    }
  }
  const page = await engine(), bytes = said => new TextEncoder().encode(said);
  for (const [name, said, told] of [["runs.csv", RUNS, true], ["cut.json", content("benchmarks/vllm.json").toString().slice(0, 200), false],
    ["empty.csv", "", false], ["shape.csv", "colour,shape\nred,round\n", false], ["metrics.txt", "# HELP vllm:num_requests_running\n", true]]) {
    page.shelve(name, bytes(said));
    assert.equal(page.measured(name), told, name);
  }
});

/* Patterns are the browser's here, and JSON, YAML, tables are read by the same code: the answers are alike. */
test("every benchmark's file reads as on the command line, or is refused with the same words", async () => {
  const page = await engine(), count = { answers: 0, refusals: 0 };
  for (const name of files("benchmarks")) {
    page.shelve(name, content(`benchmarks/${name}`));
    for (const options of [[], ["--on", "h100-sxm", "--gpus", "8"], ["--on", "h100-sxm", "--gpus", "1"], ["--on", "h200-sxm", "--tp", "2", "--isl", "1000", "--osl", "200"],
      ["--model", "llama-3.1-8b", "--on", "h100-sxm", "--gpus", "1"], ["--model", "llama-3.1-8b", "--on", "h100-sxm", "--gpus", "1", "--isl", "1000", "--osl", "200", "--concurrency", "8"]]) {
      const words = ["check", "--measured", name, ...options], reply = page.ask(words), said = await run([...words, "--json"], fixtures + "benchmarks");
      if (reply.error) {
        assert.equal(said.err.split("\n")[0], "chalkline: " + reply.error.what, words.join(" "));
        count.refusals++;
      } else {
        assert.deepEqual(reply.answer, JSON.parse(said.out), words.join(" "));
        count.answers++;
      }
    }
  }
  console.log(`# ${count.answers} answers and ${count.refusals} refusals alike`);
  assert.ok(count.answers >= 15 && count.refusals >= 15);
});

test("a calibration is that of the command line, and its text is the file", async () => {
  const page = await engine();
  page.shelve("runs.csv", content("calibration/runs.csv"));
  const reply = page.ask(["calibrate", "runs.csv", "--output", "server.csv"]), said = await answer(["calibrate", "runs.csv"], fixtures + "calibration");
  assert.deepEqual({ ...reply.answer, file: null }, said);
  page.shelve("server.csv", new TextEncoder().encode(reply.answer.file));
  const words = ["step", "qwen3-32b", "--on", "h100-sxm", "--engine", "vllm", "--precision", "fp8", "--isl", "2000", "--osl", "1000", "--concurrency", "24", "--calibration", "server.csv"];
  const calibrated = page.ask(words), plain = page.ask(words.slice(0, -2));
  assert.ok(calibrated.answer && plain.answer);
  assert.notEqual(JSON.stringify(calibrated.answer), JSON.stringify(plain.answer));
});

async function drop(list) {
  const before = await page.evaluate(() => window.chalkline.dropped), transfer = await page.evaluateHandle(l => { const data = new DataTransfer(); for (const [name, content] of l) data.items.add(new File([content], name)); return data; }, list);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.waitForFunction(was => window.chalkline.dropped > was, before);
  await rest();
}

on("dropped measurements are shown point by point, and the screen is of their server", "#model", async () => {
  await drop([["my runs.csv", RUNS]]);
  const now = await state(), said = await answer(["calibrate", "runs.csv"], fixtures + "calibration");
  assert.equal(now.A.model, "qwen3-32b");
  assert.equal(now.A.on, "h100-sxm");
  assert.deepEqual([now.A.options.gpus, now.A.options.isl, now.A.options.osl, now.A.options.engine, now.A.options.precision], ["2", "8000", "1000", "vllm", "fp8"]);
  const rows = page.locator(".measured tbody tr");
  assert.equal(await rows.count(), said.points.length);
  assert.match(await rows.first().innerText(), /24\.4 ms\s+22\.1 ms\s+−9\.4 %\s+24\.6 ms\s+\+0\.6 %/);
  assert.match((await page.locator(".assumed li").allInnerTexts()).join("\n"), /that of the measured server/);
  await page.locator(".measured").scrollIntoViewIfNeeded();
  await page.screenshot({ path: shots + "measured.png" });
  await page.evaluate(() => window.chalkline.undo());
  await rest();
  assert.equal((await state()).A.model, "deepseek-v3");
});

on("what a file does not say is asked for by name, and taken from the page on request", "#model?model=llama-3.1-8b&on=h100-sxm&gpus=1", async () => {
  await drop([["vllm.json", content("benchmarks/vllm.json").toString()]]);
  assert.match(await text(".measured .said"), /vllm\.json:1: no machine\. .*--on NAME/);
  await page.locator(".measured .said button").click();
  await page.waitForFunction(() => window.chalkline.state.words === "vllm.json --on h100-sxm");
  await rest();
  assert.ok(await page.locator(".measured tbody tr").count() > 0);
  const { A } = await state();
  assert.deepEqual([A.model, A.options.gpus, A.options.isl, A.options.osl], ["meta-llama/Llama-3.1-8B-Instruct", "2", "1024", "128"]);
});

on("a damaged file is refused in words, and nothing else changes", "#model", async () => {
  const before = JSON.stringify((await state()).A);
  await drop([["runs.csv", RUNS.replace("24.42ms", "24.42parsecs")]]);
  assert.match(await text(".measured .said"), /runs\.csv:3/);
  await drop([["cut.json", content("benchmarks/vllm.json").toString().slice(0, 200)]]);
  assert.match(await text("#refusal"), /neither a model configuration nor a benchmark’s result/);
  assert.equal(JSON.stringify((await state()).A), before);
});
