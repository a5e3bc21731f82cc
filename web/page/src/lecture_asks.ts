/* What a chapter asks of the worker: its statements with the reader's model, and what runs. */
import type { App } from "./app";
import { mineOf } from "./chapters";
import type { Question } from "./client";
import { panelQuestions } from "./model_asks";
import { words } from "./state";

export interface Factor { row: string; value: number | null; label: string }
export interface Told { value: number | null; figure?: number | null; figure_row?: string; closed_form?: number | null; factors?: Factor[]; predicate?: { text: string; left: number | null; right: number | null; holds: boolean | null }; applies?: boolean; lacks?: string; holds: boolean | null; conclusion: string; flips: { input: string; at: number | null; unit: string; now?: number } | null; reason?: string; unit?: string }
export interface Statement extends Told { id: string; chapter: number; time: string; statement: string; kind: string; equation: string; asks: string; says: number | null; agrees: boolean | null; reason: string; deck?: string; here?: Told }

export const toldOf = (app: App): Question => {
  const of = mineOf(app.state.A);
  return { kind: "ask", words: ["lecture", String(app.chapterNumber), ...(of.model && of.on ? words(of) : [])] };
};
export const RUN: Question = { kind: "ask", words: ["lecture", "7", "--run"] };

export function lectureQuestions(app: App): [string, Question][] {
  return [["told", toldOf(app)], ...(app.state.chapter === "reversible" ? [["net", RUN] as [string, Question]] : []), ...panelQuestions(app)];
}
