/* One file: style, script, worker and engine inside. */
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url).pathname, here = new URL(".", import.meta.url).pathname;
const common = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", absWorkingDir: here, logLevel: "warning",
                 define: { VERSION: JSON.stringify(process.env.VERSION ?? "") } };
const text = async options => (await build({ ...common, ...options })).outputFiles[0].text;

const worker = await text({ entryPoints: ["src/worker.ts"] });
const script = await text({ entryPoints: ["src/main.ts"], plugins: [{ name: "worker", setup(b) {
  b.onResolve({ filter: /^virtual:worker$/ }, () => ({ path: "worker", namespace: "worker" }));
  b.onLoad({ filter: /.*/, namespace: "worker" }, () => ({ contents: worker, loader: "text" }));
} }] });
const style = await text({ entryPoints: ["src/style.css"] });
const plot = readFileSync(here + "node_modules/uplot/dist/uPlot.min.css", "utf8");
const wasm = gzipSync(readFileSync(root + "build/wasm/chalkline.wasm"), { level: 9 }).toString("base64");

let page = readFileSync(here + "index.html", "utf8");
const put = (mark, what) => { page = page.split(mark).join(what); };
put("/*STYLE*/", plot + style);
put("/*SCRIPT*/", script.replace(/<\/script/g, "<\\/script"));
put("/*WASM*/", wasm);

/* The engine is packed already and stands in base64, which packing undoes: store it near its size. */
mkdirSync(root + "build/page", { recursive: true });
writeFileSync(root + "build/page/chalkline.html", page);
const packed = gzipSync(page, { level: 9 });
writeFileSync(root + "build/page/chalkline.html.gz", packed);
console.log(`page: ${(page.length / 1000).toFixed(0)} kB, ${(packed.length / 1000).toFixed(0)} kB compressed (engine ${(wasm.length * 0.75 / 1000).toFixed(0)} kB)`);
