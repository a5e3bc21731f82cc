/* The whole way with a real engine: a model of random weights, read by `import` and by llama.cpp; this machine,
 * timed; the engine behind its API, measured; a calibration of what was measured; the loads between, predicted and
 * then measured twice.
 *
 * Counts are exact. Times are processor time of the engine (CLOCK=cpu), which other work on the machine stretches
 * by a tenth or two. The clock on the wall, which it stretches without limit, has bounds alone. */
import assert from "node:assert";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

const { CHALKLINE, ENGINE_MODEL } = process.env, run = promisify(execFile);
const folder = mkdtempSync(`${tmpdir()}/chalkline-engine-`), at = name => `${folder}/${name}`;
const GGUF = at("random.gguf"), MACHINE = at("one.csv"), LOAD = ["--isl", "16", "--osl", "32"];
const SERVER = ["--model", GGUF, "--on", MACHINE, "--gpus", "1", "--engine", "llamacpp"];
const servers = [];

const chalkline = async (...words) =>
  JSON.parse((await run(CHALKLINE, [...words, "--json"], { maxBuffer: 1 << 26 })).stdout);

async function serve(clock, file = GGUF, settings = {}) {
  const server = spawn(process.execPath, [new URL("server.mjs", import.meta.url).pathname, file],
                       { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, CLOCK: clock, ...settings } });
  servers.push(server);
  server.url = await new Promise((done, fail) => {
    server.stdout.once("data", text => done(String(text).trim()));
    server.once("exit", code => fail(new Error(`the engine ends with ${code}`)));
  });
  return server;
}

async function counters(server) {
  const text = await (await fetch(`${server.url}metrics`)).text();
  return Object.fromEntries([...text.matchAll(/^llamacpp:(\w+) (\S+)$/gm)].map(([, name, value]) => [name, +value]));
}

/* Seconds that the threads ran. */
const scheduled = server => readdirSync(`/proc/${server.pid}/task`).reduce((sum, task) =>
  sum + readFileSync(`/proc/${server.pid}/task/${task}/schedstat`, "utf8").split(" ")[0] / 1e9, 0);

const lines = file => readFileSync(file, "utf8").trim().split("\n").map(line => JSON.parse(line));
const tokens = file => lines(file).reduce((sum, line) =>
  ({ prompt: sum.prompt + line.prompt_tokens, output: sum.output + line.output_tokens }), { prompt: 0, output: 0 });
const percent = share => `${share < 0 ? "-" : "+"}${Math.abs(100 * share).toFixed(1)} %`;
let engine, measured;

before(async () => {
  await run(ENGINE_MODEL, [GGUF]);
  await run("taskset", ["-c", "0", CHALKLINE, "measure", "-o", MACHINE],
            { env: { ...process.env, XDG_STATE_HOME: folder } });
  engine = await serve("cpu");
});
after(() => {
  servers.forEach(server => server.kill());
  rmSync(folder, { recursive: true });
});

test("import and the engine agree on parameters and bytes", async () => {
  const facts = await chalkline("import", GGUF);
  const { data: [{ meta }] } = await (await fetch(`${engine.url}v1/models`)).json();
  assert.equal(facts.params_total, meta.n_params);
  assert.equal(facts.weights_stored, meta.size);
});

/* Two formats, dense and with experts: the memory that it reports, of one sequence, beside what is computed. */
test("parameters, bytes and memory of four files are those that the engine reports", async t => {
  for (const [format, experts] of [["bf16", 0], ["q8_0", 0], ["bf16", 8], ["q8_0", 8]]) {
    const file = at(`${format}-${experts}.gguf`), length = 4096, eval_ = async row =>
      (await chalkline("eval", row, "--model", file, ...SERVER.slice(2), "--batch", "1", "--context", `${length}`))[row].value;
    await run(ENGINE_MODEL, [file, format, `${experts}`]);
    const server = await serve("cpu", file, { SLOTS: 1, LENGTH: length }), facts = await chalkline("import", file);
    const { data: [{ meta }] } = await (await fetch(`${server.url}v1/models`)).json();
    const { buffers } = await (await fetch(`${server.url}props`)).json();
    assert.equal(facts.params_total, meta.n_params);
    assert.equal(facts.weights_stored, meta.size);
    /* For tiles 32 weights of q8_0 take 38 bytes in place of 34, which no row has. */
    const reported = buffers.model + (buffers.AMX ?? 0) * 34 / 38 + buffers.KV + buffers.compute + buffers.output;
    const share = (await eval_("memory_needed") - await eval_("runtime_memory")) / reported - 1;
    t.diagnostic(`${format}, ${experts} experts: ${(reported / 1e6).toFixed(1)} MB reported, computed ${percent(share)}`);
    assert.ok(Math.abs(share) < 0.01, `${file}: ${JSON.stringify(buffers)}, computed ${percent(share)}`);
    server.kill();
    rmSync(file);
  }
});

/* This machine as `measure` found it, and nothing else known of the engine: what is predicted, beside what is measured.
 * A router of random weights routes at random. What docs/measure.md says of the errors holds, with room for the
 * fifth by which the processor's own time differs on a machine with other work. */
