/* Two drawings that are no charts: the rack with its experts, and the stages of a pipeline over time. */
import { useState } from "preact/hooks";
import type { App } from "./app";
import { three } from "./plain";

/* A cell a GPU; experts are laid in as even as they go, and who has none stays hollow. */
function Rack({ app }: { app: App }) {
  const n = app.numbers, chips = Math.min(576, Math.max(1, Math.round(n.value("stage_chips")))), experts = Math.round(n.value("experts")), each = Math.max(1, Math.round(n.value("experts_per_chip"))), idle = Math.round(n.value("idle_chips"));
  const columns = Math.ceil(Math.sqrt(chips * 2)), cell = 34, rows = Math.ceil(chips / columns), columnsIn = Math.ceil(Math.sqrt(each)), dot = Math.min(9, (cell - 8) / columnsIn - 1.5);
  const title = idle > 0 ? `${experts} experts over ${chips} GPUs: ${each} on each, and ${idle} GPUs stay empty` : `${experts} experts over ${chips} GPUs: ${each} on each`;
  return <figure class="own" id="rack"><figcaption>{title}</figcaption><svg class="pic" role="img" aria-label={title} viewBox={`0 0 ${columns * cell} ${rows * cell}`} style={{ maxWidth: `${columns * cell}px` }}>{Array.from({ length: chips }, (_, i) => {
    const x = (i % columns) * cell, y = Math.floor(i / columns) * cell, has = Math.max(0, Math.min(each, experts - i * each));
    return <g key={i}><rect x={x + 2} y={y + 2} width={cell - 4} height={cell - 4} class={has ? "cell" : "cell hollow"} />{Array.from({ length: Math.min(has, 36) }, (_, k) => <rect key={k} class="expert" x={x + 5 + (k % columnsIn) * (dot + 1.5)} y={y + 5 + Math.floor(k / columnsIn) * (dot + 1.5)} width={dot} height={dot} />)}</g>; })}</svg></figure>;
}

/* Strips of one pass: a stage works on a micro-batch a slot, and waits before the first and after its last. */
function Schedule({ app }: { app: App }) {
  const n = app.numbers, stages = Math.max(1, Math.min(16, Math.round(n.value("pipeline_stages")))), batches = Math.max(1, Math.min(32, Math.round(n.value("micro_batches")))), slots = stages + batches - 1, wide = Math.max(6, Math.min(40, 560 / slots)), tall = stages > 8 ? 14 : 22;
  const title = `${three(100 * n.value("pipeline_bubble"))} % of one pass is idle with ${Math.round(n.value("micro_batches"))} micro-batch${n.value("micro_batches") > 1 ? "es" : ""} over ${Math.round(n.value("pipeline_stages"))} stage${n.value("pipeline_stages") > 1 ? "s" : ""}`;
  return <figure class="own" id="schedule"><figcaption>{title}</figcaption><svg class="pic" role="img" aria-label={title} viewBox={`0 0 ${slots * wide + 70} ${stages * tall + 24}`} style={{ maxWidth: `${slots * wide + 70}px` }}>{Array.from({ length: stages }, (_, s) => <g key={s}><text class="label" x={0} y={s * tall + tall / 2 + 4}>{`stage ${s + 1}`}</text>
    {Array.from({ length: slots }, (_, t) => <rect key={t} x={64 + t * wide} y={s * tall + 2} width={wide - 1.5} height={tall - 4} class={t >= s && t < s + batches ? "busy" : "cell hollow"} />)}</g>)}
    <text class="label" x={64 + slots * wide} y={stages * tall + 18} text-anchor="end">time of one pass</text></svg></figure>;
}

/* A Feistel round to step through: on small words, with a function that nobody can invert. */
function Rounds({ app }: { app: App }) {
  const [at, step] = useState(0), n = app.numbers, left = n.value("feistel_left"), right = n.value("feistel_right"), f = n.value("feistel_function"), out = n.value("feistel_output"), undone = n.value("feistel_undone");
  const steps: [string, number, number, string][] = [["before", left, right, "the two halves"], ["forward", left, out, `the right half gets f(left) = ${three(f)} added`], ["back", left, undone, `the same f(left) = ${three(f)} is taken away: the right half is what it was`]];
  const now = steps[at];
  return <figure class="own" id="rounds"><figcaption>One round, forward and back: {now[3]}</figcaption><div class="round"><span class="half"><span class="label">left half</span><b>{three(now[1])}</b></span><span class="half"><span class="label">right half</span><b>{three(now[2])}</b></span></div>
    <p><button type="button" class="word" disabled={at === 0} onClick={() => step(at - 1)}>step back</button> <button type="button" class="word" disabled={at === 2} onClick={() => step(at + 1)}>{at === 0 ? "one round forward" : "undo it"}</button></p></figure>;
}

export function Drawing({ app, what }: { app: App; what: "rack" | "schedule" | "rounds" }) { return what === "rack" ? <Rack app={app} /> : what === "schedule" ? <Schedule app={app} /> : <Rounds app={app} />; }
