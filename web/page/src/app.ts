/* The page's one store: an action makes a state, a state makes numbers or is refused, and what is
 * shown is always of one state. Longer computations are asked of the worker, with their question. */
import { type ChapterSpec, chapterOf, lectureScenario, toldOf, wholeDomain } from "./chapters";
import { broken, type BoardReply, type Client, type Question } from "./client";
import type { Engine, Reply, Tables } from "./engine";
import { Numbers } from "./numbers";
import { type Action, begin, type History, type Known, open, record, redo, type Refusal, type Scenario, type Side, START, type State, toHash, undo } from "./state";
import { modelQuestions } from "./model_asks";
import { MODEL_ROWS, RUN_ROWS } from "./rows_shown";
import { ownGpu } from "./own_gpu";
import { bestOf, cardScenario, runQuestions } from "./run_asks";
import { lectureQuestions } from "./lecture_asks";
import { STATEMENTS } from "virtual:lecture";

const REST = 90, IDLE = 150;            // ms without a move: the board is opened anew, the worker is asked
const SLOW = 6;                         // ms of script for text and a picture, from which each gets a frame of its own

export interface Answer<T> { data: T | null; fresh: boolean }

export class App {
  history: History = begin(START);
  refused: Refusal | null = null;
  readonly numbers = new Numbers(this.engine, 0);
  readonly lecture = new Numbers(this.engine, 1);       // the lecture's numbers beside the reader's
  readonly known: Known;
  moving = false;                                       // a hand is moving something
  readonly figures = new Set<{ seen(): boolean; draw(): void }>();
  first: { answer: string; detail: string } | null = null;      // of the page as it was built
  dropped = 0;                                          // files that have been dealt with
  begun = false;                                        // the first numbers come before the first picture
  settled = false;                                      // nothing more will come for this state, and the address says it
  render: () => void = () => undefined;
  sent: { words: string[]; text: string } | null = null;      // a report's question and its answer
  private readonly answers = new Map<string, { key: string; data: unknown }>();
  private readonly wanted = new Map<string, string>();
  private frame = 0;
  private resting = 0;
  private idle = 0;
  private writing = 0;
  private written = "";
  private rowFacts: Map<string, { name: string; unit: string; symbol: string; meaning: string }> | null = null;

  constructor(readonly engine: Engine, readonly client: Client) {
    this.known = {
      option: name => (this.tables.options[name]?.verbs ?? "").split(" ").includes("eval") && !["json", "model", "on", "set"].includes(name),
      row: name => this.facts.has(name),
      deck: id => STATEMENTS[id]?.deck ?? null,
    };
  }

  private kept: Tables | null = null;
  get tables(): Tables { return this.kept ??= this.engine.tables(); }         // not before it is needed
  get state(): State { return this.history.now; }
  get chapter(): ChapterSpec { return chapterOf(this.state.chapter); }

  get chapterNumber(): number { return toldOf(this.state.chapter).number; }
  private readonly lists = new Map<string, { name: string; title: string }[]>();
  /* Models, machines (hardware), formats of the catalog. */
  list(kind: "models" | "hardware" | "formats"): { name: string; title: string }[] {
    let rows = this.lists.get(kind);
    if (!rows) this.lists.set(kind, rows = (this.engine.ask(["list", kind]).answer?.[kind] ?? []) as { name: string; title: string }[]);
    return rows;
  }

  /* A name as the catalog writes it; before the catalog has been read, as it was given. */
  titleOf(kind: "models" | "hardware", name: string): string {
    return (this.state.entry === "lecture" && !this.settledOnce ? undefined : this.list(kind).find(row => row.name === name)?.title) ?? (name || "the lecture’s");
  }
  private settledOnce = false;

  /* What the engine knows of every row. */
  get facts(): Map<string, { name: string; unit: string; symbol: string; meaning: string }> {
    return this.rowFacts ??= new Map(((this.engine.ask(["list", "rows"]).answer?.rows ?? []) as any[]).flatMap(row =>
      [row.name, ...(row.aliases ?? [])].map(name => [name, row] as const)));
  }

