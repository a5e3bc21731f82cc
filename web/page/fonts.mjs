/* Subsets of STIX Two (SIL Open Font License 1.1), as faces inside the style: letters, digits, the
 * marks that the page writes, and of the mathematical face the italic letters of symbols.
 * Without hints for coarse screens, which are a third of the mathematical face. */
import { readFileSync } from "node:fs";
import subset from "subset-font";

const from = new URL("node_modules/@fontsource/", import.meta.url).pathname;
const range = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)).join("");
const TEXT = range(0x20, 0x7e) + "’“”–—×÷·≤≥≈−… \u2009µ°²³⁴";
const MATH = range(0x30, 0x39) + "+-=<>()[],./*∑√∞×−·≤≥\u2062ℎ" + range(0x1d434, 0x1d467) + "𝛼𝛽𝛾𝛿𝜆𝜇𝜌𝜎𝜏𝜔";

const FACES = [
  ["STIX Two Text", 400, "stix-two-text/files/stix-two-text-latin-400-normal.woff2", TEXT],
  ["STIX Two Math", 400, "stix-two-math/files/stix-two-math-latin-400-normal.woff2", MATH],
];

export async function faces() {
  const made = [];
  for (const [family, weight, file, text] of FACES) {
    const font = await subset(readFileSync(from + file), text, { targetFormat: "woff2", noLayoutClosure: true, noHinting: true });
    made.push(`@font-face{font-family:"${family}";font-weight:${weight};font-style:normal;src:url(data:font/woff2;base64,${Buffer.from(font).toString("base64")}) format("woff2")}`);
  }
  return made.join("\n");
}
