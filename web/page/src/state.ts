/* What the page shows, as words of the command line; the address holds them. */
import type { Tables } from "./engine";

export interface Scenario {
  model: string;
  on: string;
  options: Map<string, string>;         // "batch" -> "512"; "" for a switch
  sets: Map<string, string>;            // "hbm_bandwidth" -> "8TB/s"
}

export interface State {
  chapter: string;
  first: Scenario;
  second: Scenario | null;              // to compare with
  files: Map<string, string>;           // a dropped configuration travels in the address
  prices: string;                       // of the prices' chapter: of which model
  sheet: string;                        // and on which sheet: "prices", built in, or a dropped file
  trace: string;                        // of the memory's chapter: what is played
}

/* Rows that have an option of their own on the command line. */
const OPTION_OF: Record<string, string> = {
  chips: "gpus", batch: "batch", context: "context", prompt_tokens: "isl", output_tokens: "osl",
};
/* Options of a training run: serving verbs do not take them, but every verb takes --set. */
const ROW_OF: Record<string, string> = {
  tokens: "training_tokens", "global-batch": "training_sequences", sequences: "training_sequences",
  "seq-length": "sequence_length", length: "sequence_length",
};

function putOption(to: Scenario, name: string, value: string): void {
  if (ROW_OF[name]) to.sets.set(ROW_OF[name], value);
  else to.options.set(name, value);
}

export function scenario(model: string, on: string): Scenario {
  return { model, on, options: new Map(), sets: new Map() };
}

export function copy(of: Scenario): Scenario {
  return { model: of.model, on: of.on, options: new Map(of.options), sets: new Map(of.sets) };
}

export function given(of: Scenario, row: string): string | undefined {
  const option = OPTION_OF[row];
  return option ? of.options.get(option) : of.sets.get(row);
}

/* Give an input a value, or with null take it back. */
export function give(of: Scenario, row: string, value: string | null): void {
  const option = OPTION_OF[row];
  const [map, key] = option ? [of.options, option] : [of.sets, row];
  if (value === null) map.delete(key);
  else map.set(key, value);
}

/* The options of both as `eval`, `why`, `curve` take them; some verbs name the model first. */
export function words(of: Scenario): string[] {
  const list: string[] = [];
  if (of.model) list.push("--model", of.model);
  if (of.on) list.push("--on", of.on);
  for (const [name, value] of of.options) list.push("--" + name, ...(value === "" ? [] : [value]));
  for (const [name, value] of of.sets) list.push("--set", `${name}=${value}`);
  return list;
}

/* As a person would type it. */
export function command(verb: string, of: Scenario): string {
  const quoted = words(of).map(word => /^[\w./=:%+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);
  return ["chalkline", verb, ...quoted].join(" ");
}

/* ---- words to a scenario: a report's question --------------------------------------------- */

/* What of a question is a scenario: the model, the machine, and the options that `eval` takes. */
export function fromWords(list: string[], tables: Tables): Scenario {
  const made = scenario("", ""), verb = list[0] in tables.verbs ? list[0] : "";
  const named = /^\[?MODEL/.test(tables.verbs[verb || "brief"]);
  for (let i = verb ? 1 : 0; i < list.length; i++) {
    const word = list[i];
    if (!word.startsWith("--")) {
      if (named) made.model = made.model || word;
      continue;
    }
    const at = word.indexOf("="), name = word.slice(2, at < 0 ? undefined : at), option = tables.options[name];
    const value = at >= 0 ? word.slice(at + 1) : option?.value ? list[++i] ?? "" : "";
    if (name === "model") made.model = value;
    else if (name === "on") made.on = value;
    else if (name === "set") made.sets.set(value.slice(0, value.indexOf("=")), value.slice(value.indexOf("=") + 1));
    else if (option?.verbs.split(" ").includes("eval")) putOption(made, name, value);
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

function put(to: URLSearchParams, prefix: string, of: Scenario): void {
  if (of.model) to.set(prefix + "model", of.model);
  if (of.on) to.set(prefix + "on", of.on);
  for (const [name, value] of of.options) to.set(prefix + name, value);
  for (const [name, value] of of.sets) to.append(prefix + "set", `${name}=${value}`);
}

function take(from: URLSearchParams, prefix: string): Scenario {
  const made = scenario("", "");
  for (const [key, value] of from) {
    if (!key.startsWith(prefix) || (!prefix && key.includes("."))) continue;
    const name = key.slice(prefix.length), at = value.indexOf("=");
    if (name === "model") made.model = value;
    else if (name === "on") made.on = value;
    else if (name === "set" && at > 0) made.sets.set(value.slice(0, at), value.slice(at + 1));
    else if (!RESERVED.has(name)) putOption(made, name, value);
  }
  return made;
}

const RESERVED = new Set(["prices", "sheet", "trace", "set"]);

/* A configuration is some kilobytes; what is longer does not travel. */
const LONGEST = 60000;
export const travels = (state: State): boolean => [...state.files.values()].every(text => text.length < LONGEST);

/* "#batch?model=deepseek-v3&on=gb200-nvl72&batch=512&set=hbm_bandwidth%3D8TB/s" */
export async function toHash(state: State): Promise<string> {
  const to = new URLSearchParams();
  put(to, "", state.first);
  if (state.second) put(to, "b.", state.second);
  if (state.prices) to.set("prices", state.prices);
  if (state.sheet && state.sheet !== "prices") to.set("sheet", state.sheet);
  if (state.trace) to.set("trace", state.trace);
  for (const [name, text] of state.files)
    if (text.length < LONGEST) to.set("file." + name, await squeeze(text, "deflate"));
  return `#${state.chapter}?${to.toString().replace(/%2F/g, "/").replace(/%3A/g, ":")}`;
}

export async function fromHash(hash: string): Promise<State | null> {
  const [chapter, query] = hash.replace(/^#/, "").split(/\?(.*)/s);
  if (!query) return null;
  const from = new URLSearchParams(query);
  const files = new Map<string, string>();
  for (const [key, value] of from)
    if (key.startsWith("file.")) files.set(key.slice(5), await squeeze(value, "inflate"));
  const second = [...from.keys()].some(key => key.startsWith("b.")) ? take(from, "b.") : null;
  return { chapter: chapter || "batch", first: take(from, ""), second, files,
           prices: from.get("prices") ?? "", sheet: from.get("sheet") ?? "prices", trace: from.get("trace") ?? "" };
}