  /* Which scenario the numbers on the screen are of. */
  shown(state: State = this.state): Scenario {
    return state.entry === "run" ? this.cardWhole(state.card) : state.entry === "model" ? this.whole(state.A) : lectureScenario(state);
  }
  /* One value a scenario, so that an unchanged one is seen to be. */
  private readonly wholes = new WeakMap<Scenario, Scenario>();
  private whole(of: Scenario): Scenario {
    let made = this.wholes.get(of);
    if (!made) this.wholes.set(of, made = wholeDomain(of));
    return made;
  }
  /* The card's scenario in the best file type, once that is known. */
  best: { model: string; on: string; type: string } | null = null;
  private cardMade: { of: Scenario; type: string; made: Scenario } | null = null;
  private cardWhole(of: Scenario): Scenario {
    const type = bestOf(this, of);
    if (this.cardMade?.of !== of || this.cardMade.type !== type) this.cardMade = { of, type, made: cardScenario(of, type) };
    return this.cardMade.made;
  }

  /* Which part of the state a number on the screen changes. */
  get side(): Side { return this.state.entry === "run" ? "card" : this.state.entry === "model" ? "A" : "deck"; }

  /* ---- from a state to its numbers ----------------------------------------------------------- */

  private compute(state: State, moving: boolean): Refusal | null {
    const rows = state.entry === "model" ? MODEL_ROWS : state.entry === "run" ? RUN_ROWS : chapterOf(state.chapter).rows;
    if (state.entry === "model" && state.B) {
      const refusal = this.lecture.update(this.whole(state.B), MODEL_ROWS, false);
      if (refusal) return { ...refusal, field: refusal.field === "on" ? "beside" : refusal.field };
    }
    const refusal = this.numbers.update(this.shown(state), rows, moving);
    if (refusal) return refusal;
    if (state.entry === "lecture" && state.mine) this.lecture.update(lectureScenario({ ...state, mine: false, deck: START.deck }), rows, false);
    return null;
  }

  dispatch(action: Action, moving = false): boolean { return this.take(record(this.history, action, performance.now()), moving); }
  undo(): void { this.take(undo(this.history), false); }
  redo(): void { this.take(redo(this.history), false); }

  /* Shown whole, or refused: then the board that was there stays, with its one guilty field marked. */
  private take(next: History, moving: boolean): boolean {
    const before = this.state;
    if (next === this.history && !this.numbers.stale) { this.refused = null; this.draw(); return true; }
    const refusal = this.compute(next.now, moving);
    if (refusal) {
      this.compute(before, false);
      this.refused = refusal;
      this.draw();
      return false;
    }
    this.moving = moving;
    const turned = next.now.entry !== before.entry || next.now.chapter !== before.chapter;
    this.history = next;
    this.refused = null;
    clearTimeout(this.resting);
    if (this.numbers.stale || moving) this.resting = window.setTimeout(() => this.rest(), REST);
    this.later();
    this.address(turned);
    this.draw();
    return true;
  }

  private rest(): void {
    this.moving = false;
    if (this.compute(this.state, false)) return;
    this.draw();
  }

  refuse(refusal: Refusal): void { this.refused = refusal; this.draw(); }

