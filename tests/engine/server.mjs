/* server.mjs MODEL.gguf -- llama.cpp behind the OpenAI API, as far as the tests need a real engine: models,
 * completions and chats (streamed, with usage in the last chunk), several sequences in one context, and /metrics
 * under the names of llama.cpp's own server. Its URL is the first line that it prints.
 *
 * As in that server a step takes one token of each sequence that generates and fills up with prompts. The library
 * gives each sequence a cache of its own and computes only neighbours in one batch, so a request takes the lowest
 * free slot: the slots in use lie side by side while the load stays.
 *
 * /props has the sizes of its buffers. SLOTS, LENGTH (tokens of a sequence), THREADS. CLOCK=cpu: chunks carry the processor time of this process, in the
 * protocol of `simulate --clock virtual`, so that other work on the machine is no latency of the engine. */
import { createServer } from "node:http";
import { getLlama } from "node-llama-cpp";

const { SLOTS = 8, LENGTH = 1536, THREADS = 1, CLOCK } = process.env, BATCH = 512, name = "random-89m";
/* Its log says how large each buffer is: weights, KV cache, compute, output; MiB. */
const buffers = {};
function told(level, text) {
  for (const [, place, kind, size] of text.matchAll(/(CPU\S*|AMX) +(model|KV|compute|output) buffer size = +([\d.]+) MiB/g)) {
    const of = place === "AMX" ? place : kind;      /* weights that are packed for tiles */
    buffers[of] = (buffers[of] ?? 0) + +size * 2 ** 20;
  }
  if (level === "error" || level === "fatal") console.error(text);
}
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, progressLogs: false,
                               maxThreads: +THREADS, logLevel: "info", logger: told });
const model = await llama.loadModel({ modelPath: process.argv[2], useMmap: false });
const context = await model.createContext({ sequences: +SLOTS, contextSize: +LENGTH, batchSize: BATCH,
                                            threads: +THREADS, flashAttention: true });
const vocabulary = model.fileInfo.metadata.llama.vocab_size;
const slots = Array.from({ length: +SLOTS }, () => ({ sequence: context.getSequence(), request: null }));
const waiting = [];
const counts = { prompt_tokens: 0, prompt_seconds: 0, tokens_predicted: 0, tokens_predicted_seconds: 0, n_decode: 0 };
let busy = 0, runs = false;

const seconds = () => {
  const { user, system } = process.cpuUsage();
  return CLOCK === "cpu" ? (user + system) / 1e6 : performance.now() / 1e3;
};

/* ---- steps ---- */

function enter() {
  for (const slot of slots) if (!slot.request && waiting.length) slot.request = waiting.shift();
  return slots.filter(slot => slot.request);
}

async function step(active) {
  let room = BATCH - active.length;
  counts.n_decode++, busy += active.length;
  const answers = active.map(({ sequence, request }) => {
    const take = request.left.splice(0, Math.min(request.left.length, 1 + room)), last = !request.left.length;
    room -= take.length - 1;
    if (last) take.push([take.pop(), { generateNext: { token: true, options: { temperature: 0 } } }]);
    return sequence.controlledEvaluate(take);
  });
  const results = await Promise.all(answers);
  active.forEach(({ request }, i) => {
    const token = results[i].at(-1)?.next?.token;
    if (token !== undefined) request.take(token);
  });
  for (const slot of active.filter(({ request }) => request.over)) {
    await slot.sequence.clearHistory();
    slot.request = null;
  }
}

async function run() {
  if (runs) return;
  runs = true;
  for (let active; (active = enter()).length; await new Promise(setImmediate)) await step(active);
  runs = false;
}

/* ---- requests ---- */

const send = (response, status, body) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const refuse = (response, code, message) => send(response, code, { error: { code, message } });

