/* What the page has of data/ in its own script: the chapters, the decks, and of the statements what
 * opens their addresses. The engine has the rest. */
import { readFileSync } from "node:fs";

/* Comma-separated values with quotes; lines that begin with # are remarks. */
export function readCsv(path) {
  const text = readFileSync(path, "utf8").split("\n").filter(line => !line.startsWith("#")).join("\n");
  const rows = [[]];
  let cell = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) { if (c !== '"') cell += c; else if (text[i + 1] === '"') { cell += c; i++; } else quoted = false; }
    else if (c === '"') quoted = true;
    else if (c === "," || c === "\n") { rows[rows.length - 1].push(cell); cell = ""; if (c === "\n") rows.push([]); }
    else cell += c;
  }
  const [head, ...list] = rows.filter(row => row.length > 1);
  return list.map(row => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ""])));
}

/* "0:17:20" or "0:17", hours first, as seconds. */
export const second = time => time.split(":").reduce((sum, part, i) => sum + Number(part) * 60 ** (2 - i), 0);

function lecture(data) {
  const chapters = Object.fromEntries(readCsv(`${data}/chapters.csv`).map(r => [r.id, { number: Number(r.chapter), title: r.title, time: r.time, question: r.question }]));
  const decks = {};
  for (const r of readCsv(`${data}/decks.csv`)) (decks[r.deck] ??= {})[r.row] = r.value;
  /* A statement that follows from others belongs to the second at which the one before it was said, and has it below 0. */
  let said = 0;
  const statements = readCsv(`${data}/lecture.csv`).map(s => [s.id, { statement: s.statement, second: s.time ? said = second(s.time) : -said, deck: s.deck }]);
  return { CHAPTER_OF: chapters, DECKS: decks, STATEMENTS: Object.fromEntries(statements) };
}

/* The module that is made at build time. */
export const virtual = root => ({ name: "virtual", setup(build) {
  build.onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: "virtual" }));
  build.onLoad({ filter: /^virtual:lecture$/, namespace: "virtual" }, () => ({ loader: "js",
    contents: Object.entries(lecture(root + "data")).map(([name, of]) => `export const ${name} = ${JSON.stringify(of)};`).join("\n") }));
} });
