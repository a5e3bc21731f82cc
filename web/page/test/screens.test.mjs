/* What every screen keeps, at four widths: nothing meets, is cut, is too small or moves by itself. */
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { file, go, open, SCREENS, settled } from "./browser.mjs";
import { browser, on, page, text } from "./reader.mjs";

/* Texts that meet or are cut, axes without two labels, boxes that leave the screen. */
const faults = () => page.evaluate(() => {
  const out = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !e.closest(".chapters, .spoken, .list, pre, .skip"));
    out.push(`scrolls sideways: ${wide.slice(-2).map(e => e.outerHTML.slice(0, 80))}`);
  }
  for (const svg of document.querySelectorAll("main svg")) {
    const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    if (!box.width) continue;
    texts.forEach(([a, r], i) => {
      if (r.left < box.left - 6 || r.right > box.right + 6 || r.left < 0 || r.right > width + 1 || r.top < box.top - 2 || r.bottom > box.bottom + 2) out.push(`cut: ${a} in ${svg.querySelector("title")?.textContent}`);
      for (const [b, q] of texts.slice(i + 1)) {
        const x = Math.min(r.right, q.right) - Math.max(r.left, q.left), y = Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top);
        if (x > 1 && y > 4) out.push(`“${a}” on “${b}” by ${x.toFixed(0)} x ${y.toFixed(0)} in ${svg.querySelector("title")?.textContent}`);
      }
    });
    for (const frame of svg.querySelectorAll("g.frame")) {
      const bottom = Number(frame.dataset.box.split(" ")[1]) + Number(frame.dataset.box.split(" ")[3]), soft = [...frame.querySelectorAll("text.soft")];
      const x = soft.filter(t => Number(t.getAttribute("y")) > bottom && /[\d]/.test(t.textContent)), y = soft.filter(t => t.getAttribute("text-anchor") === "end" && Number(t.getAttribute("y")) <= bottom + 6);
      if (x.length < 2) out.push(`x of “${svg.querySelector("title")?.textContent}” has ${x.length} labels`);
      if (frame.dataset.y && y.length < 2) out.push(`y of “${svg.querySelector("title")?.textContent}” has ${y.length} labels`);
    }
  }
  for (const e of document.querySelectorAll("main .num, main button, main h1, main h2, main a")) {
    const r = e.getBoundingClientRect();
    if (r.width && (r.left < -1 || r.right > width + 1) && !e.closest(".chapters, .list, .equations")) out.push(`cut: ${e.textContent.slice(0, 40)} ${r.left.toFixed(0)}..${r.right.toFixed(0)}`);
  }
  return out;
});

for (const width of [1440, 1024, 390, 320])
  on(`${width} px: no text meets another or is cut, every axis has two labels, nothing scrolls sideways`, null, async () => {
    const found = [];
    for (const hash of [...SCREENS, "#lecture/batch?mine", ...(width === 1440 || width === 390 ? ["#lecture/experts?mine&model=llama-3.3-70b&on=h100-sxm", "#lecture/batch?batch=3200", "#lecture/batch?context=300000", "#run?context=120000"] : [])]) {
      await go(page, hash);
      for (const fault of await faults()) found.push(`${hash}: ${fault}`);
    }
    assert.deepEqual(found, []);
  }, width);

on("on a phone the input and its result are in one view, wherever one scrolls", "#lecture/batch", async () => {
  for (const hash of ["#lecture/batch", "#model", "#run"]) {
    await go(page, hash);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    const bar = await page.locator(".bar").boundingBox(), slider = page.locator(".bar input"), before = await text(".bar .bar-result");
    assert.ok(bar.y + bar.height <= 845 && bar.height >= 44, `${hash}: ${JSON.stringify(bar)}`);
    assert.ok((await slider.boundingBox()).height >= 44);
    await slider.focus();
    await page.keyboard.press("PageUp");
    await page.keyboard.press("PageUp");
    await page.waitForFunction(was => document.querySelector(".bar .bar-result").textContent !== was, before, { timeout: 30000 });
  }
}, 390);

on("targets are 24 px at least", "#lecture/batch", async () => {
  const small = [];
  for (const hash of ["#model", "#run", "#lecture/batch"]) {
    await go(page, hash);
    small.push(...await page.evaluate(() => [...document.querySelectorAll("button, select, main .num, input, header a, nav a")].filter(e => e.getClientRects().length && !e.closest(".spoken, .skip")).flatMap(e => {
      const own = (e.type === "checkbox" ? e.closest("label") : e).getBoundingClientRect(), after = e.classList.contains("num") ? own.height + 9 : own.height;
      return after < 23.5 && !e.closest("p.prose") ? [`${e.textContent || e.getAttribute("aria-label")}: ${own.width.toFixed(0)} x ${own.height.toFixed(0)}`] : [];
    })));
  }
  assert.deepEqual(small, []);
});

on("a number's name is in words, and every interactive thing can be reached and seen", "#lecture/batch", async () => {
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => { const e = document.activeElement, s = getComputedStyle(e); return { name: e.getAttribute("aria-label") ?? e.textContent, ring: s.outlineStyle !== "none" || s.backgroundColor !== "rgba(0, 0, 0, 0)", tag: e.tagName + "." + e.className }; });
    assert.ok(at.ring, `no ring on ${JSON.stringify(at)}`);
    assert.ok(at.tag.startsWith("BODY") || at.name.trim(), at.tag);
    seen.add(at.tag.split(" ")[0]);
  }
  assert.ok([...seen].some(t => t.startsWith("SPAN.num")) && [...seen].some(t => t.startsWith("FIGURE")), [...seen].join(" "));
});

test("while the page builds up it hardly moves", { timeout: 120000 }, async () => {
  for (const [width, hash] of [[1440, "#lecture/batch"], [1440, "#model"], [390, "#model"], [390, "#lecture/batch"]]) {
    const own = await browser.newContext({ viewport: { width, height: 844 }, offline: true }), fresh = await open(own, hash);
    await settled(fresh);
    const shift = await fresh.evaluate(() => new Promise(done => {
      let sum = 0;
      const observer = new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) sum += e.value; });
      observer.observe({ type: "layout-shift", buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => { for (const e of observer.takeRecords()) sum += e.value; done(sum); }));
    }));
    await own.close();
    assert.ok(shift < 0.1, `${hash} at ${width}: ${shift}`);
  }
});

test("the file is at most 820 kB packed", () => {
  const size = readFileSync(file + ".gz").length;
  assert.ok(size <= 820000, `${size} bytes`);
  assert.ok(gzipSync(readFileSync(file), { level: 9 }).length <= 820000);
});
