/* Two scenarios: which inputs differ, how far the answers are apart, and which input did it. */
import type { Engine } from "./engine";
import { escape } from "./escape";
import type { Live } from "./live";


const CHOSEN = "the server chosen for it";

/* Inputs that come from one thing change together: the model's, the machine's. */
function groupOf(name: string, sourceA: string, sourceB: string, chosen: boolean, sameModel: boolean, sameMachine: boolean): string {
  const machine = /hardware\.csv|efficiency\.csv/.test(sourceA + sourceB);
  if (machine && !sameMachine) return "the machine";
  if (chosen) return sameModel ? sameMachine ? CHOSEN : "the machine" : "the model";
  if (!sameModel && (name.includes("[") || /models\.csv|config|json/.test(sourceA + sourceB))) return "the model";
  return name.replace(/_/g, " ");
}

export function explain(a: Live, b: Live, of: string, engine: Engine): string {
  const groups = new Map<string, [string, number][]>(), shown: string[] = [];
  const sameModel = a.doc.model === b.doc.model, sameMachine = a.doc.machine === b.doc.machine;
  const names = new Set([...a.side.inputs.map(i => i.name), ...b.side.inputs.map(i => i.name)]);
  let unlike = false;
  for (const name of names) {
    const x = a.inputOf(name), y = b.inputOf(name);
    if (!x || !y) { unlike = true; continue; }
    if (x.now === y.now) continue;
    const group = groupOf(name, x.source, y.source, x.chosen || y.chosen, sameModel, sameMachine);
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group)!.push([name, y.now]);
    if (!name.includes("[") && group !== CHOSEN) shown.push(`<tr><td>${escape(name.replace(/_/g, " "))}</td><td>${escape(engine.write(x.now, x.unit, 4))}</td><td>${escape(engine.write(y.now, y.unit, 4))}</td></tr>`);
  }
  const from = a.value(of), to = b.value(of), whole = Math.log(to / from);
  const effects = [...groups].map(([group, changes]) => ({ group, by: Math.log(a.trial(changes, of) / from) })).filter(e => Number.isFinite(e.by))
    .sort((p, q) => Math.abs(q.by) - Math.abs(p.by));
  const name = of.replace(/_/g, " ");
  const times = (v: number): string => { const f = Math.exp(v); return f >= 1 ? `${f.toPrecision(3)} ×` : `1/${(1 / f).toPrecision(3)} ×`; };
  const sentence = !Number.isFinite(whole) || Math.abs(whole) < 1e-9 ? `No difference in ${name}.`
    : `B has ${times(whole)} the ${name} of A${effects.length ? `; most of it from ${effects[0].group} (${times(effects[0].by)} alone)` : ""}.`;
  return `<h2>${escape(sentence)}</h2>
    ${effects.length > 1 ? `<p>Each change alone, starting from A: ${effects.slice(0, 5).map(e => `${escape(e.group)} ${times(e.by)}`).join(", ")}${unlike && !sameModel ? "; the models have other layers, so parts of the model's share are not counted alone" : ""}.</p>` : ""}
    <table><tr><th>input</th><th>A</th><th>B</th></tr>${shown.slice(0, 14).join("")}</table>`;
}
