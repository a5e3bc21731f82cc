/* Page and command line give the same numbers: random scenarios through both, to the last bit. */
import assert from "node:assert";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { engine, random, root } from "./engine.mjs";

const COUNT = process.env.CHALKLINE_LONG ? 500 : 60;
const program = process.env.CHALKLINE ?? root + "chalkline";

const ROWS = ["bound_step", "bound_compute", "bound_memory", "bound_cost_per_token", "bound_throughput", "hbm_share", "sequences_that_fit", "all_to_all_time",
  "context_crossover", "batch_crossover", "optimal_pretrain_tokens", "cheapest_pause_cost", "recompute_cost", "output_input_ratio", "pp_weights_equal_kv"];

const run = words => new Promise(resolve => {
  execFile(program, words, { maxBuffer: 1 << 26 }, (_, out, err) => resolve({ out, err }));
});

function scenarioOf(draw, models, machines) {
  const pick = list => list[Math.floor(draw() * list.length)];
  const machine = pick(machines), words = ["--model", pick(models), "--on", machine.name];
  const several = Number(machine.scale_up_chips) > 1 ? 1 : 0.2;      // one without a link refuses several
  const log = (low, high) => low * Math.pow(high / low, draw());
  if (draw() < 0.6 * several) words.push("--gpus", String(2 ** Math.floor(draw() * 8)));
  if (draw() < 0.7) words.push("--batch", String(Math.round(log(1, 20000))));
  if (draw() < 0.7) words.push("--context", String(Math.round(log(64, 1e6))));
  if (draw() < 0.3) words.push("--precision", pick(["bf16", "fp8", "fp4"]));
  if (draw() < 0.3) words.push("--kv-precision", pick(["bf16", "fp8"]));
  if (draw() < 0.2) words.push("--lecture");
  if (draw() < 0.3) words.push("--set", `hbm_bandwidth=${log(0.5, 20).toFixed(3)}TB/s`);
  if (draw() < 0.3) words.push("--set", `chip_price=${log(0.5, 10).toFixed(2)}USD/h`);
  if (draw() < 0.2) words.push("--set", "bound_overlap=2");
  if (draw() < 0.2) words.push("--set", `hold_time=${Math.round(log(1, 1e6))}s`);
  if (draw() < 0.2 * several) words.push("--set", `pp=${2 ** Math.floor(draw() * 4)}`);
  return words;
}

test(`${COUNT} scenarios: eval, step and the board say what the command line says`, async () => {
  const page = await engine(), draw = random(20261121);
  const models = page.ask(["list", "models"]).answer.models.map(m => m.name);
  const machines = page.ask(["list", "hardware"]).answer.hardware;
  const seen = { answers: 0, refusals: 0, values: 0 };
  const one = async i => {
    const words = scenarioOf(draw, models, machines);
    const question = i % 3 ? ["eval", ...ROWS, ...words] : ["step", ...words];
    const said = await run([...question, "--json"]), reply = page.ask(question);
    const where = question.join(" ");
    if (reply.error) {
      assert.equal(said.err.split("\n")[0], "chalkline: " + reply.error.what, where);
      seen.refusals++;
      return;
    }
    assert.equal(JSON.stringify(reply.answer), JSON.stringify(JSON.parse(said.out)), where);
    seen.answers++;
    if (question[0] === "step") return;
    const doc = page.board(0, words, ROWS), values = page.values(0, "bound", doc.bound.outputs.length);
    ROWS.forEach((row, k) => {
      const value = reply.answer[row]?.value ?? reply.answer[row] ?? reply.answer.values?.[row];
      assert.equal(doc.bound.outputs[k].of, row);
      const number = value !== null && typeof value === "object" ? value.value : value;
      assert.equal(Number.isNaN(values[k]) ? null : values[k], number, `${row} of ${where}`);
      seen.values++;
    });
  };
  for (let i = 0; i < COUNT; i += 2) await Promise.all([one(i), one(i + 1)]);
  console.log(`# ${seen.answers} answers and ${seen.refusals} refusals alike; ${seen.values} values of the board, bit for bit`);
  assert.ok(seen.answers > 0.7 * COUNT);
});

const QUESTIONS = [
  "simulate poisson:rate=4,count=300,input=900,output=120 --model llama-3.1-8b --on h100-sxm --gpus 1",
  "plan llama-3.3-70b --on h100-sxm --gpus 8",
  "train llama-3.1-8b --on h100-sxm --gpus 64",
  "tiers deepseek-v3 --on gb200-nvl72 --context 32768",
  "brief qwen3-32b --on h200-sxm",
  "why bound_step --model deepseek-v3 --on gb200-nvl72 --deep",
  "curve bound_step batch=1..4096 --model deepseek-v3 --on gb200-nvl72",
  "check --by hardware",
  "can qwen3-14b --on rtx-4090",
  "can llama-3.1-8b --on m3-max --context 32768",
  "can qwen3-30b-a3b --on rtx-4090 --precision Q8_0",
];

for (const question of QUESTIONS) test(`${question.split(" ")[0]} says what the command line says`, async () => {
  const page = await engine(), words = question.split(" ");
  const said = await run([...words, "--json"]), reply = page.ask(words);
  assert.equal(reply.error, undefined);
  assert.deepEqual(reply.answer, JSON.parse(said.out));
});
