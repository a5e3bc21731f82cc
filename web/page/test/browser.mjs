/* The built page in Debian's Chromium: opened from its file, offline, with every complaint kept. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

export const root = new URL("../../../", import.meta.url).pathname;
export const file = process.env.CHALKLINE_PAGE ?? root + "build/page/chalkline.html";
export const address = "file://" + file;
export const shots = root + "build/page/shots/";
export const CHAPTERS = ["batch", "experts", "pipeline", "training", "prices", "memory", "reversible"];
export const START = "model=deepseek-v3&on=gb200-nvl72";
const program = process.env.CHALKLINE ?? root + "chalkline";

mkdirSync(shots, { recursive: true });

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync"] });
}

/* Opened and ready; page.errors has what went wrong since, page.requests what was fetched. */
export async function open(context, hash = `#batch?${START}`) {
  const page = await context.newPage();
  page.errors = [];
  page.requests = [];
  page.on("console", message => { if (message.type() === "error") page.errors.push(message.text()); });
  page.on("pageerror", error => page.errors.push(String(error)));
  page.on("request", request => page.requests.push(request.url()));
  await page.goto(address + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 30000 });
  return page;
}

/* Until the worker has answered what is asked now. */
export async function settled(page, timeout = 60000) {
  await page.waitForFunction(() => document.documentElement.dataset.settled, null, { timeout });
}

/* Do something and wait until the worker has answered it. */
export async function after(page, act) {
  await settled(page);
  await page.evaluate(() => { delete document.documentElement.dataset.settled; });
  await act();
  await settled(page);
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

/* The words of a link, as the command line takes them. */
export function wordsOf(hash) {
  const words = [];
  for (const [key, value] of new URLSearchParams(hash.replace(/^#\w*\?/, ""))) {
    if (key.includes(".") || key === "prices" || key === "trace") continue;
    words.push("--" + key, ...(value === "" ? [] : [value]));
  }
  return words;
}