test("steps and prompts of four files are predicted from the machine alone",
     { skip: !process.env.CHALKLINE_LONG && "a long test" }, async t => {
  const off = [];
  for (const [format, experts] of [["bf16", 0], ["q8_0", 0], ["bf16", 8], ["q8_0", 8]]) {
    const file = at(`${format}-${experts}.gguf`), told = [];
    await run(ENGINE_MODEL, [file, format, `${experts}`]);
    const server = await serve("cpu", file);
    const compare = async (loads, isl, osl, budget, key, row) => {
      const words = ["--isl", isl, "--osl", osl];
      const { points } = await chalkline("measure", server.url, "--loads", loads, ...words, "--budget", budget);
      for (const point of points) {
        const clients = `${point.concurrency}`, wanted = [...SERVER.slice(2), ...words, "--concurrency", clients,
                                                            "--set", "distinct_experts_share=1"];
        const share = (await chalkline("step", file, ...wanted))[row] / point[key].p50 - 1;
        told.push(`${key} of ${clients} ${percent(share)}`), off.push(Math.abs(share));
      }
    };
    await compare("1,2,4,8", "16", "32", "12s", "tpot", "predicted_tpot");
    await compare("1", "512", "2", "5s", "ttft", "predicted_ttft");
    t.diagnostic(`${format}, ${experts} experts: ${told.join(", ")}`);
    server.kill();
    rmSync(file);
  }
  off.sort((a, b) => a - b);
  t.diagnostic(`of ${off.length} times half are within ${percent(off[off.length / 2])}, all within ${percent(off.at(-1))}`);
  assert.ok(off[off.length / 2] < 0.15 && off.at(-1) < 0.4, `off by ${off.map(percent)}`);
});

test("each token that was asked for is counted on both sides", async () => {
  const began = await counters(engine), file = at("run.jsonl");
  measured = await chalkline("measure", engine.url, "--loads", "1,2,4,8", ...LOAD, "--budget", "14s", "-o", file,
                             ...SERVER, "-c", at("set-aside.csv"));
  const now = await counters(engine);
  assert.equal(measured.virtual_clock, true);
  assert.equal(measured.prompts, "token ids");
  assert.equal(measured.exact_lengths, true);
  assert.deepEqual(measured.points.map(point => [point.concurrency, point.failed, point.prompt_tokens]),
                   [1, 2, 4, 8].map(clients => [clients, 0, 16]));
  assert.deepEqual(tokens(file), { prompt: now.prompt_tokens_total - began.prompt_tokens_total,
                                   output: now.tokens_predicted_total - began.tokens_predicted_total });
  assert.equal(measured.tokens_spent, tokens(file).prompt + tokens(file).output);
  for (const line of lines(file)) assert.equal(line.chunk_times.length, line.output_tokens);
});

test("alone, a request takes a step for each token of its answer", async () => {
  const began = await counters(engine);
  await chalkline("measure", engine.url, "--loads", "1", ...LOAD, "--budget", "1s", "-o", at("alone.jsonl"));
  assert.equal((await counters(engine)).n_decode_total - began.n_decode_total, tokens(at("alone.jsonl")).output);
});

test("what was measured is calibrated, and predicts the loads between", async t => {
  assert.ok(measured.calibration.points.filter(point => point.metric === "tpot").length === 4);
  await chalkline("calibrate", at("run.jsonl"), ...SERVER, "--keep", "-o", at("calibration.csv"));
  const twice = [];
  for (let i = 0; i < 2; i++)
    twice.push((await chalkline("measure", engine.url, "--loads", "3,6", ...LOAD, "--budget", "8s")).points);
  const errors = [], floors = [];
  for (const [i, clients] of [3, 6].entries()) {
    const words = [GGUF, ...SERVER.slice(2), ...LOAD, "--concurrency", `${clients}`];
    const before = (await chalkline("step", ...words)).predicted_tpot;
    const after = await chalkline("step", ...words, "--calibration", at("calibration.csv"));
    const [one, other] = twice.map(points => points[i].tpot.mean), truth = (one + other) / 2;
    errors.push(Math.abs(after.predicted_tpot / truth - 1)), floors.push(Math.abs(one / other - 1));
    t.diagnostic(`${clients} clients: TPOT ${(1e3 * truth).toFixed(1)} ms; predicted ${percent(before / truth - 1)}, ` +
                 `calibrated ${percent(after.predicted_tpot / truth - 1)}; measured again ${percent(one / other - 1)}`);
    assert.ok(after.tpot_band_low < 1 && after.tpot_band_high > 1);
  }
  const floor = Math.max(...floors);
  if (floor > 0.15) t.diagnostic(`accuracy is not judged: the same load differs by ${percent(floor)} here now`);
  else assert.ok(Math.max(...errors) < 0.5, `off by ${errors.map(percent)}`);
});

test("the clock on the wall has room for the work of the engine's processor", async t => {
  const server = await serve(""), ran = scheduled(server), began = performance.now(), file = at("wall.jsonl");
  const answer = await chalkline("measure", server.url, "--loads", "1", ...LOAD, "--budget", "3s", "-o", file);
  const whole = (performance.now() - began) / 1e3, work = scheduled(server) - ran;
  const requests = lines(file).reduce((sum, line) => sum + line.last - line.sent, 0);
  t.diagnostic(`TPOT ${(1e3 * answer.points[0].tpot.p50).toFixed(1)} ms on the wall, ` +
               `${(1e3 * measured.points[0].tpot.p50).toFixed(1)} ms of the processor`);
  assert.equal(answer.virtual_clock, false);
  assert.ok(work < 1.05 * requests + 0.1 && requests < whole, `${work} s of work, ${requests} s of requests in ${whole} s`);
});

test("a request that is too long, of no token or no JSON is refused, and measure says so", async () => {
  const prompt = (...ids) => JSON.stringify({ prompt: ids, max_tokens: 2 });
  for (const [body, status] of [[prompt(99999), 400], ["{", 500], [prompt(...Array(2000).fill(300)), 400]])
    assert.equal((await fetch(`${engine.url}v1/completions`, { method: "POST", body })).status, status);
  const wrong = await run(CHALKLINE, ["measure", `${engine.url}elsewhere`]).catch(error => error);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /GET \/v1\/models: HTTP status 404/);
});
