/* One browser and one page for all tests of a file, as a reader has them. */
import assert from "node:assert";
import { after as atEnd, before, test } from "node:test";
import { go, launch, open, settled } from "./browser.mjs";

export let browser, context, page;
before(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true, colorScheme: "light", acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
  page = await open(context, "#lecture/batch");
});
atEnd(() => browser?.close());

/* A test leaves no complaint behind, fetches nothing, and shows no number that is none. */
export const on = (name, hash, act, width = 1440) => test(name, { timeout: 240000 }, async () => {
  await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
  if (hash) await go(page, hash);
  await settled(page);
  await act();
  assert.deepEqual(page.errors.splice(0), []);
  assert.deepEqual(page.requests, [], "nothing is fetched");
  assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /NaN|Infinity|undefined|\[object/);
});
export const text = selector => page.locator(selector).first().textContent();
export const num = row => page.locator(`main .num[data-row="${row}"]`);
export const state = () => page.evaluate(() => window.chalkline.state);
export const hashNow = () => settled(page).then(() => page.evaluate(() => location.hash));
/* Until the last move has come to rest. */
export const rest = () => settled(page);
