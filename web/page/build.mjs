/* One file: style, script and engine inside. */
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { faces } from "./fonts.mjs";
import { virtual } from "./tables.mjs";

const root = new URL("../../", import.meta.url).pathname, here = new URL(".", import.meta.url).pathname;
const common = { bundle: true, minify: !process.env.PLAIN, write: false, format: "iife", target: "es2022", absWorkingDir: here, logLevel: "warning",
                 define: { VERSION: JSON.stringify(process.env.VERSION ?? "") } };
const text = async options => (await build({ ...common, ...options })).outputFiles[0].text;

const script = await text({ entryPoints: ["src/main.tsx"], plugins: [virtual(root)], jsx: "automatic", jsxImportSource: "preact" });
/* The first screens, by the engine itself; the page's modules get of a browser what they ask for. */
async function firsts() {
  const browser = { documentElement: { dataset: {} }, getElementById: () => null };
  Object.assign(globalThis, { window: globalThis, document: browser, innerWidth: 1440, location: { hash: "" }, requestAnimationFrame: () => 1, VERSION: process.env.VERSION ?? "" });
  const wait = globalThis.setTimeout, options = { ...common, minify: false, format: "esm", platform: "node", plugins: [virtual(root)], jsx: "automatic", jsxImportSource: "preact" };
  globalThis.setTimeout = () => 0;
  const load = async entry => import("data:text/javascript;base64," + Buffer.from(await text({ ...options, entryPoints: [entry] })).toString("base64"));
  const { firsts, Engine } = await load("src/first.tsx");
  const made = await firsts(Engine.load(new WebAssembly.Module(readFileSync(root + "build/wasm/chalkline.wasm"))));
  globalThis.setTimeout = wait;
  return Object.entries(made).map(([at, html]) => `<template data-at="${at}">${html}</template>`).join("\n");
}
const show = await text({ entryPoints: ["src/show.ts"] });
const style = await text({ entryPoints: ["src/style.css"] });
/* As small as deflate can be, where zopfli is there; any browser unpacks it. */
function pack(path) {
  const small = spawnSync("zopfli", ["-c", "--i20", path], { maxBuffer: 1 << 26 });
  return small.status === 0 ? small.stdout : gzipSync(readFileSync(path), { level: 9 });
}
const wasm = pack(root + "build/wasm/chalkline.wasm").toString("base64");

let page = readFileSync(here + "index.html", "utf8");
const put = (mark, what) => { page = page.split(mark).join(what); };
put("/*STYLE*/", await faces() + style);
put("<!--FIRST-->", await firsts());
put("/*SHOW*/", show);
put("/*SCRIPT*/", script.replace(/<\/script/g, "<\\/script"));
put("/*WASM*/", wasm);

/* A text of ASCII alone is read in a tenth of the time: scripts have escapes already, the rest gets them here. */
const hex = (c, i = 0) => c.codePointAt(i).toString(16);
page = page.replace(/<style>.*?<\/style>/s, style => style.replace(/[^\0-\x7f]/gu, c => `\\${hex(c)} `)).replace(/[^\0-\x7f]/gu, c => `&#x${hex(c)};`);

/* The engine is packed already and stands in base64, which packing undoes: store it near its size. */
mkdirSync(root + "build/page", { recursive: true });
writeFileSync(root + "build/page/chalkline.html", page);
const packed = pack(root + "build/page/chalkline.html");
writeFileSync(root + "build/page/chalkline.html.gz", packed);
console.log(`page: ${(page.length / 1000).toFixed(0)} kB, ${(packed.length / 1000).toFixed(0)} kB compressed (engine ${(wasm.length * 0.75 / 1000).toFixed(0)} kB)`);
