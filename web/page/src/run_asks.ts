/* What the card's screen asks of the worker: `can`, as the command line does. */
import type { App } from "./app";
import type { Question } from "./client";
import type { Reply } from "./engine";
import { panelQuestions } from "./model_asks";
import { evenLog } from "./picture_type";
import { type Scenario, words } from "./state";

export interface Amount { value: number; unit: string; low?: number; high?: number }
export interface CanType { precision: string; fits: boolean; weights_stored: Amount; memory_needed: Amount; memory: Amount; decode_speed: Amount; prefill_speed: Amount; ttft: Amount; context_most: Amount }
export interface Can extends CanType { model: string; machine: string; command: string; caveat: string; prompt_tokens: number; changes: string[]; choices: CanType[]; assumed: string[] }

const without = (of: Scenario, name: string): Scenario => ({ ...of, options: Object.fromEntries(Object.entries(of.options).filter(o => o[0] !== name)) });
const can = (of: Scenario): string[] => ["can", ...words(of)];
export const canCommand = (app: App): [string, string[]] => ["can", words(app.state.card).filter(w => w !== "--model")];

/* Every file type; that which was chosen; how the speed falls with the context. */
export const typesOf = (app: App): Question => ({ kind: "ask", words: can(without(app.state.card, "precision")) });
export const chosenOf = (app: App): Question | null => app.state.card.options.precision ? { kind: "ask", words: can(app.state.card) } : null;
const POINTS = 13;
export const contextsOf = (c: Can): number[] => evenLog(512, Math.max(1024, c.context_most.value), POINTS).map(Math.round);
export const speedsOf = (app: App, c: Can): Question => ({ kind: "asks", list: contextsOf(c).map(context => can({ ...app.state.card, options: { ...app.state.card.options, precision: c.precision, context: String(context) } })) });

/* The smallest machines with more memory than is needed, of which the first that an engine fills so far is named. */
const TRIED = 4, GIB = 2 ** 30;
export const largerThan = (app: App, c: Can): { title: string; name: string }[] => app.list("hardware")
  .filter((m: any) => m.scale_up_chips === "1" || /Max|Ultra|M\d/.test(m.title)).map((m: any) => ({ title: m.title as string, name: m.name as string, gib: Number.parseFloat(m.hbm_capacity) }))
  .filter(m => m.gib * GIB > c.memory_needed.value).sort((p, q) => p.gib - q.gib).slice(0, TRIED);
export const largerOf = (app: App, c: Can): Question => ({ kind: "asks", list: largerThan(app, c).map(m => can({ ...app.state.card, on: m.name, options: { ...app.state.card.options, precision: c.precision } })) });

export const TYPE_USUAL = "Q4_K_M";
const isFile = (of: Scenario): boolean => of.model.endsWith(".gguf");

/* The type of the numbers on the screen: the reader's, or the best of the last answer of this model and card. */
export const bestOf = (app: App, of: Scenario): string =>
  of.options.precision ?? (isFile(of) ? "" : app.best?.model === of.model && app.best.on === of.on ? app.best.type : TYPE_USUAL);
export const cardScenario = (of: Scenario, type: string): Scenario => ({ ...of, options: { engine: "llamacpp", users: "1", ...of.options, ...(type ? { precision: type } : {}) } });

export function runQuestions(app: App): [string, Question][] {
  const list: [string, Question][] = [["can", typesOf(app)]], one = chosenOf(app);
  if (one) list.push(["one", one]);
  const said = one ? app.answer<Reply>("one", one) : app.answer<Reply>("can", typesOf(app)), c = said.data?.answer as Can | undefined;
  if (c && said.fresh && c.context_most.value >= 1024) list.push(["speeds", speedsOf(app, c)]);
  if (c && said.fresh && !c.fits) list.push(["larger", largerOf(app, c)]);
  return [...list, ...panelQuestions(app)];
}
