/* What chapter 7 runs before the reader's eyes: a reversible net that learns and is undone, a cipher
 * whose rounds spread one flipped bit, and the attack on two of them, as `lecture 7 --run` says. */
import { useState } from "preact/hooks";
import type { App } from "./app";
import type { Reply } from "./engine";
import { Figure } from "./figure";
import { lin, type Line, nice, type Picture, tableOf } from "./picture_type";
import { commas, three } from "./plain";

interface Round { round: number; block: string; flipped: string; differ: number; share: number }
interface Run {
  net: { depth: number; weights: number; loss_before: number; loss_after: number; loss_undone: number; layers_undone: boolean; same_gradient: boolean; training_undone: boolean;
    kept_measured: number; undone_measured: number; flops_measured: number; steps: number; training: { step: number; loss: number }[] };
  cipher: { block_undone: string; block_back: boolean; rounds: Round[] };
  avalanche: { net: { depth: number; share: number }[] };
  attack: { pairs: number; followed: number; tried: number; left: number; keys: string; found: string; broken: boolean };
}

function learning(run: Run): Picture {
  const points = run.net.training.map((t): [number, number] => [t.step, t.loss]), losses = points.map(p => p[1]), low = Math.min(...losses), high = Math.max(...losses);
  const lines: Line[] = [{ name: "loss", kind: "result", role: "result", of: "A", points }];
  return { title: `${run.net.steps} steps of training, undone: the loss is ${three(run.net.loss_undone)} again${run.net.training_undone ? ", and every bit is back" : ""}`, x: lin("steps of training", "", nice(run.net.steps)), y: { name: "loss", unit: "", log: false, from: Math.floor(20 * low) / 20, to: Math.ceil(20 * high) / 20 }, lines, table: tableOf("step", lines) };
}

function avalanche(run: Run): Picture {
  const cipher = run.cipher.rounds.map((r): [number, number] => [r.round, 100 * r.share]), net = run.avalanche.net.map((n): [number, number] => [n.depth, 100 * n.share]);
  const lines: Line[] = [{ name: "cipher", kind: "result", role: "result", of: "A", points: cipher }, { name: "net", kind: "compute", role: "term", of: "A", points: net }], half = run.cipher.rounds.find(r => r.share > 0.49);
  return { title: half ? `After ${half.round} rounds one flipped bit has flipped half of the cipher's; the net stays what it can learn from` : "How far one flipped bit spreads", x: lin("rounds, or layers", "", nice(Math.max(net[net.length - 1][0], cipher[cipher.length - 1][0]))), y: lin("% of the bits that differ", "", 60), lines, table: tableOf("rounds", lines) };
}

const bits = (hex: string): string => [...hex.replace(/ /g, "")].map(c => parseInt(c, 16).toString(2).padStart(4, "0")).join("");

/* The 64 bits of a block, and which of them the flipped one has turned so far. */
function Bits({ run }: { run: Run }) {
  const [at, step] = useState(0), { rounds } = run.cipher, now = rounds[at], a = bits(now.block), b = bits(now.flipped), size = 22, title = `Round ${now.round}: ${now.differ} of ${a.length} bits differ`;
  return <figure class="own" id="avalanche-bits"><figcaption>{title}</figcaption><svg class="pic" role="img" aria-label={title} viewBox={`0 0 ${16 * size} ${4 * size}`} style={{ maxWidth: `${16 * size}px` }}>{[...a].map((bit, i) =>
    <rect key={i} x={(i % 16) * size + 1} y={Math.floor(i / 16) * size + 1} width={size - 3} height={size - 3} class={bit !== b[i] ? "turned" : "cell"} />)}</svg>
    <p><button type="button" class="word" disabled={at === 0} onClick={() => step(at - 1)}>a round back</button> <button type="button" class="word" disabled={at === rounds.length - 1} onClick={() => step(at + 1)}>a round forward</button></p>
    <p class="note">The block {now.block}; with one bit flipped {now.flipped}.{run.cipher.block_back ? ` Undone, it is ${run.cipher.block_undone} again.` : ""}</p></figure>;
}

export function Running({ app, reply }: { app: App; reply: Reply | null }) {
  const run = reply?.answer?.run as Run | undefined;
  if (!run?.net || !app.begun) return <section class="running"><h2>What runs here</h2><p class="note">A reversible net is being trained and a cipher attacked; what they show stands here then.</p></section>;
  const { net, attack } = run, size = (v: number): string => app.engine.write(v, "B");
  return <section class="running"><h2>What runs here</h2><div class="three">
    <div class="pane"><Figure app={app} id="learning" picture={() => learning(run)} /><p>{net.depth} reversible layers, {commas(net.weights)} weights. Keeping every layer’s activations takes {size(net.kept_measured)}, undoing them {size(net.undone_measured)}, for {three(net.flops_measured)} times the FLOPs{net.same_gradient ? "; the gradient is the same in every bit." : "."}</p></div>
    <div class="pane"><Figure app={app} id="avalanche" picture={() => avalanche(run)} /></div>
    <div class="pane"><Bits run={run} /><p>{attack.broken ? `Two rounds are broken by differences: in ${attack.followed} of ${attack.pairs} pairs the flipped bit came through unchanged, and of ${commas(attack.tried)} keys tried the right one was left, ${attack.found}.` : `The attack on two rounds left ${attack.left} keys.`}</p></div></div></section>;
}
