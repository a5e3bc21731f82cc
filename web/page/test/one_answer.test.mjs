/* One number, one answer: every number of the board that can be clicked is clicked, and its `why`
 * must explain the number that was there: the same bits behind both, the same digits written. */
import assert from "node:assert";
import { after as atEnd, before, test } from "node:test";
import { answer, CHAPTERS, launch, open, settled, START, wordsOf } from "./browser.mjs";

const SCENARIOS = [
  ...CHAPTERS.map(chapter => `#${chapter}?${START}`),
  `#batch?${START}&batch=512&context=8192`,
  "#batch?model=llama-3.3-70b&on=h100-sxm",
  "#batch?model=llama-3.1-8b&on=rtx-4090&precision=fp8&gpus=1",
  "#memory?model=qwen3-30b-a3b&on=mi300x&context=32768",
  "#pipeline?model=gpt-oss-120b&on=b200-sxm&users=100",
  "#experts?model=mixtral-8x7b&on=h200-sxm&set=chip_price%3D5USD/h",
];

let browser, context;
before(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true });
});
atEnd(() => browser?.close());

/* All that can be clicked: its quantity, its text, the number behind it. The prediction is the
 * worker's, all else the board's. An AT or a LEAST inside a formula is no row, and leads to the
 * line's; its own number is that of eval. */
const clickable = page => page.evaluate(() => {
  const { live, server } = window.chalkline, board = live.first, out = [];
  const all = document.querySelectorAll("#board [data-why], #board mn[data-of]");
  all.forEach((element, at) => {
    if (element.closest("figure") || !element.getClientRects().length) return;
    const index = element.getAttribute("data-of"), served = element.classList.contains("served");
    const predicted = served ? server.doc.server.outputs.findIndex(o => o.of === element.dataset.why) : -1;
    const of = index === null ? element.dataset.why : board.output(Number(index)).of;
    const row = /^\w+(\[.*\])?$/.test(of) ? of : element.closest(".line").dataset.name;
    out.push({ at, of, row, text: (element.querySelector("b") ?? element.firstChild ?? element).textContent,
      value: served ? server.values.server[predicted] : index === null ? board.value(of) : board.number(Number(index)) });
  });
  return out;
});

async function clicked(page, number) {
  await page.evaluate(at => document.querySelectorAll("#board [data-why], #board mn[data-of]")[at]
    .dispatchEvent(new MouseEvent("click", { bubbles: true })), number.at);
  await page.waitForSelector("#why:visible");
  const said = await page.textContent("#why h2 .is", { timeout: 2000 });
  await page.keyboard.press("Escape");
  return said;
}

/* What a number may look like: in its unit with two to four digits, as a share, as that of a million. */
const written = (page, value, unit) => page.evaluate(([v, u]) => {
  const { engine } = window.chalkline, texts = [];
  for (const digits of [2, 3, 4]) texts.push(engine.write(v, u, digits), `${engine.write(1e6 * v, u, digits)} a million`);
  texts.push(`${Number((100 * v).toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 12 })} %`);
  return { texts, panel: engine.write(v, u, 4) };
}, [value, unit]);

for (const hash of SCENARIOS) test(`every number says why it is that number: ${hash}`, { timeout: 240000 }, async t => {
  const page = await open(context, hash);
  try {
    await settled(page);
    const words = wordsOf(await page.evaluate(() => location.hash)), numbers = await clickable(page), said = new Map();
    assert.ok(numbers.length >= 8, `${numbers.length} numbers`);
    for (const number of numbers) {
      const plain = number.of.replace(/\s+/g, " "), where = `${plain} with ${words.join(" ")}`;
      if (!said.has(number.row)) said.set(number.row, await answer(["why", number.row, ...words]));
      const why = said.get(number.row);
      const own = plain === number.row ? why : (await answer(["eval", plain, ...words]))[plain];
      assert.equal(number.value, own.value, `${where}: the number on the board, and that of why`);
      const { texts } = await written(page, own.value, own.unit), { panel } = await written(page, why.value, why.unit);
      assert.ok(texts.includes(number.text.replace(/^= /, "")), `${where}: '${number.text}' is none of ${texts.join(", ")}`);
      assert.equal(await clicked(page, number), panel, `${where}: the panel`);
    }
    t.diagnostic(`${numbers.length} numbers of ${said.size} quantities`);
    assert.deepEqual(page.errors, []);
  } finally { await page.close(); }
});