  private stale = false;                                // the text is of an older state
  private owed = false;                                 // this text's picture is to come
  private slow = false;
  private turn = 0;
  draw(): void { this.stale = true; this.next(); }
  private next(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.show(); this.settle(); });
  }
  /* While a hand moves, the pictures that are seen take turns, one a frame; where even that is slow, the text takes its turn too. */
  private show(): void {
    const began = performance.now(), seen = this.moving ? [...this.figures].filter(figure => figure.seen()) : [];
    const text = this.stale && !(this.slow && this.owed && seen.length);
    if (text) { this.stale = false; this.owed = seen.length > 0; this.render(); }
    if (this.owed && !(this.slow && text)) { this.owed = false; seen[this.turn++ % seen.length]?.draw(); }
    this.slow = this.moving && (this.slow || performance.now() - began > SLOW);
    if (this.stale || this.owed) this.next();
  }

  /* ---- what takes longer ----------------------------------------------------------------------- */

  private later(): void {
    this.settled = false;
    delete document.documentElement.dataset.settled;
    clearTimeout(this.idle);
    this.idle = window.setTimeout(() => { this.idle = 0; this.ask(); }, IDLE);
  }

  private questions(): Map<string, Question> {
    const list = this.state.entry === "model" ? modelQuestions(this) : this.state.entry === "run" ? runQuestions(this) : lectureQuestions(this);
    return new Map(list);
  }

  ask(): void {
    const questions = this.questions();
    for (const lane of this.wanted.keys()) if (!questions.has(lane)) { this.wanted.delete(lane); this.client.forget(lane); }
    for (const [lane, question] of questions) {
      const key = JSON.stringify(question);
      if (this.wanted.get(lane) === key) continue;
      this.wanted.set(lane, key);
      if (this.answers.get(lane)?.key === key) continue;
      void this.client.post(lane, question).then(data => {
        if (!data || this.wanted.get(lane) !== key) return;           // of a state that is no longer there
        this.answers.set(lane, { key, data: broken(data) ?? (question.kind === "ask" ? data.reply : question.kind === "asks" ? data.replies : data) });
        if (lane === "can" && this.state.entry === "run") {
          const { model, on } = this.state.card, type = (data.reply as Reply | undefined)?.answer?.precision as string | undefined;
          if (type) this.best = { model, on, type };
          this.compute(this.state, false);
        }
        this.ask();                                                   // what follows from it
      });
    }
    this.draw();                        // and only what has been drawn is settled
  }

  private settle(): void {
    const waits = !this.begun || this.looking || this.idle !== 0 || this.writing !== 0 || this.frame !== 0 || this.numbers.stale || this.moving || [...this.wanted].some(([lane, key]) => this.answers.get(lane)?.key !== key);
    this.settled = !waits;
    if (this.settled && !this.settledOnce) { this.settledOnce = true; this.draw(); }
    if (this.settled) document.documentElement.dataset.settled = "1";
    else delete document.documentElement.dataset.settled;
  }

  /* The answer to this question, or the last one of its lane while it is awaited. */
  answer<T = Reply>(lane: string, question: Question | null): Answer<T> {
    const kept = this.answers.get(lane);
    if (!question || !kept) return { data: null, fresh: !question };
    return { data: kept.data as T, fresh: kept.key === JSON.stringify(question) };
  }
  /* An answer that came before its state. */
  learn(lane: string, question: Question, data: unknown): void { this.answers.set(lane, { key: JSON.stringify(question), data }); }
  board(lane: string, question: Question | null): Answer<BoardReply> { return this.answer<BoardReply>(lane, question); }

  shelve(name: string, bytes: Uint8Array): void {
    this.engine.shelve(name, bytes);
    this.client.shelve(name, bytes);
  }

  /* ---- the address ------------------------------------------------------------------------------ */

  private turned = false;
  private address(turned: boolean): void {
    this.turned ||= turned;
    clearTimeout(this.writing);
    this.writing = window.setTimeout(() => void this.write(), IDLE);
  }
  private async write(): Promise<void> {
    const writing = this.writing, hash = await toHash(this.state);
    if (writing !== this.writing) return;                               // a later state has its own
    const turned = this.turned;
    this.turned = false;
    this.writing = 0;
    this.written = hash;
    if (location.hash !== hash && turned) history.pushState(null, "", hash);
    else if (location.hash !== hash) history.replaceState(null, "", hash);
    this.settle();
  }

  /* In a worker: asks the engine the questions that the page asks at this address. */
  async prepare(hash: string): Promise<void> {
    const state = await open(hash, this.known);
    if (!("field" in state) && !Object.keys(state.files).length) this.compute(state, false);
  }

  /* Another address: opened whole or refused. */
  async go(hash: string): Promise<void> {
    if (hash === this.written) return;
    const state = await open(hash, this.known);
    if ("field" in state) { this.start(state); return; }
    for (const [name, text] of Object.entries(state.files)) {
      const bytes = new TextEncoder().encode(text);
      this.shelve("./" + name, bytes);
      this.shelve(name, bytes);
    }
    if (!this.take({ ...this.history, now: state, past: [...this.history.past, this.history.now], future: [], last: "" }, false)) this.start(this.refused!);
    else if (this.history.past.length === 1 && !this.opened) this.history = begin(state);
    this.opened = true;
    this.turned = false;                    // the address is there already
    if (state.entry === "run" && !/[?&]on=/.test(hash)) await this.takeOwn();
  }
  private opened = false;

  own = "";                     // the card that the browser draws with, where it is one of the catalog's
  private looking = false;
  /* Where no card was named, the reader's own, if the browser tells it and its name is a machine's. */
  private async takeOwn(): Promise<void> {
    this.looking = true;
    const names = await ownGpu(), name = names.find(one => !this.engine.ask(["eval", "hbm_capacity", "--on", one]).error);
    this.looking = false;
    if (name && this.state.entry === "run" && this.state.card.on === START.card.on) {
      this.own = name;
      if (!this.dispatch({ do: "own", on: name })) this.refused = null;
    }
    this.draw();
  }

  /* Refused at the beginning: there is no old board, so the first one is opened beside the refusal. */
  private start(refusal: Refusal): void {
    if (!this.numbers.of) { this.take({ ...this.history, now: { ...START } }, false); this.opened = true; }
    this.refuse(refusal);
  }
}
