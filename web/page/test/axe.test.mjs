/* Every screen as axe judges it for readers who do not see or point as others do. */
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { go, root, SCREENS } from "./browser.mjs";
import { on, page } from "./reader.mjs";

const axe = readFileSync(root + "web/page/node_modules/axe-core/axe.min.js", "utf8");

for (const [theme, width] of [["light", 1440], ["dark", 1440], ["light", 390], ["dark", 390]])
  on(`axe has nothing to say: ${theme}, ${width} px`, null, async () => {
    await page.evaluate(to => { document.documentElement.dataset.theme = to; }, theme);
    if (!await page.evaluate(() => !!window.axe)) await page.evaluate(axe);
    const found = [];
    for (const hash of [...SCREENS, "#lecture/batch?mine"]) {
      await go(page, hash);
      found.push(...(await page.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })))
        .violations.map(v => `${hash} ${v.id} ${v.nodes.length}: ${v.nodes[0].html.slice(0, 120)} ${v.nodes[0].failureSummary.slice(0, 200)}`));
    }
    await page.evaluate(() => { document.documentElement.dataset.theme = "light"; });
    assert.deepEqual(found, []);
  }, width);
