/* The published client library of the OpenAI API against `simulate --listen`: models, completions and chats,
 * streamed and not, and the exceptions that it makes of refusals. */
import assert from "node:assert";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import OpenAI from "openai";

const PROGRAM = process.env.CHALKLINE;
let server, client;

before(async () => {
  server = spawn(PROGRAM, ["simulate", "--step-time", "2ms + 0.01ms*tokens", "--blocks", "1000", "--replicas", "2",
                           "--served-name", "tiny", "--listen", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise(done => server.stdout.once("data", text => done(String(text).trim())));
  client = new OpenAI({ baseURL: `${line}v1`, apiKey: "none", maxRetries: 0 });
});
after(() => server.kill());

const messages = [{ role: "user", content: "Why is the sky blue?" }];

test("its models are listed", async () => {
  const found = [];
  for await (const model of client.models.list()) found.push(model.id);
  assert.deepEqual(found, ["tiny"]);
});

test("a completion has as many tokens as were asked, streamed or not", async () => {
  const whole = await client.completions.create({ model: "tiny", prompt: [1, 2, 3, 4], max_tokens: 7 });
  assert.deepEqual(whole.usage, { prompt_tokens: 4, completion_tokens: 7, total_tokens: 11 });
  assert.equal(whole.choices[0].finish_reason, "length");
  const stream = await client.completions.create({ model: "tiny", prompt: "Hello", max_tokens: 7, stream: true,
                                                   stream_options: { include_usage: true } });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  assert.equal(chunks.map(chunk => chunk.choices[0]?.text ?? "").join(""), whole.choices[0].text);
  assert.equal(chunks.at(-1).usage.completion_tokens, 7);
});

test("a chat streams a role, then text, and ends", async () => {
  const began = performance.now();
  const stream = await client.chat.completions.create({ model: "tiny", messages, max_completion_tokens: 20,
                                                        stream: true });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  assert.equal(chunks[0].choices[0].delta.role, "assistant");
  assert.equal(chunks.map(chunk => chunk.choices[0]?.delta.content ?? "").join(""), " a".repeat(20));
  assert.equal(chunks.at(-1).choices[0].finish_reason, "length");
  assert.ok(performance.now() - began >= 40, "20 steps of 2 ms cannot be over sooner");
  const whole = await client.chat.completions.create({ model: "tiny", messages, max_completion_tokens: 20 });
  assert.equal(whole.choices[0].message.content, " a".repeat(20));
});

test("thirty chats at once are answered by both replicas", async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () =>
    client.chat.completions.create({ model: "tiny", messages, max_completion_tokens: 10 })));
  assert.ok(answers.every(answer => answer.usage.completion_tokens === 10));
  assert.equal(new Set(answers.map(answer => answer.id)).size, 30);
  const text = await (await fetch(new URL("/metrics", client.baseURL))).text();
  const finished = [...text.matchAll(/^vllm:request_success_total\{.*"length".*\} (\d+)$/gm)].map(found => +found[1]);
  assert.equal(finished.length, 2);
  assert.ok(finished.every(count => count > 0));
});

test("refusals become the library's exceptions", async () => {
  await assert.rejects(client.chat.completions.create({ model: "other", messages }),
                       error => error instanceof OpenAI.NotFoundError && /does not exist/.test(error.message));
  await assert.rejects(client.completions.create({ model: "tiny", prompt: "Hello", max_tokens: 50000 }),
                       error => error instanceof OpenAI.BadRequestError && /KV blocks/.test(error.message));
});
