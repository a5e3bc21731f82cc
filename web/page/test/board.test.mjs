/* The board's promises to the page, without a browser. */
import assert from "node:assert";
import { test } from "node:test";
import { engine } from "./engine.mjs";

const WORDS = ["--model", "deepseek-v3", "--on", "gb200-nvl72"];

test("a refused board leaves the one before as it was", async () => {
  const page = await engine(), count = page.board(0, WORDS, ["bound_step"]).bound.inputs.length;
  const before = page.values(0, "bound", 1)[0], at = page.inputs(0, "bound", count).byteOffset;
  const refused = page.board(0, [...WORDS, "--batch", "nonsense"], ["bound_step"]);
  assert.ok(refused.error.what);
  assert.equal(refused.bound, undefined);
  page.run(0, "bound");
  assert.equal(page.inputs(0, "bound", count).byteOffset, at);
  assert.equal(page.values(0, "bound", 1)[0], before);
});

test("a condition under a sum's sign has no branch taken, and is no output", async () => {
  const page = await engine(), doc = page.board(0, WORDS, ["gemm_last"]);
  assert.ok(doc.bound.rows[0].formula.includes("<mtext>else</mtext>"));
  assert.deepEqual(doc.bound.outputs.filter(output => output.decides), []);
});

test("too many words are refused, not cut off", async () => {
  const page = await engine();
  assert.equal(page.board(0, WORDS, Array(600).fill("bound_step")).error.what, "more than 512 words");
});
