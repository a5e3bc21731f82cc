/* A client of the API in TypeScript: types generated from what a server says of itself, a program
 * compiled with them and run against that server, and its answers checked by a JSON Schema
 * validator. */
import Ajv from "ajv/dist/2020.js";
import assert from "node:assert";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { build } from "esbuild";

const PROGRAM = process.env.CHALKLINE, HERE = "build/page/client", TOOLS = "web/page/node_modules";
const SOURCE = "tests/fixtures/client";
let server, where, api;

before(async () => {
  server = spawn(PROGRAM, ["serve", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  where = await new Promise(done => server.stdout.once("data", line => done(String(line).trim())));
  where = where.match(/http:\S+/)[0].replace(/\/$/, "");
  const text = await (await fetch(`${where}/v1/openapi.json`, { headers: { Connection: "close" } })).text();
  api = JSON.parse(text);
  mkdirSync(HERE, { recursive: true });
  writeFileSync(`${HERE}/openapi.json`, text);
  execFileSync(`${TOOLS}/.bin/openapi-typescript`, [`${HERE}/openapi.json`, "-o", `${HERE}/chalkline.d.ts`],
               { stdio: "pipe" });
});
after(() => server.kill());

/* A project of one file: "chalkline" is what was generated. */
function project(file) {
  const config = `${HERE}/${file}.json`;
  writeFileSync(config, JSON.stringify({
    compilerOptions: {
      strict: true, noEmit: true, noUncheckedIndexedAccess: true, target: "ES2022", module: "ES2022",
      moduleResolution: "bundler", lib: ["ES2022", "DOM", "DOM.Iterable"], types: [], baseUrl: "../../..",
      paths: { chalkline: [`${HERE}/chalkline.d.ts`], "openapi-fetch": [`${TOOLS}/openapi-fetch`] },
    },
    files: [`../../../${SOURCE}/${file}.ts`],
  }));
  return config;
}

function compile(file) {
  const done = spawnSync(`${TOOLS}/.bin/tsc`, ["-p", project(file)], { encoding: "utf8" });
  return { status: done.status, said: done.stdout };
}

test("a program that reads named, typed fields compiles, and says what the command line says", async () => {
  const { status, said } = compile("client");
  assert.equal(said, "");
  assert.equal(status, 0);
  await build({ entryPoints: [`${SOURCE}/client.ts`], tsconfig: project("client"), bundle: true, format: "esm",
                platform: "node", outfile: `${HERE}/client.mjs`, logLevel: "error" });
  const got = JSON.parse(execFileSync("node", [`${HERE}/client.mjs`, where]));
  const ask = line => JSON.parse(execFileSync(PROGRAM, [...line.split(" "), "--json"]));
  const step = ask("step llama-3.3-70b --on h100-sxm --gpus 8 --batch 64");
  const plan = ask("plan llama-3.1-8b --on h100-sxm --gpus 2 --isl 500 --osl 100 --ttft 1s --tpot 50ms");
  assert.equal(got.bound_step, step.bound_step);
  assert.equal(got.predicted_tpot, step.predicted_tpot);
  assert.equal(got.tensor_parallel, step.server.servers[0].tensor_parallel);
  assert.equal(got.hosts, step.server.hosts);
  assert.ok(Math.abs(got.parts / step.predicted_tpot - 1) < 1e-9);
  assert.equal(got.best.ttft, plan.best.predicted_ttft ?? plan.best.disagg_deployment_ttft);
  assert.equal(got.best.chips, plan.best.deployment_chips);
  assert.equal(got.best.role, plan.best.servers[0].role);
  assert.equal(got.best.binds, plan.best.binds);
  assert.equal(got.front, plan.front.length);
  assert.equal(got.feasible, plan.points.feasible);
});

test("a field that is missing or mistyped does not compile", () => {
  const { status, said } = compile("mistakes");
  const lines = readFileSync(`${SOURCE}/mistakes.ts`, "utf8").split("\n");
  const marked = lines.flatMap((line, i) => / !$/.test(line) ? [i + 1] : []);
  const refused = [...new Set([...said.matchAll(/mistakes\.ts\((\d+),/g)].map(found => Number(found[1])))];
  assert.notEqual(status, 0);
  assert.ok(marked.length >= 10);
  assert.deepEqual(refused, marked, said);
});

/* Schemas as a validator reads them; with no other keys than those that are described. */
function closed(schema) {
  if (Array.isArray(schema))
    return schema.map(closed);
  if (typeof schema !== "object" || schema === null)
    return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if (copy.type === "object" && copy.properties && copy.additionalProperties === undefined)
    copy.additionalProperties = false;
  return copy;
}

const QUESTIONS = {
  step: [{ words: "llama-3.3-70b", on: "h100-sxm" }, { words: "deepseek-v3", on: "gb200-nvl72", batch: 64 },
         { words: "qwen3-32b", on: "h200-sxm", gpus: 8, rate: 1000, isl: 4000, osl: 500 },
         { words: "llama-3.1-8b", on: "rtx-4090", context: 4e6 }],
  brief: [{ words: "deepseek-v3", on: "gb200-nvl72" }],
  eval: [{ words: ["predicted_tpot", "predicted_ttft"], model: "llama-3.1-8b", on: "h100-sxm" }],
  why: [{ words: "bound_step", model: "deepseek-v3", on: "gb200-nvl72" }],
  plan: [{ words: "qwen3-32b", on: "h200-sxm", gpus: 8, isl: 4000, osl: 500, ttft: "300ms", tpot: "10ms" },
         { words: "qwen3-32b", on: "h200-sxm", precision: "fp8", rate: 4, isl: 4000, osl: 500, ttft: 300, tpot: 10 },
         { words: "llama-3.1-8b", on: "h100-sxm", gpus: 2, isl: 500, osl: 100, tpot: "1us" },
         { words: "llama-3.1-8b", on: "h100-sxm", gpus: 2, sweep: "hbm_bandwidth=3TB/s,4TB/s" }],
};

test("answers are what the API says of them, key by key", async () => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addSchema({ $id: "api", components: closed(api.components) });
  for (const [verb, questions] of Object.entries(QUESTIONS)) {
    const response = api.paths[`/v1/${verb}`].post.responses[200].$ref.split("/").pop();
    const schema = api.components.responses[response].content["application/json"].schema.$ref;
    const valid = ajv.compile({ $ref: `api${schema}` });
    for (const question of questions) {
      const reply = await fetch(`${where}/v1/${verb}`, {
        method: "POST", headers: { "Content-Type": "application/json", Connection: "close" }, body: JSON.stringify(question) });
      const answer = await reply.json();
      assert.equal(reply.status, 200, JSON.stringify(answer));
      assert.ok(valid(answer), `${verb} ${JSON.stringify(question)}: ${ajv.errorsText(valid.errors)}`);
    }
  }
  const part = ajv.compile({ $ref: "api#/components/schemas/Part" });
  assert.ok(part({ label: "head", time: 1, saved_if_free: 1 }));
  assert.ok(!part({ label: "head" }) && !part({ label: "head", time: null }) &&
            !part({ label: "head", time: 1, share: 1 }));
});
