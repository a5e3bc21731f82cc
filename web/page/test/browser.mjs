/* The built page in Debian's Chromium: opened from its file, offline, with every complaint kept. Waits
 * are for states, never for times. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

export const root = new URL("../../../", import.meta.url).pathname;
export const file = process.env.CHALKLINE_PAGE ?? root + "build/page/chalkline.html";
export const address = "file://" + file;
export const shots = root + "build/page/shots/";
export const CHAPTERS = ["batch", "experts", "pipeline", "training", "prices", "memory", "reversible"];
export const SCREENS = ["#model", "#run", ...CHAPTERS.map(c => `#lecture/${c}`)];
const program = process.env.CHALKLINE ?? root + "chalkline";

mkdirSync(shots, { recursive: true });

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--font-render-hinting=none"] });
}

/* Opened and ready; page.errors has what went wrong since, page.requests what was fetched. */
export async function open(context, hash = "#lecture/batch") {
  const page = await context.newPage();
  page.errors = [];
  page.requests = [];
  page.on("console", message => { if (message.type() === "error") page.errors.push(message.text()); });
  page.on("pageerror", error => page.errors.push(String(error)));
  page.on("request", request => { if (!request.url().startsWith(address) && !/^(blob|data):/.test(request.url())) page.requests.push(request.url()); });
  await page.goto(address + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60000 });
  return page;
}

/* Until everything that the state asks has been answered and drawn, and the address says it. */
export async function settled(page, timeout = 120000) {
  await page.waitForFunction(() => document.documentElement.dataset.settled, null, { timeout });
}

/* Do something and wait until it has been answered: the mark of the state before is taken away first. */
export async function after(page, act) {
  await settled(page);
  await page.evaluate(() => { delete document.documentElement.dataset.settled; });
  await act();
  await page.evaluate(() => window.chalkline.draw());
  await settled(page);
}

/* Another address in the page that is open, from its beginnings. */
export async function go(page, hash) {
  await after(page, () => page.evaluate(to => window.chalkline.go(to), hash));
}

/* What the command line says: { out, err, code }. */
export const run = (words, cwd = root) => new Promise(resolve => {
  execFile(program, words, { cwd, maxBuffer: 1 << 26 }, (error, out, err) => resolve({ out, err, code: error?.code ?? 0 }));
});

export async function answer(words, cwd) {
  const said = await run([...words, "--json"], cwd);
  if (said.code) throw new Error(`${words.join(" ")}: ${said.err}`);
  return JSON.parse(said.out);
}
