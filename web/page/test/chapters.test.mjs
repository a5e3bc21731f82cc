/* The chapters without a browser: each equation multiplies to the engine's own number, every number
 * is the command line's to the bit, and no picture or sentence has a number that is none. */
import assert from "node:assert";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { engine, root, source } from "./engine.mjs";

const { CHAPTERS, lectureScenario, Numbers, START, step, words } = await (async () => {
  const [chapters, numbers, state] = await Promise.all([source("chapters.ts"), source("numbers.ts"), source("state.ts")]);
  return { ...chapters, ...numbers, ...state };
})();
const page = await engine();
const held = { end: (_, need) => need };
const PAIRS = [["deepseek-v3", "gb200-nvl72"], ["llama-3.3-70b", "h100-sxm"], ["qwen3-30b-a3b", "h200-sxm"], ["mixtral-8x7b", "b200-sxm"]];

const at = (chapter, change = s => s) => change({ ...START, entry: "lecture", chapter });
const mine = (chapter, [model, on]) => at(chapter, s => ({ ...s, mine: true, A: { ...s.A, model, on } }));
function numbersOf(state, chapter) {
  const numbers = new Numbers(page, 0), refusal = numbers.update(lectureScenario(state), chapter.rows, false);
  assert.equal(refusal, null, `${chapter.id}: ${refusal?.says}`);
  return numbers;
}
const cli = list => new Promise((done, fail) => execFile(process.env.CHALKLINE ?? root + "chalkline", list, { maxBuffer: 1 << 26 }, (error, out, err) => error ? fail(new Error(err)) : done(JSON.parse(out))));

/* Everything of a picture that is a number or is read. */
function sound(picture, where) {
  const walk = (value, path) => {
    if (typeof value === "number") assert.ok(Number.isFinite(value), `${where} ${path} = ${value}`);
    else if (typeof value === "string") assert.ok(!/NaN|Infinity|undefined|—/.test(value), `${where} ${path}: ${value}`);
    else if (value && typeof value === "object") for (const [key, kid] of Object.entries(value)) walk(kid, `${path}.${key}`);
  };
  walk(picture, "");
  for (const axis of [picture.x, ...(picture.bars ? [] : [picture.y])]) {
    assert.ok(axis.name.length > 1, `${where}: an axis without a name`);
    if (axis.from !== undefined) assert.ok(axis.from < axis.to && (!axis.log || axis.from > 0), `${where}: ${JSON.stringify(axis)}`);
  }
  assert.ok(picture.title.length > 10 && picture.table.rows.length > 0, where);
  assert.ok(picture.lines.length + (picture.bars?.length ?? 0) > 0, where);
  for (const line of picture.lines) assert.ok(line.points.length > 1, `${where}: ${line.name} has ${line.points.length} points`);
}

for (const chapter of CHAPTERS) {
  test(`${chapter.id}: each term is its factors, and the whole its terms`, () => {
    const n = numbersOf(at(chapter.id), chapter);
    const value = f => typeof f === "number" ? f : typeof f === "string" ? n.value(f) : f.sum.reduce((sum, row) => sum + n.value(row), 0);
    for (const equation of chapter.equations(n)) {
      const terms = equation.items.filter(item => typeof item !== "string"), of = [];
      for (const term of terms) {
        const product = term.over.reduce((all, f) => all * value(f), 1) / term.under.reduce((all, f) => all * value(f), 1);
        assert.ok(Number.isFinite(product), `${term.of}`);
        if (n.has(term.of)) assert.ok(Math.abs(product - n.value(term.of)) <= 1e-9 * Math.abs(product), `${term.of} = ${n.value(term.of)}, its factors make ${product}`);
        of.push(product);
        for (const row of [...term.over, ...term.under].flatMap(f => typeof f === "string" ? [f] : f.sum ?? [])) assert.ok(n.symbol(row), `${row} has no symbol`);
      }
      if (!equation.of) continue;
      const signs = equation.items.filter(item => typeof item === "string" && /^[,+−]$/.test(item));
      const whole = equation.items.includes("max") ? Math.max(of[0], of[1] + of[2]) : of.reduce((sum, v, i) => i && signs[i - 1] === "−" ? sum - v : sum + v, 0);
      assert.ok(Math.abs(whole - n.value(equation.of)) <= 1e-9 * Math.abs(whole), `${equation.of} = ${n.value(equation.of)}, its terms make ${whole}`);
    }
  });

  test(`${chapter.id}: its numbers are those of eval, to the bit`, async () => {
    for (const state of [at(chapter.id), ...(chapter.differ.length ? [mine(chapter.id, PAIRS[0]), mine(chapter.id, PAIRS[1])] : [])]) {
      const n = numbersOf(state, chapter), list = chapter.rows.filter(row => n.live.has(row));
      assert.ok(list.length > 0.7 * chapter.rows.length, `${chapter.id}: ${chapter.rows.filter(row => !n.live.has(row))}`);
      const said = await cli(["eval", ...list, ...words(lectureScenario(state)), "--json"]);
      for (const row of list) assert.equal(Number.isFinite(n.value(row)) ? n.value(row) : null, said[row].value, `${row} with ${words(lectureScenario(state)).join(" ")}`);
    }
  });

  test(`${chapter.id}: pictures and verdicts are sound wherever the hand is`, () => {
    const verdicts = new Set(), input = numbersOf(at(chapter.id), chapter).input(chapter.hand.row);
    const reach = [0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.85, 1].map(t => input.log ? input.low * (input.high / input.low) ** t : input.low + t * (input.high - input.low));
    const states = [at(chapter.id), ...(chapter.differ.length ? PAIRS.map(pair => mine(chapter.id, pair)) : [])];
    for (const from of states) for (const v of from.mine ? [reach[3], reach[6]] : reach) {
      const state = step(from, { do: "set", side: "deck", row: chapter.hand.row, text: String(input.whole ? Math.max(1, Math.round(v)) : v) });
      const n = numbersOf(state, chapter), where = `${chapter.id} ${from.mine ? from.A.model : "lecture"} at ${v}`;
      for (const picture of chapter.pictures(n, held)) sound(picture, where);
      const { bold, rest } = chapter.verdict(n), prose = chapter.meets(n).text.map(t => typeof t === "string" ? t : n.write(t.row)).join("");
      for (const text of [bold, rest]) assert.ok(text.length > 2 && !/NaN|Infinity|undefined|—/.test(text), `${where}: ${text}`);
      assert.ok(!/NaN|undefined/.test(prose), `${where}: ${prose}`);
      if (!from.mine) verdicts.add(bold.replace(/[\d.,]+/g, "#"));
    }
    assert.ok(verdicts.size >= 2, `${chapter.id}: the hand never turns the verdict: ${[...verdicts]}`);
  });
}

