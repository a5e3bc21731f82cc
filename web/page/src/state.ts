/* What the page shows, as one immutable value; every change is an action, and `step` is pure. The
 * words of a scenario are the command line's, and the address holds what differs from the default. */
import type { Tables } from "./engine";

export interface Scenario {
  readonly model: string;
  readonly on: string;
  readonly options: Readonly<Record<string, string>>;       // "precision" -> "fp8"; "" for a switch
  readonly given: Readonly<Record<string, string>>;         // "hbm_bandwidth" -> "8TB/s"
}

export const ENTRIES = ["model", "run", "lecture"] as const;
export type Entry = typeof ENTRIES[number];
export const CHAPTER_IDS = ["batch", "experts", "pipeline", "training", "prices", "memory", "reversible"] as const;
export type ChapterId = typeof CHAPTER_IDS[number];
/* Which scenario an action is about: the first screen's two, the card's, the chapter's deck. */
export type Side = "A" | "B" | "card" | "deck";
export type Panel = "inputs" | "traffic" | "quiz" | "find" | "measured";

export interface State {
  readonly entry: Entry;
  readonly chapter: ChapterId;
  readonly mine: boolean;                       // a chapter with the reader's model, or the lecture's numbers
  readonly A: Scenario;
  readonly B: Scenario | null;
  readonly card: Scenario;
  readonly deck: Scenario;                      // what differs from the chapter's deck; no names
  readonly statement: string;                   // whose deck it is; "": the chapter's
  readonly statementDeck: string;               // "crossover; batch=6000", as the statement has it
  readonly speed: number;                       // token/s that a user wants
  readonly why: { readonly of: string; readonly side: Side } | null;
  readonly panel: Panel | null;
  readonly words: string;                       // of the panel: a trace, a search
  readonly files: Readonly<Record<string, string>>;
}

export interface Refusal { readonly field: string; readonly says: string }

const none: Readonly<Record<string, string>> = {};
export const scenario = (model: string, on: string, options = none, given = none): Scenario => ({ model, on, options, given });

export const START: State = {
  entry: "model", chapter: "batch", mine: false,
  A: scenario("deepseek-v3", "gb200-nvl72", { isl: "1024", osl: "1024" }), B: null,
  card: scenario("qwen3-30b-a3b", "rtx-4090", { context: "8192" }),
  deck: scenario("", ""), statement: "", statementDeck: "", speed: 40, why: null, panel: null, words: "", files: {},
};

/* ---- actions -------------------------------------------------------------------------------- */

export type Action =
  | { do: "set"; side: Side; row: string; text: string }
  | { do: "unset"; side: Side; row: string }
  | { do: "option"; side: Side; name: string; text: string }
  | { do: "name"; side: Side; of: "model" | "on"; text: string }
  | { do: "own"; on: string }                             // the card that the browser names
  | { do: "beside"; on: string | null }
  | { do: "speed"; value: number }
  | { do: "go"; entry: Entry; chapter?: ChapterId }
  | { do: "mine"; mine: boolean }
  | { do: "statement"; id: string; deck: string }
  | { do: "why"; of: string; side: Side } | { do: "close" }
  | { do: "panel"; panel: Panel | null; words?: string }
  | { do: "drop"; name: string; text: string; side: Side }
  | { do: "calibrated"; of: Scenario; name: string; text: string; words: string }
  | { do: "is"; state: State };

/* Rows that have an option of their own on the command line. */
const OPTION_OF: Readonly<Record<string, string>> = {
  chips: "gpus", batch: "batch", context: "context", prompt_tokens: "isl", output_tokens: "osl",
};
/* Options of a training run: serving verbs do not take them, but every verb takes --set. */
const ROW_OF: Readonly<Record<string, string>> = {
  tokens: "training_tokens", "global-batch": "training_sequences", "seq-length": "sequence_length",
};

const without = (of: Readonly<Record<string, string>>, name: string): Record<string, string> => {
  const { [name]: _, ...rest } = of;
  return rest;
};

export const sideOf = (state: State, side: Side): Scenario => side === "B" ? state.B ?? state.A : state[side];

export function given(of: Scenario, row: string): string | undefined {
  const option = OPTION_OF[row];
  return option ? of.options[option] : of.given[row];
}

