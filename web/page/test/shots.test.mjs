/* Every entry and chapter as it looks, at three widths in both themes, beside the pictures that are
 * kept in shots/ (a third of the size). SHOTS=write keeps those of now; look at each before. */
import assert from "node:assert";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { after as atEnd, before, test } from "node:test";
import { PNG } from "pngjs";
import { go, launch, open, SCREENS, settled, shots } from "./browser.mjs";
import { here } from "./engine.mjs";

const KEPT = here + "shots/", WRITE = process.env.SHOTS === "write", SCALE = 0.34;
const FAR = 60, SHARE = 0.03;           // a pixel differs from this distance on; so many of them may
const FACE = KEPT + "face.txt";
let browser;
before(async () => { browser = await launch(); mkdirSync(KEPT, { recursive: true }); });
atEnd(() => browser?.close());

/* The system's sans and how its browser lays out formulas are not the page's to choose: with another sans, or another major
 * version of the browser, the pictures cannot be compared. */
const face = async page => `${await page.evaluate(() => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `100px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText("Every underlined number 0123456789").width.toFixed(1);
})} Chromium ${browser.version().split(".")[0]}`;

function apart(a, b) {
  if (a.width !== b.width || a.height !== b.height) return 1;
  let far = 0;
  for (let i = 0; i < a.data.length; i += 4)
    if (Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]) > FAR) far++;
  return far / (a.data.length / 4);
}

for (const theme of ["light", "dark"]) test(`looks as it did: ${theme}`, { timeout: 240000 }, async t => {
  const differ = [];
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: SCALE, offline: true, colorScheme: theme, reducedMotion: "reduce" });
  const page = await open(context, "#lecture/batch");
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
  const own = await face(page);
  if (WRITE) writeFileSync(FACE, own);
  const comparable = existsSync(FACE) && readFileSync(FACE, "utf8") === own;
  if (!comparable) t.diagnostic(`another sans face or browser than that of the kept pictures (${own}): only drawn, not compared`);
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: width < 500 ? 1500 : 1000 });
    for (const hash of SCREENS) {
      await go(page, hash);
      await page.mouse.move(0, 0);
      const name = `${hash.replace("#", "").replace("/", "-")}-${width}-${theme}.png`, bytes = await page.screenshot({ animations: "disabled", caret: "hide" });
      writeFileSync(shots + name, bytes);
      const now = PNG.sync.read(bytes), inks = new Set();
      for (let i = 0; i < now.data.length; i += 4) inks.add(now.data[i] << 16 | now.data[i + 1] << 8 | now.data[i + 2]);
      assert.ok(inks.size > 50, `${name}: hardly anything is on it`);
      if (WRITE) { writeFileSync(KEPT + name, PNG.sync.write(now, { colorType: 2, deflateLevel: 9 })); continue; }
      if (!comparable) continue;
      const share = apart(now, PNG.sync.read(readFileSync(KEPT + name)));
      if (share > SHARE) differ.push(`${name}: ${(100 * share).toFixed(1)} % of it`);
    }
  }
  await context.close();
  assert.deepEqual(differ, [], "look at build/page/shots, then SHOTS=write");
});

test("the kept pictures take at most 3 MB", () => {
  const list = readdirSync(KEPT).filter(name => name.endsWith(".png")), size = list.reduce((sum, name) => sum + statSync(KEPT + name).size, 0);
  assert.equal(list.length, SCREENS.length * 6);
  assert.ok(size <= 3e6, `${size} bytes`);
});
