/* The page: words in the address, the board beside them, and everything follows the sliders. */
import { CHAPTERS, type Chapter, type Context, type PictureOf, batches, predictedNow, quantitiesOf } from "./chapters";
import { Client, type BoardReply } from "./client";
import { figure, named } from "./names";
import { dials } from "./dial";
import { explain } from "./difference";
import { Engine, type Reply } from "./engine";
import { escape } from "./escape";
import { Inputs, type Moved } from "./inputs";
import { Lines } from "./lines";
import { Live } from "./live";
import { Picture } from "./picture";
import { command, copy, fromHash, fromWords, give, given, scenario, type Scenario, type State, toHash, travels, words } from "./state";
import { Traffic } from "./traffic";
import { Why } from "./why";

declare const VERSION: string;

const $ = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

const STARTS: [string, string][] = [
  ["Llama-3.3-70B on 8 × H100: how fast, how many users, at what cost per million tokens?", "#batch?model=llama-3.3-70b&on=h100-sxm"],
  ["Why does output cost five times input?", "#prices?model=deepseek-v3&on=gb200-nvl72"],
  ["What does a price step at 200k tokens say about the KV cache?", "#prices?model=deepseek-v3&on=gb200-nvl72&set=price_step_context%3D200000"],
  ["One rack or two for a 5T-parameter mixture of experts?", "#experts?on=gb200-nvl72&set=params_total%3D5T&set=params_active%3D100B&set=scale_up_domains%3D2"],
  ["Where to keep the KV cache for five minutes or an hour?", "#memory?model=deepseek-v3&on=gb200-nvl72&context=32768&set=hold_time%3D5min"],
  ["How many tokens should this model have been trained on?", "#training?model=llama-3.3-70b&on=h100-sxm"],
];

const IDLE = 160;                       // ms without a move, before the worker is asked
const REST = 90;                        // and before the board is opened anew

class Page {
  state: State = { chapter: "batch", first: scenario("deepseek-v3", "gb200-nvl72"), second: null, files: new Map(), prices: "", sheet: "prices", trace: "" };
  private editing: "first" | "second" = "first";
  private readonly live = { first: new Live(this.engine, 0), second: new Live(this.engine, 1) };
  private readonly lines = new Lines($("lines"), this.engine);
  private readonly inputs = new Inputs($("inputs"), this.engine, m => this.moved(m), n => this.give(n, null));
  private readonly others = new Inputs($("others"), this.engine, m => this.moved(m), n => this.give(n, null));
  private readonly why = new Why($("why"), this.engine, m => this.moved(m), n => this.give(n, null));
  private readonly traffic: Traffic;
  private pictures: Picture[] = [];
  private server: BoardReply | null = null;
  private replies = new Map<string, Reply>();
  private asked = new Map<string, string>();
  private measured: Reply | null = null;
  private resting = 0;
  private idle = 0;
  private frame = 0;
  private drawing = 0;
  private opened = "";
  private written = "";

  constructor(readonly engine: Engine, readonly client: Client) {
    this.traffic = new Traffic($("traffic"), engine, client, () => this.scenario, trace => { this.state.trace = trace.includes(":") ? trace : ""; this.address(); });
    $("chapters").innerHTML = CHAPTERS.map(c => `<a href="#${c.id}" data-chapter="${c.id}">${c.name}</a>`).join("");
    $("starts").querySelector("p")!.innerHTML = STARTS.map(([text, hash]) => `<a href="${hash}">${escape(text)}</a>`).join(" ");
    $("version").textContent = VERSION && `chalkline ${VERSION}`;
    this.listen();
  }

  get scenario(): Scenario { return this.state[this.editing] ?? this.state.first; }
  get chapter(): Chapter { return CHAPTERS.find(c => c.id === this.state.chapter) ?? CHAPTERS[0]; }

