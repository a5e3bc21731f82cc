/* State is one value: the reducer is pure, an address is opened whole or refused, undo goes by drags. */
import assert from "node:assert";
import { test } from "node:test";
import { random, source } from "./engine.mjs";

const { START, begin, give, given, open, record, redo, scenario, step, toHash, undo, words, fromWords } = await source("state.ts");
const known = { option: name => ["gpus", "batch", "context", "isl", "osl", "precision", "engine", "lecture"].includes(name),
                row: name => ["hbm_bandwidth", "hold_time", "params_total"].includes(name), deck: id => id === "a.b" ? "x=1" : null };
const freeze = value => { if (value && typeof value === "object") { Object.freeze(value); Object.values(value).forEach(freeze); } return value; };
freeze(START);

test("an action makes a new state and leaves the old one", () => {
  const next = step(START, { do: "set", side: "A", row: "hbm_bandwidth", text: "8TB/s" });
  assert.equal(next.A.given.hbm_bandwidth, "8TB/s");
  assert.equal(START.A.given.hbm_bandwidth, undefined);
  assert.equal(next.card, START.card);
  assert.deepEqual(step(next, { do: "unset", side: "A", row: "hbm_bandwidth" }), START);
});

test("a row with an option of its own is that option", () => {
  const of = give(scenario("m", "h"), "batch", "512");
  assert.equal(of.options.batch, "512");
  assert.equal(given(of, "batch"), "512");
  assert.deepEqual(words(give(of, "hbm_bandwidth", "8TB/s")), ["--model", "m", "--on", "h", "--batch", "512", "--set", "hbm_bandwidth=8TB/s"]);
});

test("another chapter has a deck of its own; the second scenario begins as the first", () => {
  let state = step(START, { do: "go", entry: "lecture", chapter: "batch" });
  state = step(state, { do: "set", side: "deck", row: "batch", text: "9" });
  assert.equal(state.deck.options.batch, "9");
  state = step(state, { do: "go", entry: "lecture", chapter: "memory" });
  assert.deepEqual(state.deck, START.deck);
  state = step(step(START, { do: "set", side: "A", row: "context", text: "5" }), { do: "beside", on: "b200-sxm" });
  assert.deepEqual(state.B, { ...state.A, on: "b200-sxm" });
  assert.equal(step(START, { do: "set", side: "B", row: "batch", text: "1" }), START);
});

test("one drag is one step of undo, and redo brings it back", () => {
  let history = begin(START);
  for (let i = 0; i < 30; i++) history = record(history, { do: "set", side: "deck", row: "batch", text: String(100 + i) }, 1000 + 16 * i);
  history = record(history, { do: "set", side: "deck", row: "context", text: "7" }, 1500);
  history = record(history, { do: "go", entry: "run" }, 1600);
  assert.equal(history.past.length, 2);
  history = undo(undo(history));
  assert.deepEqual(history.now.deck, START.deck);
  assert.equal(undo(history), history);
  history = redo(redo(history));
  assert.equal(history.now.deck.options.batch, "129");
  assert.equal(history.now.deck.options.context, "7");
  for (let i = 0; i < 300; i++) history = record(history, { do: "speed", value: 10 + i }, 1e4 + 1000 * i);
  assert.equal(history.past.length, 200);
});

