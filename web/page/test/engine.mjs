/* The page's modules and engine under Node: the same source, the same WebAssembly. */
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { virtual } from "../tables.mjs";

export const here = new URL(".", import.meta.url).pathname;
export const root = new URL("../../../", import.meta.url).pathname;

/* What a module of the page exports. */
export async function source(file) {
  const made = await build({ entryPoints: [`${here}../src/${file}`], bundle: true, format: "esm", write: false, logLevel: "warning", plugins: [virtual(root)] });
  return import("data:text/javascript;base64," + Buffer.from(made.outputFiles[0].text).toString("base64"));
}

export async function engine() {
  const { Engine } = await source("engine.ts");
  return Engine.load(new WebAssembly.Module(readFileSync(root + "build/wasm/chalkline.wasm")));
}

/* xorshift: the same scenarios every time. */
export function random(seed) {
  let s = seed >>> 0 || 1;
  return () => { s ^= s << 13; s >>>= 0; s ^= s >>> 17; s ^= s << 5; s >>>= 0; return s / 4294967296; };
}