test("whatever a reader drives a number to, there is a picture of it", async () => {
  const { drawable } = await source("drawing.ts");
  let drawn = 0;
  for (const chapter of CHAPTERS) for (const [row, text] of [[chapter.hand.row, "1e9"], [chapter.hand.row, "5364"], ["coupling_slope", "1e9"], ["coupling_slope", "1e30"], ["params_total", "1e30"], ["params_active", "1e30"], ["kv_per_token", "1e12"], ["hbm_bandwidth", "1e-9"], ["context", "1e12"], ["chips", "1e9"]]) {
    const from = step(at(chapter.id), { do: "set", side: "deck", row, text }), states = row === chapter.hand.row ? [from, step(from, { do: "set", side: "deck", row: "coupling_slope", text: "1e9" })] : [from];
    for (const state of states) {
      const n = new Numbers(page, 0);
      if (n.update(lectureScenario(state), chapter.rows, false)) continue;
      for (const picture of chapter.pictures(n, held)) { page.picture(drawable(picture), 600); drawn++; }
    }
  }
  assert.ok(drawn > 30, `${drawn} pictures`);
});

test("a drag has the numbers that the same value has when it is asked", () => {
  const state = at("batch"), moved = new Numbers(page, 1), chapter = CHAPTERS[0];
  moved.update(lectureScenario(state), chapter.rows, false);
  for (const batch of [64, 1234, 20000]) {
    const next = lectureScenario(step(state, { do: "set", side: "deck", row: "batch", text: String(batch) }));
    assert.equal(moved.update(next, chapter.rows, true), null);
    const asked = new Numbers(page, 0);
    asked.update(next, chapter.rows, false);
    for (const row of chapter.rows) if (asked.live.has(row)) assert.equal(moved.value(row), asked.value(row), `${row} at ${batch}`);
  }
});

test("a value out of range is refused at once, by field, and the numbers stay", () => {
  const n = new Numbers(page, 0), of = lectureScenario(at("batch")), rows = CHAPTERS[0].rows;
  n.update(of, rows, false);
  const before = n.value("bound_step");
  for (const [row, text] of [["hbm_bandwidth", "-1"], ["hbm_bandwidth", "1e300TB/s"], ["params_total", "nonsense"], ["chips", "0"], ["context", "-5"], ["no_such_row", "1"]]) {
    const began = performance.now(), wrong = step(at("batch"), { do: "set", side: "deck", row, text });
    for (const moving of [true, false]) {
      const said = n.update(lectureScenario(wrong), rows, moving);
      assert.ok(said?.says, `${row} = ${text} was taken`);
      if (row !== "chips") assert.equal(said.field, row === "context" ? "context" : row);
    }
    assert.ok(performance.now() - began < 2000);
    assert.equal(n.value("bound_step"), before);
  }
});
