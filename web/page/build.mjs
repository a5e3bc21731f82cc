/* One file: style, script, worker and engine inside. */
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { faces } from "./fonts.mjs";
import { virtual } from "./tables.mjs";

const root = new URL("../../", import.meta.url).pathname, here = new URL(".", import.meta.url).pathname;
const common = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", absWorkingDir: here, logLevel: "warning",
                 define: { VERSION: JSON.stringify(process.env.VERSION ?? "") } };
const text = async options => (await build({ ...common, ...options })).outputFiles[0].text;

const worker = await text({ entryPoints: ["src/worker.ts"] });
const script = await text({ entryPoints: ["src/main.tsx"], plugins: [virtual(root, here, worker)], jsx: "automatic", jsxImportSource: "preact" });
const early = await text({ entryPoints: ["src/early.ts"] });
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
put("/*EARLY*/", early);
put("/*SCRIPT*/", script.replace(/<\/script/g, "<\\/script"));
put("/*WASM*/", wasm);

/* The engine is packed already and stands in base64, which packing undoes: store it near its size. */
mkdirSync(root + "build/page", { recursive: true });
writeFileSync(root + "build/page/chalkline.html", page);
const packed = pack(root + "build/page/chalkline.html");
writeFileSync(root + "build/page/chalkline.html.gz", packed);
console.log(`page: ${(page.length / 1000).toFixed(0)} kB, ${(packed.length / 1000).toFixed(0)} kB compressed (engine ${(wasm.length * 0.75 / 1000).toFixed(0)} kB)`);