function ask(response, chat, asked) {
  const text = chat ? asked.messages.map(one => one.content).join("\n") : asked.prompt;
  const prompt = Array.isArray(text) ? text : model.tokenize(text);
  const most = asked.max_completion_tokens ?? asked.max_tokens ?? 128, began = seconds();
  if (prompt.length + most > +LENGTH) return refuse(response, 400, `at most ${LENGTH} tokens`);
  if (!prompt.length || prompt.some(id => !(id >= 0 && id < vocabulary))) return refuse(response, 400, "no such token");
  let whole = "", tokens = 0, first;
  const choice = (text, reason) => chat ? { index: 0, delta: { content: text }, finish_reason: reason }
                                        : { index: 0, text, finish_reason: reason };
  const chunk = body => asked.stream && response.write(`data: ${JSON.stringify({
    object: chat ? "chat.completion.chunk" : "text_completion", model: name,
    ...CLOCK && { simulated_time: seconds() }, ...body })}\n\n`);
  const request = { left: [...prompt], over: false, take(token) {
    const ends = model.isEogToken(token) && !asked.ignore_eos, piece = ends ? "" : model.detokenize([token]);
    if (!tokens++) first = seconds();
    whole += piece, request.left = [token];
    request.over = ends || tokens === most || response.destroyed;
    chunk({ choices: [choice(piece, ends ? "stop" : tokens === most ? "length" : null)] });
    if (request.over) end(ends ? "stop" : "length");
  } };
  const end = reason => {
    const usage = { prompt_tokens: prompt.length, completion_tokens: tokens, total_tokens: prompt.length + tokens };
    counts.prompt_tokens += prompt.length, counts.prompt_seconds += first - began;
    counts.tokens_predicted += tokens, counts.tokens_predicted_seconds += seconds() - first;
    const message = { index: 0, message: { role: "assistant", content: whole }, finish_reason: reason };
    if (asked.stream) chunk({ choices: [], usage }), response.end("data: [DONE]\n\n");
    else send(response, 200, { model: name, usage, choices: [chat ? message : choice(whole, reason)] });
  };
  if (asked.stream)
    response.writeHead(200, { "content-type": "text/event-stream", ...CLOCK && { "x-simulated-arrival": began } });
  if (chat) chunk({ choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }] });
  waiting.push(request);
  run();
}

function metrics() {
  const one = (name, kind, value) => `# HELP llamacpp:${name} ${name}\n# TYPE llamacpp:${name} ${kind}\n` +
                                     `llamacpp:${name} ${value}\n`;
  return Object.entries(counts).map(([name, value]) => one(`${name}_total`, "counter", value)).join("") +
    one("n_busy_slots_per_decode", "gauge", busy / Math.max(counts.n_decode, 1)) +
    one("requests_processing", "gauge", slots.filter(slot => slot.request).length) +
    one("requests_deferred", "gauge", waiting.length);
}

const pages = {
  "/v1/models": response => send(response, 200, { object: "list", data: [
    { id: name, object: "model", max_model_len: +LENGTH, meta: { n_params: model._model.getTotalParameters(),
                                                                 size: model._model.getModelSize() } }] }),
  "/props": response => send(response, 200, { buffers }),
  "/health": response => send(response, 200, { status: "ok" }),
  "/metrics": response => response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(metrics()),
  ...CLOCK && { "/clock": response => send(response, 200, { simulated_time: seconds(), virtual: true }) },
};

createServer({ keepAliveTimeout: 600000 }, (request, response) => {
  const path = request.url.split("?")[0], [, chat] = path.match(/^\/v1\/(chat\/)?completions$/) ?? [0, null];
  let body = "";
  request.on("data", text => body += text).on("end", () => {
    if (pages[path]) return pages[path](response);
    if (chat === null) return refuse(response, 404, "File Not Found");
    try { ask(response, !!chat, JSON.parse(body)); } catch (error) { refuse(response, 500, String(error)); }
  });
}).listen(0, "127.0.0.1", function () { console.log(`http://127.0.0.1:${this.address().port}/`); });
process.on("SIGTERM", () => process.exit(0));