test("the address gives back the state, whatever was done", async () => {
  const draw = random(7), pick = list => list[Math.floor(draw() * list.length)];
  const actions = [
    () => ({ do: "set", side: pick(["A", "B", "card", "deck"]), row: pick(["batch", "context", "hbm_bandwidth", "hold_time"]), text: String(1 + Math.floor(draw() * 1e4)) }),
    () => ({ do: "unset", side: pick(["A", "B", "card", "deck"]), row: pick(["batch", "context", "prompt_tokens"]) }),
    () => ({ do: "name", side: pick(["A", "card"]), of: pick(["model", "on"]), text: pick(["x-1", "llama-3.3-70b", "h100-sxm"]) }),
    () => ({ do: "beside", on: pick([null, "b200-sxm"]) }),
    () => ({ do: "speed", value: 5 + Math.floor(draw() * 100) }),
    () => ({ do: "go", entry: pick(["model", "run", "lecture"]), chapter: pick(["batch", "memory", "prices"]) }),
    () => ({ do: "mine", mine: draw() < 0.5 }),
    () => ({ do: "option", side: "A", name: "precision", text: pick(["fp8", ""]) }),
    () => ({ do: "drop", side: "A", name: "c.json", text: pick(["", "{\"a\": 1}"]) }),
  ];
  /* What an entry shows: the address has no other part. */
  const seen = s => s.entry === "run" ? [s.entry, s.card] : s.entry === "model" ? [s.entry, s.A, s.B, s.speed, s.files]
    : [s.entry, s.chapter, s.mine, s.mine ? s.A : null, s.deck, s.files];
  for (let run = 0; run < 60; run++) {
    let state = START;
    for (let i = 0; i < 12; i++) state = freeze(step(state, pick(actions)()));
    const hash = await toHash(state), back = await open(hash, known);
    assert.deepEqual(seen(back), seen(state), hash);
    assert.equal(await toHash(back), hash);
  }
});

test("an address that cannot be opened is refused with its field", async () => {
  for (const [hash, field] of [["#nowhere", "address"], ["#lecture/ninth", "address"], ["#model?speed=fast", "speed"], ["#model?speed=-1", "speed"], ["#lecture/batch?statement=no.such", "statement"], ["#lecture/batch.none", "statement"], ["#model?file.c.json=%%%", "file"], ["#model?file.c.json=abcd", "file"]]) {
    const said = await open(hash, known);
    assert.equal(said.field, field, hash);
    assert.ok(said.says.length > 20);
  }
});

test("what is neither option nor row is dropped, and an older address opens the chapter", async () => {
  const state = await open("#model?utm_source=x&fbclid=1&speed=30&hold_time=5min", known);
  assert.deepEqual(state.A.given, { hold_time: "5min" });
  assert.equal(state.speed, 30);
  const old = await open("#memory?model=llama-3.3-70b&on=h100-sxm&context=32768&set=hold_time%3D5min", known);
  assert.deepEqual([old.entry, old.chapter, old.mine, old.A.model, old.A.options.context, old.A.given.hold_time], ["lecture", "memory", true, "llama-3.3-70b", "32768", "5min"]);
  assert.deepEqual(await open("", known), START);
});

test("the words of a report become a scenario", () => {
  const tables = { verbs: { step: "MODEL", simulate: "TRACE" }, options: { on: { value: true, verbs: "step eval" }, batch: { value: true, verbs: "step eval" }, set: { value: true, verbs: "eval" }, json: { value: false, verbs: "step" } } };
  const of = fromWords(["step", "llama", "--on", "h100", "--batch=4", "--set", "chip_price=3USD/h", "--json"], tables);
  assert.deepEqual(of, { model: "llama", on: "h100", options: { batch: "4" }, given: { chip_price: "3USD/h" } });
});

test("numbers with groups are those of the browser", async () => {
  const { commas, decimal } = await source("plain.ts"), next = random(5);
  const cases = [0, 1, 12, 999, 1000, 123456, 1234567, -1234.5, 0.5, 0.001, 1e-7, 1e21, 2e22, NaN, Infinity, -Infinity];
  for (let i = 0; i < 4000; i++) cases.push(Number((10 ** (40 * next() - 12)).toPrecision(1 + Math.floor(6 * next()))));
  for (const v of cases) {
    for (const digits of [3, 6]) assert.equal(commas(v, digits), v.toLocaleString("en", { maximumFractionDigits: digits }));
    assert.equal(decimal(v), v.toLocaleString("en", { useGrouping: false, maximumSignificantDigits: 6 }));
  }
});