/* Give an input a value, or with null take it back. */
export function give(of: Scenario, row: string, text: string | null): Scenario {
  const option = OPTION_OF[row], part = option ? "options" : "given", key = option ?? row;
  return { ...of, [part]: text === null ? without(of[part], key) : { ...of[part], [key]: text } };
}

function giveOption(of: Scenario, name: string, text: string): Scenario {
  if (ROW_OF[name]) return give(of, ROW_OF[name], text);
  return { ...of, options: { ...of.options, [name]: text } };
}

const put = (state: State, side: Side, change: (of: Scenario) => Scenario): State =>
  side === "B" && !state.B ? state : { ...state, [side]: change(sideOf(state, side)) };

export function step(state: State, action: Action): State {
  switch (action.do) {
    case "set": return put(state, action.side, of => give(of, action.row, action.text));
    case "unset": return put(state, action.side, of => give(of, action.row, null));
    case "option": return put(state, action.side, of =>
      action.text ? giveOption(of, action.name, action.text) : { ...of, options: without(of.options, action.name) });
    case "name": return put(state, action.side, of => of[action.of] === action.text ? of : { ...of, [action.of]: action.text });
    case "own": return { ...state, card: { ...state.card, on: action.on } };
    case "beside": return { ...state, B: action.on === null ? null : { ...state.A, on: action.on } };
    case "speed": return { ...state, speed: action.value };
    case "go": return { ...state, entry: action.entry, chapter: action.chapter ?? state.chapter, why: null, panel: null,
                        ...(action.chapter && action.chapter !== state.chapter ? { deck: START.deck, statement: "", statementDeck: "" } : {}) };
    case "mine": return { ...state, mine: action.mine, deck: START.deck, statement: "", statementDeck: "", why: null };
    case "statement": return { ...state, statement: action.id, statementDeck: action.deck, deck: START.deck, mine: false, why: null };
    case "why": return { ...state, why: { of: action.of, side: action.side } };
    case "close": return state.why ? { ...state, why: null } : { ...state, panel: null };
    case "panel": return { ...state, panel: action.panel, words: action.words ?? (action.panel === state.panel ? state.words : "") };
    case "drop": return { ...put(state, action.side, of => ({ ...of, model: "./" + action.name })),
                          files: action.text ? { [action.name]: action.text } : {} };
    case "calibrated": return { ...state, entry: "model", A: action.of, B: null, why: null, panel: "measured", words: action.words, files: { [action.name]: action.text } };
    case "is": return action.state;
  }
}

/* ---- undo ----------------------------------------------------------------------------------- */

export interface History { readonly now: State; readonly past: readonly State[]; readonly future: readonly State[]; readonly last: string; readonly at: number }

const JOIN = 400, MOST = 200;
const UNDONE = new Set(["set", "unset", "option", "name", "beside", "speed", "statement", "drop", "mine", "calibrated"]);

export const begin = (now: State): History => ({ now, past: [], future: [], last: "", at: 0 });

/* Changes of one thing within 400 ms are one step; to go elsewhere is no change. */
export function record(history: History, action: Action, at: number): History {
  const now = step(history.now, action);
  if (now === history.now) return history;
  if (!UNDONE.has(action.do)) return { ...history, now, last: "" };
  const what = [action.do, "side" in action ? action.side : "", "row" in action ? action.row : "", "of" in action ? action.of : "", "name" in action ? action.name : ""].join(" ");
  if (what === history.last && at - history.at < JOIN) return { ...history, now, future: [], at };
  return { now, past: [...history.past, history.now].slice(-MOST), future: [], last: what, at };
}

export function undo(history: History): History {
  const now = history.past[history.past.length - 1];
  return now ? { now, past: history.past.slice(0, -1), future: [history.now, ...history.future], last: "", at: 0 } : history;
}
export function redo(history: History): History {
  const [now, ...future] = history.future;
  return now ? { now, past: [...history.past, history.now], future, last: "", at: 0 } : history;
}

/* ---- the command line's words --------------------------------------------------------------- */