  /* Names to choose from: not needed for the first number. */
  fillLists(): void {
    for (const [id, kind, key] of [["models", "models", "models"], ["machines", "hardware", "hardware"]]) {
      const rows = (this.engine.ask(["list", kind]).answer?.[key] ?? []) as { name: string; title: string }[];
      $(id).innerHTML = rows.map(row => `<option value="${escape(row.name)}">${escape(row.title)}</option>`).join("");
    }
    const formats = (this.engine.ask(["list", "formats"]).answer?.formats ?? []) as { name: string }[];
    const names = formats.map(f => f.name);
    const select = (option: string, label: string, values: string[], none: string): string =>
      `<label>${label}<select data-option="${option}"><option value="">${none}</option>${values.map(v => `<option>${escape(v)}</option>`).join("")}</select></label>`;
    $("formats").innerHTML = select("precision", "weights", names, "as stored") + select("kv-precision", "KV", names, "bf16")
      + select("experts-precision", "experts", names, "as weights") + select("engine", "engine", ["vllm", "sglang", "trtllm"], "any");
    this.chosenFormats();
  }

  /* ---- what people do ------------------------------------------------------------------------ */

  private listen(): void {
    window.addEventListener("hashchange", () => { if (location.hash !== this.written) void this.fromAddress(); });
    window.addEventListener("popstate", () => { if (location.hash !== this.written) void this.fromAddress(); });
    $("chapters").addEventListener("click", event => {
      const id = (event.target as HTMLElement).dataset.chapter;
      if (!id) return;
      event.preventDefault();
      this.state.chapter = id;
      this.turn();
    });
    for (const key of ["model", "on"] as const) {
      const field = $<HTMLInputElement>(key);
      field.addEventListener("focus", () => { field.dataset.was = field.value; });
      field.addEventListener("change", () => { this.scenario[key] = field.value.trim(); this.turn(); });
    }
    $("formats").addEventListener("change", event => {
      const target = event.target as HTMLSelectElement, option = target.dataset.option!;
      if (target.value) this.scenario.options.set(option, target.value);
      else this.scenario.options.delete(option);
      this.open();
    });
    $("sheet").addEventListener("change", event => { this.state.prices = (event.target as HTMLInputElement).value.trim(); this.open(); });
    $("find").addEventListener("input", () => this.openOthers());
    $("all").addEventListener("toggle", () => this.openOthers());
    $("compare").addEventListener("click", () => this.compare());
    $("pick-a").addEventListener("click", () => this.edit("first"));
    $("pick-b").addEventListener("click", () => this.edit("second"));
    $("share").addEventListener("click", event => void this.copied(event.target as HTMLElement, location.href, travels(this.state) ? "copied" : "copied, without the file"));
    $("command").addEventListener("click", event => void this.copied(event.target as HTMLElement, command("step", this.scenario).replace(/ --model /, " ")));
    $("theme").addEventListener("click", () => this.theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
    document.addEventListener("click", event => this.asksWhy(event.target as HTMLElement));
    document.addEventListener("keydown", event => {
      const target = event.target as HTMLElement;
      if ((event.key === "Enter" || event.key === " ") && target.matches("[role=button][data-why]")) {
        event.preventDefault();         // the panel's own button has the focus by then
        this.asksWhy(target);
      }
      if (event.key === "Escape") this.why.close();
    });
    document.addEventListener("mouseover", event => this.tip(event.target as Element));
    $<HTMLInputElement>("file").addEventListener("change", event => void this.drop([...((event.target as HTMLInputElement).files ?? [])]));
    document.addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("dropping"); });
    document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    document.addEventListener("drop", event => {
      event.preventDefault();
      document.body.classList.remove("dropping");
      void this.drop([...(event.dataTransfer?.files ?? [])]);
    });
    $("assumed").addEventListener("click", event => {
      const name = (event.target as HTMLElement).dataset.focus;
      if (name) document.querySelector<HTMLElement>(`.input[data-name="${name}"] input[type=range], [data-option="${name}"]`)?.focus();
    });
    $("assumed").addEventListener("change", event => {
      const target = event.target as HTMLInputElement;
      if (target.dataset.switch) this.give(target.dataset.switch, target.checked ? target.dataset.on! : target.dataset.off!);
    });
    dials($("lines"), () => this.live[this.editing], m => this.moved(m), name => this.type(name));
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; for (const p of this.pictures) p.redraw(); this.traffic.redraw(); } });
  }

  /* To the field of an input, wherever it stands. */
  private type(name: string): void {
    this.why.close();
    const field = (): HTMLInputElement | null => document.querySelector(`#side .input[data-name="${CSS.escape(name)}"] input[type=text]`);
    if (!field()) {
      $<HTMLDetailsElement>("all").open = true;
      $<HTMLInputElement>("find").value = name;
      this.openOthers();
    }
    field()?.focus();
    field()?.select();
  }

  private async copied(button: HTMLElement, text: string, done = "copied"): Promise<void> {
    const was = button.textContent;
    const good = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    button.textContent = good ? done : "no clipboard available";
    setTimeout(() => { button.textContent = was; }, 900);
  }

  theme(name: string): void {
    document.documentElement.dataset.theme = name;
    try { localStorage.setItem("theme", name); } catch { /* a page from a disk may have none */ }
    for (const picture of this.pictures) picture.redraw();
    this.traffic.redraw();
  }

  private asksWhy(target: HTMLElement): void {
    const from = target.closest<HTMLElement>("[data-why], [data-of]");
    if (!from || target.closest("figure")) return;
    const number = from.dataset.why ?? (from.closest("#why") ? "" : this.live[this.editing].output(Number(from.getAttribute("data-of")))?.of);
    /* an AT, a LEAST, a ROOT has no why of its own: that of the line it stands in shows it */
    const of = !number || /^\w+(\[.*\])?$/.test(number) ? number : from.closest<HTMLElement>(".line")?.dataset.name;
    if (of) this.why.open(of, this.scenario);
  }

  private tip(target: Element): void {
    const symbol = target.closest?.("[data-row]"), tip = $("tip");
    const name = symbol?.getAttribute("data-row");
    if (!name) { tip.hidden = true; return; }
    const live = this.live[this.editing], input = live.inputOf(name), row = live.row(name);
    const known = this.rowInfo(name);
    const value = input ? this.engine.write(input.now, input.unit, 4) : live.has(name) ? live.write(name, 4) : "";
    tip.innerHTML = `<b>${escape(name.replace(/_/g, " "))}${value ? ` = ${escape(value)}` : ""}</b>${escape(input?.meaning ?? row?.meaning ?? known.meaning)}
      <br>${escape(input?.unit ?? (live.has(name) ? live.unit(name) : known.unit))} · ${escape(input?.source ?? row?.source ?? "")}`;
    const box = symbol!.getBoundingClientRect();
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - 340))}px`;
    tip.style.top = box.bottom + tip.offsetHeight + 8 < innerHeight ? `${box.bottom + 6}px` : `${box.top - tip.offsetHeight - 6}px`;
  }

  private rows: Map<string, { meaning: string; unit: string }> | null = null;
  private rowInfo(name: string): { meaning: string; unit: string } {
    this.rows ??= new Map(((this.engine.ask(["list", "rows"]).answer?.rows ?? []) as any[]).map(r => [r.name, r]));
    return this.rows.get(name) ?? { meaning: "", unit: "" };
  }

  private moved(m: Moved): void {
    give(this.scenario, m.name, m.text);
    const live = this.live[this.editing];
    this.stale = true;
    const branch = live.move(m.name, m.value);
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => this.open(), m.done || branch ? 0 : REST);
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.fill());
  }

  private give(name: string, value: string | null): void { give(this.scenario, name, value); this.open(); }

  private compare(): void {
    if (this.state.second) { this.state.second = null; this.editing = "first"; }
    else { this.state.second = copy(this.state.first); this.editing = "second"; }
    this.open();
  }
  private edit(which: "first" | "second"): void {
    this.server = null;
    this.editing = which;
    this.open();
  }

  private async drop(files: File[]): Promise<void> {
    for (const file of files) {
      let bytes = new Uint8Array(await file.arrayBuffer());
      let name = file.name;
      if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
        bytes = new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
        name = name.replace(/\.gz$/, "");
      }
      this.shelve(name, bytes);
      const text = bytes.length < 4 << 20 ? new TextDecoder().decode(bytes) : "";
      if (/\.gguf$/.test(name) || (/\.json$/.test(name) && /"(model_type|architectures|hidden_size|text_config|n_layers|dim)"/.test(text))) {
        this.takeModel(name, text, bytes);
      } else if (/\.json$/.test(name) && /"input_cost_per_token"/.test(text)) {
        const names = Object.keys(JSON.parse(text));
        this.state = { ...this.state, chapter: "prices", sheet: name, prices: names.find(n => n !== "sample_spec") ?? "" };
        this.open();
        this.listSheet(names);
      } else if (/\.json$/.test(name)) {
        this.takeModel(name, text, bytes);
      } else {
        this.state.chapter = "batch";
        this.turn();
        $("traffic").scrollIntoView({ block: "start" });
        await this.traffic.run(name);
      }
    }
  }

  /* A configuration that is none is told, and the board keeps its model. */
  private takeModel(name: string, text: string, bytes: Uint8Array): void {
    const before = this.scenario.model, path = /\.gguf$/.test(name) ? name : "./" + name;
    this.shelve(path, bytes);
    this.scenario.model = path;
    this.turn();
    const error = this.live[this.editing].error;
    if (!error) {
      this.state.files.clear();
      if (text && !/\.gguf$/.test(name)) this.state.files.set(name, text);
      this.address();
      return;
    }
    this.scenario.model = before;
    this.open();
    this.refuse({ what: `${name} is not a readable model configuration: ${error.what}`, hint: error.hint });
  }

  private shelve(name: string, bytes: Uint8Array): void {
    this.engine.shelve(name, bytes);
    this.client.shelve(name, bytes);
  }

  /* ---- the address ----------------------------------------------------------------------------- */

  async fromAddress(): Promise<void> {
    const state = await fromHash(location.hash);
    if (state) this.state = state;
    else if (location.hash.length > 1) this.state.chapter = location.hash.slice(1);
    this.editing = "first";
    for (const [name, text] of this.state.files) {
      const bytes = new TextEncoder().encode(text);
      this.shelve("./" + name, bytes);
      this.shelve(name, bytes);
    }
    this.open();
  }

  /* Another chapter, model or machine: one can go back from it. A slider's way is not kept. */
  private turn(): void {
    this.turned = true;
    this.open();
  }
  private turned = false;

  private address(): void {
    const turned = this.turned;
    this.turned = false;
    void toHash(this.state).then(hash => {
      this.written = hash;
      if (location.hash !== hash) {
        if (turned) history.pushState(null, "", hash);
        else history.replaceState(null, "", hash);
      }
      document.title = `${this.live.first.doc.model ?? "chalkline"}${this.live.first.doc.machine ? ` on ${this.live.first.doc.machine}` : ""}: ${this.chapter.name}`;
    });
  }

  /* ---- from the words to the board --------------------------------------------------------------- */

  open(): void {
    clearTimeout(this.resting);
    const chapter = this.chapter, live = this.live[this.editing];
    const good = this.openOne("first") && (!this.state.second || this.openOne("second"));
    this.refuse(live.error, live.doc.misfit);
    document.documentElement.removeAttribute("data-settled");
    if (!good) {
      this.address();
      document.documentElement.dataset.settled = "1";       /* nothing more will come */
      return;
    }
    const pair = JSON.stringify([this.scenario.model, this.scenario.on]);
    if (this.serverOf !== pair) this.server = null;
    this.serverOf = pair;
    const key = `${chapter.id} ${this.editing}`;
    performance.mark("board");
    if (this.opened !== key) this.openChapter(chapter);
    this.opened = key;
    this.lines.open(live, chapter.lines);
    this.openInputs();
    this.openOthers();
    this.openAssumed();
    this.header();
    this.fill();
    this.address();
    this.why.update(this.scenario);
    clearTimeout(this.idle);
    this.idle = window.setTimeout(() => this.askWorker(), IDLE);
  }

  private openOne(which: "first" | "second"): boolean {
    const of = this.state[which];
    if (!of) return true;
    const live = this.live[which];
    return live.openWhat(of, quantitiesOf(this.chapter));
  }

  private refuse(error: { what: string; hint: string } | null, misfit?: string): void {
    const box = $("error");
    box.hidden = !error && !misfit;
    box.innerHTML = error ? `<b>${escape(error.what)}</b>${error.hint ? ` — ${escape(error.hint)}` : ""}` : misfit ? escape(misfit) : "";
    $("model").setAttribute("aria-invalid", String(!!error));
  }

  private openChapter(chapter: Chapter): void {
    for (const link of $("chapters").querySelectorAll("a"))
      if (link.dataset.chapter === chapter.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    this.last.clear();
    this.pictures = chapter.pictures.map(of => new Picture(of.id));
    $("pictures").replaceChildren(...this.pictures.map(p => p.element));
    $("traffic").hidden = chapter.id !== "batch" && chapter.id !== "memory";
    this.traffic.show(this.state.trace);
    for (const id of ["formats", "assumed"]) $(id).hidden = !chapter.model;
    $("sheet-of").hidden = chapter.id !== "prices";
    if (chapter.id === "prices") this.listSheet();
    this.replies.clear();
    this.asked.clear();
  }

  /* Whose prices can be read backward. */
  private listSheet(names?: string[]): void {
    const known = names ?? ((this.engine.ask(["list", "prices"]).answer?.prices ?? []) as { name: string }[]).map(row => row.name.replace(/^[^/]*\//, ""));
    $("sheets").innerHTML = [...new Set(known)].map(name => `<option value="${escape(name)}">`).join("");
    $<HTMLInputElement>("sheet").value = this.state.prices || "claude-opus-4-7";
  }

  /* What the prediction reads stands in the sliders, where it follows from other inputs. */
  private openInputs(): void {
    const context = this.context(), live = context.live;
    this.inputs.open(live, this.chapter.inputs, name => given(this.scenario, name) !== undefined, name => {
      const follows = this.chapter.server && (name === "prompt_tokens" || name === "output_tokens") && given(this.scenario, name) === undefined;
      const value = follows ? predictedNow(context, name) : NaN;
      return Number.isFinite(value) ? value : undefined;
    });
  }

  private openOthers(): void {
    if (!$<HTMLDetailsElement>("all").open) return;
    const live = this.live[this.editing], wanted = $<HTMLInputElement>("find").value.toLowerCase().trim();
    const shown = new Set(this.chapter.inputs);
    const names = live.side.inputs.filter(i => !shown.has(i.name) && (!wanted || `${i.name.replace(/_/g, " ")} ${i.name} ${i.meaning}`.toLowerCase().includes(wanted))).map(i => i.name);
    this.others.open(live, names.slice(0, 60), name => given(this.scenario, name) !== undefined);
  }

  /* Notes of the engine, each leading to what changes it; then the lecture's switches. */
  private openAssumed(): void {
    const live = this.live[this.editing];
    const lead: [RegExp, string][] = [[/^context /, "context"], [/^batch /, "batch"], [/^weights /, "precision"], [/^KV cache/, "kv-precision"], [/rent|USD\/h/, "chip_price"]];
    const notes = (live.doc.assumed ?? []).map(note => {
      const to = lead.find(([pattern]) => pattern.test(note))?.[1];
      return `<li>${to ? `<button type="button" data-focus="${to}">${escape(note)}</button>` : escape(note)}</li>`;
    });
    const of = this.scenario;
    const real = live.doc.model !== undefined;
    const box = (name: string, label: string, on: string, off: string, by: boolean): string =>
      `<li><label><input type="checkbox" data-switch="${name}" data-on="${on}" data-off="${off}"${(of.sets.get(name) ?? (by ? on : off)) === on ? " checked" : ""}>${label}</label></li>`;
    $("assumed").querySelector("ul")!.innerHTML = notes.join("") +
      box("lecture_form", "the lecture's own form: all weights read, no attention FLOPs", "1", "0", !real) +
      (real ? box("count_touched_experts", "read only the experts that are chosen", "1", "0", of.sets.get("lecture_form") !== "1")
            + box("count_attention_flops", "count the FLOPs of attention", "1", "0", of.sets.get("lecture_form") !== "1") : "") +
      box("bound_overlap", "memory and compute overlap", "0", "2", true);
  }

  private header(): void {
    const of = this.scenario, second = this.state.second !== null;
    for (const key of ["model", "on"] as const) {
      const field = $<HTMLInputElement>(key);
      if (document.activeElement !== field || field.value !== of[key]) field.value = of[key];
      field.placeholder = key === "model" ? "the lecture's model" : "the lecture's machine";
    }
    this.chosenFormats();
    document.querySelector<HTMLElement>(".which")!.hidden = !second;
    $("pick-a").setAttribute("aria-pressed", String(this.editing === "first"));
    $("pick-b").setAttribute("aria-pressed", String(this.editing === "second"));
    $("compare").textContent = second ? "end comparison" : "compare";
  }

  private chosenFormats(): void {
    for (const select of $("formats").querySelectorAll("select")) select.value = this.scenario.options.get(select.dataset.option!) ?? "";
  }

  private context(): Context {
    return { engine: this.engine, live: this.live[this.editing], scenario: this.scenario, state: this.state, server: this.server, replies: this.replies, measured: this.measured };
  }

  /* Everything that moves with a slider. */
  fill(): void {
    const began = performance.now(), context = this.context(), chapter = this.chapter, live = context.live;
    const other = this.state.second ? this.live[this.editing === "first" ? "second" : "first"] : null;
    this.lines.fill(live, other && this.editing === "first" ? other : null);
    const claim = chapter.claim(context);
    if ($("claim").textContent !== claim) $("claim").textContent = claim;
    this.fillResults(context, other);
    if (this.begun) this.drawPictures(context, began);
    else requestAnimationFrame(() => setTimeout(() => { this.begun = true; this.drawPictures(this.context()); }));
    if (other) $("difference").innerHTML = explain(this.live.first, this.live.second, chapter.results[0], this.engine);
    $("difference").hidden = !other;
  }

  /* At most a picture or two a frame beside the one that a slider moves: the rest follow. */
  private drawPictures(context: Context, began = performance.now()): void {
    const from = this.drawing;
    for (let k = 0; k < this.pictures.length; k++) {
      const i = (from + k) % this.pictures.length;
      const of = this.chapter.pictures[i];
      if (this.unchanged(of)) continue;
      const drawn = of.draw(context);
      if (typeof drawn === "string") this.pictures[i].say(drawn);
      else if (drawn) this.pictures[i].draw(drawn);
      else this.pictures[i].say("");
      this.drawing = (i + 1) % this.pictures.length;
      if (performance.now() - began > 9 && k + 1 < this.pictures.length) {
        cancelAnimationFrame(this.later);
        this.later = requestAnimationFrame(() => this.drawPictures(this.context()));
        return;
      }
    }
  }
  private later = 0;
  private last = new Map<string, unknown[]>();

  /* A picture of the worker's answer is drawn when that comes, not at every move. */
  private unchanged(of: PictureOf): boolean {
    const now = [this.replies.get(of.id), this.server, this.measured], before = this.last.get(of.id);
    this.last.set(of.id, now);
    return !!of.still && !!before && now.every((value, i) => value === before[i]);
  }
  private serverOf = "";                // the pair that it is of
  private stale = false;                // the prediction is of inputs that have moved since
  private begun = false;                // the first numbers come before the first picture

  /* The same elements stay while their numbers change, so that focus does. */
  private fillResults(context: Context, other: Live | null): void {
    const { live } = context, box = $("results");
    const shown: [string, string, string, boolean][] = this.chapter.results.filter(of => live.has(of)).map(of =>
      [of, figure(this.engine, of, live.value(of), live.unit(of)), named(of) + (other ? ` · ${this.editing === "first" ? "B" : "A"} ${figure(this.engine, of, other.value(of), other.unit(of))}` : ""), false]);
    shown.push(...this.served(context));
    const rows = [...box.children] as HTMLElement[];
    let same = 0;
    while (same < rows.length && same < shown.length && rows[same].dataset.why === shown[same][0]) same++;
    for (const row of rows.slice(same)) row.remove();
    for (const [of, , , served] of shown.slice(same))
      box.insertAdjacentHTML("beforeend", `<div role="button" tabindex="0" data-why="${of}"${served ? ' class="served"' : ""}><b></b><span></span></div>`);
    shown.forEach(([of, number, text], i) => {
      const [b, span] = box.children[i].children;
      if (b.textContent !== number) b.textContent = number;
      if (span.textContent !== text) span.textContent = text;
      (span as HTMLElement).title = live.row(of)?.meaning ?? "";
    });
    $("refused").textContent = (this.chapter.server && context.server?.doc.refused) || "";
    $("results").classList.toggle("stale", this.stale);
  }

  /* The prediction, as far as the worker has it; grey while it has not. */
  private served(context: Context): [string, string, string, boolean][] {
    const { server } = context;
    if (!server?.doc.server || !this.chapter.server || server.doc.refused) return [];
    const at = (of: string): number => { const i = server.doc.server!.outputs.findIndex(o => o.of === of); return i < 0 ? NaN : server.values.server[i]; };
    const two = (v: number, unit: string): string => this.engine.write(v, unit, 2);
    const range = (of: string, low: string, high: string): string => `${two(at(of) * at(low), "s")} to ${two(at(of) * at(high), "s")}`;
    const rows: [string, string, string][] = [
      ["predicted_tpot", two(at("predicted_tpot"), "s"), `predicted per output token; 80 % interval ${range("predicted_tpot", "tpot_band_low", "tpot_band_high")}; ${server.doc.layout ?? ""}, utilization ${at("utilization").toFixed(2)}`],
      ["predicted_ttft", two(at("predicted_ttft"), "s"), `predicted to the first token; ${range("predicted_ttft", "ttft_band_low", "ttft_band_high")}`],
      ["output_cost_per_token", this.engine.write(at("output_cost_per_token"), "USD/token", 2), `predicted per output token; ${this.engine.write(at("throughput_per_chip"), "token/s", 2)} per GPU`],
    ];
    return rows.filter(row => row[1] !== "—").map(row => [...row, true]);
  }

  /* ---- what takes longer ----------------------------------------------------------------------- */

  private async askWorker(): Promise<void> {
    const chapter = this.chapter, of = this.scenario;
    const list = [
      ...chapter.pictures.flatMap(picture => {
        const question = picture.ask?.(this.state, of) ?? null;
        const key = JSON.stringify(question);
        if (!question) {                    /* of another model, then */
          this.replies.delete(picture.id);
          this.asked.delete(picture.id);
        }
        if (!question || this.asked.get(picture.id) === key) return [];
        this.asked.set(picture.id, key);
        return [this.client.ask(picture.id, question).then(reply => { if (reply) { this.replies.set(picture.id, reply); this.fill(); } })];
      }),
    ];
    if (chapter.server && of.model && of.on) {
      list.unshift(this.client.board("server", 0, words(of), chapter.server.map(q => "server: " + q), { batch: batches() }).then(reply => {
        if (reply) { this.server = reply; this.stale = false; this.fill(); this.openInputs(); }
      }));
    } else this.server = null;
    if (!this.measured && chapter.id === "batch")
      list.push(this.client.ask("measured", ["check", "--worst", "1000"]).then(reply => { if (reply) { this.measured = reply; this.fill(); } }));
    await Promise.all(list);
    document.documentElement.dataset.settled = "1";
  }
}

const kept = (key: string): string | null => { try { return localStorage.getItem(key); } catch { return null; } };

/* ---- beginning ------------------------------------------------------------------------------------ */

async function begin(): Promise<void> {
  const text = $("wasm").textContent!.trim();
  const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  performance.mark("unpacking");
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  performance.mark("compiled");
  const page = new Page(Engine.load(module), new Client(module));
  performance.mark("made");
  (window as unknown as { chalkline: Page }).chalkline = page;
  document.documentElement.dataset.theme = kept("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const brought = JSON.parse($("state").textContent || "null") as { words?: string[]; answer?: Reply } | null;
  if (brought?.words) {
    const sent = $("sent"), said = brought.answer;
    sent.hidden = false;
    sent.querySelector("summary")!.textContent = `chalkline ${brought.words.join(" ")}`;
    sent.querySelector("pre")!.textContent = said?.error ? `${said.error.what}\n${said.error.hint}` : said?.text ?? "";
  }
  if (brought?.words && location.hash.length < 2) {
    page.state.first = fromWords(brought.words, page.engine.tables());
    page.open();
  } else await page.fromAddress();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  setTimeout(() => page.fillLists());
}

begin().catch(error => {
  const box = $("error");
  box.hidden = false;
  box.textContent = `This browser cannot run the engine: ${(error as Error).message}`;
});
