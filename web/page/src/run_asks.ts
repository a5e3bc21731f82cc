/* What the card's screen asks of the worker. */
import type { App } from "./app";
import type { Question } from "./client";
import { panelQuestions } from "./model_asks";
import { evenLog } from "./picture_type";
import { scenario, words } from "./state";

export const RUN_CONTEXTS = evenLog(256, 262144, 41).map(Math.round);
export const SERVED = ["predicted_tpot", "speed_per_user", "predicted_ttft", "tpot_band_low", "tpot_band_high", "output_tokens"];
export const cardOf = (app: App): Question => ({ kind: "board", words: words(app.state.card), quantities: SERVED.map(q => "server: " + q), sweeps: { prompt_tokens: RUN_CONTEXTS } });

export interface Known { name: string; title: string }
export const models = (app: App): Known[] => app.list("models");

/* Weights of every model of the catalog on this card; then the speed of those whose size is near. */
export const weightsOf = (app: App): Question => ({ kind: "asks", list: models(app).map(m => ["eval", "weights_stored", "hbm_share", ...words({ ...app.state.card, model: m.name })]) });
export function nearest(app: App, replies: any[]): Known[] {
  const list = models(app).map((m, i) => ({ ...m, share: replies[i]?.answer?.hbm_share?.value as number })).filter(m => m.share > 0);
  const seen = new Set<number>(), other = list.filter(m => { const size = Number(m.share.toPrecision(3)), fresh = !seen.has(size); seen.add(size); return fresh; });
  const fit = other.filter(m => m.share <= 1).sort((a, b) => b.share - a.share).slice(0, 4), over = other.filter(m => m.share > 1).sort((a, b) => a.share - b.share).slice(0, 1);
  const own = list.find(m => m.name === app.state.card.model);
  return [...new Map([...fit.reverse(), ...(own ? [own] : []), ...over].map(m => [m.name, m])).values()].sort((a, b) => (a as any).share - (b as any).share);
}
export const speedsOf = (app: App, list: Known[]): Question => ({ kind: "asks", list: list.map(m => ["step", m.name, ...words({ ...scenario("", app.state.card.on), options: app.state.card.options, given: app.state.card.given })]) });

export function runQuestions(app: App): [string, Question][] {
  const list: [string, Question][] = [["card", cardOf(app)]];
  const all = weightsOf(app), replies = app.answer<any[]>("weights", all);
  list.push(["weights", all]);
  if (replies.data && replies.fresh) list.push(["speeds", speedsOf(app, nearest(app, replies.data))]);
  return [...list, ...panelQuestions(app)];
}