/* As `eval`, `why`, `curve` take them; some verbs name the model first. */
export function words(of: Scenario): string[] {
  const list: string[] = [];
  if (of.model) list.push("--model", of.model);
  if (of.on) list.push("--on", of.on);
  for (const [name, value] of Object.entries(of.options)) list.push("--" + name, ...(value === "" ? [] : [value]));
  for (const [row, value] of Object.entries(of.given)) list.push("--set", `${row}=${value}`);
  return list;
}

/* As a person would type it. */
export function command(verb: string, list: readonly string[]): string {
  return ["chalkline", verb, ...list.map(word => /^[\w./=:%+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`)].join(" ");
}

/* What of a question is a scenario: the model, the machine, and the options that `eval` takes. */
export function fromWords(list: readonly string[], tables: Tables): Scenario {
  const verb = list[0] in tables.verbs ? list[0] : "", named = /^\[?MODEL/.test(tables.verbs[verb || "brief"]);
  let made = scenario("", "");
  for (let i = verb ? 1 : 0; i < list.length; i++) {
    const word = list[i];
    if (!word.startsWith("--")) {
      if (named && !made.model) made = { ...made, model: word };
      continue;
    }
    const at = word.indexOf("="), name = word.slice(2, at < 0 ? undefined : at), option = tables.options[name];
    const value = at >= 0 ? word.slice(at + 1) : option?.value ? list[++i] ?? "" : "";
    if (name === "model" || name === "on") made = { ...made, [name]: value };
    else if (name === "set") made = give(made, value.slice(0, value.indexOf("=")), value.slice(value.indexOf("=") + 1));
    else if (option?.verbs.split(" ").includes("eval")) made = giveOption(made, name, value);
  }
  return made;
}

/* ---- the address ---------------------------------------------------------------------------- */

async function squeeze(text: string, how: "deflate" | "inflate"): Promise<string> {
  const packed = how === "deflate";
  const bytes = packed ? new TextEncoder().encode(text)
    : Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(
    packed ? new CompressionStream("deflate-raw") : new DecompressionStream("deflate-raw"));
  const out = new Uint8Array(await new Response(stream).arrayBuffer());
  if (!packed) return new TextDecoder().decode(out);
  let binary = "";
  for (const byte of out) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/* Of a scenario what is not as at the start: its names, options and given rows; "-": taken back. */
function putScenario(to: URLSearchParams, prefix: string, of: Scenario, from: Scenario): void {
  if (of.model !== from.model) to.set(prefix + "model", of.model);
  if (of.on !== from.on) to.set(prefix + "on", of.on);
  for (const name of new Set([...Object.keys(of.options), ...Object.keys(from.options)]))
    if (of.options[name] !== from.options[name]) to.set(prefix + name, of.options[name] ?? "-");
  for (const [row, value] of Object.entries(of.given)) to.append(prefix + "set", `${row}=${value}`);
}

/* A configuration is some kilobytes; what is longer does not travel. */
const LONGEST = 60000;
export const travels = (state: State): boolean => Object.values(state.files).every(text => text.length < LONGEST);

/* "#model?on=h100-sxm&gpus=8&speed=40", "#lecture/batch?batch=512", "#lecture/batch.crossover". */
export async function toHash(state: State): Promise<string> {
  const to = new URLSearchParams();
  if (state.entry === "run") putScenario(to, "", state.card, { ...START.card, on: "" });
  else if (state.entry === "model" || state.mine) putScenario(to, "", state.A, START.A);
  if (state.entry === "model") {
    if (state.B) {
      to.set("beside", state.B.on);
      putScenario(to, "b.", { ...state.B, on: "" }, { ...state.A, on: "" });
    }
    if (state.speed !== START.speed) to.set("speed", String(state.speed));
  }
  if (state.entry === "lecture") {
    if (state.mine) to.set("mine", "");
    putScenario(to, state.mine ? "d." : "", state.deck, START.deck);
  }
  if (state.panel && state.panel !== "find" && state.panel !== "measured") to.set("panel", state.panel);
  if (state.panel === "traffic" && state.words) to.set("trace", state.words);
  for (const [name, text] of Object.entries(state.files))
    if (text.length < LONGEST) to.set("file." + name, await squeeze(text, "deflate"));
  const place = state.entry === "lecture" ? `lecture/${state.statement || state.chapter}` : state.entry, query = to.toString().replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/=(?=&|$)/g, "");
  return `#${place}${query && "?" + query}`;
}

export interface Known { option(name: string): boolean; row(name: string): boolean; deck(statement: string): string | null }

/* What an address names, on top of a scenario; keys that are neither option nor row are dropped. */
function takeScenario(query: URLSearchParams, prefix: string, from: Scenario, known: Known): Scenario {
  let made = from;
  for (const [key, value] of query) {
    if (!key.startsWith(prefix) || (!prefix && key.includes("."))) continue;
    const name = key.slice(prefix.length), at = value.indexOf("=");
    if (name === "model" || name === "on") made = { ...made, [name]: value };
    else if (name === "set") { if (at > 0) made = give(made, value.slice(0, at), value.slice(at + 1)); }
    else if (value === "-") made = { ...made, options: without(made.options, name) };
    else if (ROW_OF[name] || known.option(name)) made = giveOption(made, name, value);
    else if (known.row(name)) made = give(made, name, value);
  }
  return made;
}

const OWN = ["model", "on", "beside", "speed", "statement", "mine", "panel", "trace"];

/* The whole address or a refusal with the guilty field; nothing of it is shown before. */
export async function open(hash: string, known: Known): Promise<State | Refusal> {
  const [place, text] = decodeURI(hash.replace(/^#/, "").split("?")[0]).concat("?", hash.includes("?") ? hash.slice(hash.indexOf("?") + 1) : "").split(/\?(.*)/s);
  const query = new URLSearchParams(text), files: Record<string, string> = {};
  const [first, second] = place.split("/"), old = CHAPTER_IDS.find(id => id === first);     // "#batch?..." of an older link
  const entry = old ? "lecture" : first === "" ? "model" : ENTRIES.find(e => e === first);
  if (!entry) return { field: "address", says: `There is no screen “${first}”: it is one of ${ENTRIES.join(", ")}.` };
  const told = second?.includes(".") ? second : query.get("statement") ?? "", statementDeck = told ? known.deck(told) : "";
  if (statementDeck === null) return { field: "statement", says: `There is no statement “${told}”.` };
  const chapter = old ?? (told ? CHAPTER_IDS.find(id => told.startsWith(id + ".")) : second ? CHAPTER_IDS.find(id => id === second) : "batch");
  if (!chapter) return { field: "address", says: `There is no chapter “${second}”: it is one of ${CHAPTER_IDS.join(", ")}.` };
  for (const [key, value] of query) {
    if (!key.startsWith("file.")) continue;
    try { files[key.slice(5)] = await squeeze(value, "inflate"); }
    catch { return { field: "file", says: `The file ${key.slice(5)} in this address is cut off or damaged; drop it on the page again.` }; }
  }
  const plain = new URLSearchParams([...query].filter(([key]) => !OWN.includes(key) || key === "model" || key === "on"));
  const named = query.has("model") || query.has("on"), fresh = old && named ? { ...START.A, options: {} } : START.A;
  const mine = entry === "lecture" && (query.has("mine") || named);
  const A = entry === "model" || mine ? takeScenario(plain, "", fresh, known) : START.A;
  const card = entry === "run" ? takeScenario(plain, "", START.card, known) : START.card;
  const deck = entry !== "lecture" ? START.deck : mine ? takeScenario(plain, "d.", START.deck, known) : takeScenario(plain, "", START.deck, known);
  const beside = query.get("beside"), speed = query.has("speed") ? Number(query.get("speed")!.replace(/ ?tok.*$/, "")) : START.speed;
  if (!(speed > 0 && speed < 1e6)) return { field: "speed", says: `The wanted speed “${query.get("speed")}” is no number of tokens a second above 0.` };
  const B = beside ? takeScenario(plain, "b.", { ...A, on: beside }, known) : null;
  const panel = (["inputs", "traffic", "quiz"] as const).find(p => p === query.get("panel")) ?? (query.has("trace") ? "traffic" : null);
  return { ...START, entry, chapter, mine, A, B, card, deck, statement: told, statementDeck, speed, panel, words: query.get("trace") ?? "", files };
}
