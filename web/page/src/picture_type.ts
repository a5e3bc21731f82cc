/* What a picture shows, before anything is drawn: the page fills it in, the renderer draws it. */
export type Kind = "compute" | "weights" | "cache" | "network" | "host" | "result";
export type Role = "bound" | "predicted" | "sum" | "result" | "term";
export type Of = "A" | "B";
export interface Axis { name: string; unit: string; log: boolean; from?: number; to?: number; time?: boolean }
export interface Line { name: string; kind: Kind; role: Role; of: Of; shade?: 0 | 1 | 2 | 3; points: [number, number][]; band?: [number, number, number][] }
export interface Part { kind: Kind; value: number; name?: string; beyond?: boolean }
export interface Bar { name: string; parts: Part[]; total?: boolean; role?: "term" | "bound"; from?: number; band?: [number, number]; measured?: number; text?: string;
  range?: [number, number]; inner?: [number, number]; prior?: [number, number]; middle?: number }
export interface Point { x: number; y: number; of: Of; what: string; source: string; date: string; near?: boolean }
export interface Mark { name: string; x: number; y: number; sets?: string }
export interface Picture {
  title: string;
  x: Axis; y: Axis;
  lines: Line[];
  bars?: Bar[];
  points?: Point[];
  marks?: Mark[];
  here?: { x: number; y: number; sets: string; name?: string };
  areas?: { name: string; of: "x" | "y"; from?: number; to?: number }[];
  table: { columns: string[]; rows: (string | number)[][] };
}

/* The next of 1, 2, 2.5, 5 times a power of ten, at or above. */
export function nice(v: number): number {
  if (!(v > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(v) + 1e-9);
  return (([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(m => m * power >= v * (1 - 1e-9)) ?? 10) * power);
}
export const lin = (name: string, unit: string, to: number, from = 0): Axis => ({ name, unit, log: false, from, to });
export const log = (name: string, unit: string, from: number, to: number): Axis => ({ name, unit, log: true, from, to });

export const even = (from: number, to: number, n: number): number[] => Array.from({ length: n }, (_, i) => from + (to - from) * i / (n - 1));
export const evenLog = (from: number, to: number, n: number): number[] => Array.from({ length: n }, (_, i) => from * (to / from) ** (i / (n - 1)));

/* Points of a line, without what is no number. */
export const path = (x: readonly number[], y: readonly number[]): [number, number][] =>
  x.flatMap((v, i): [number, number][] => Number.isFinite(y[i]) ? [[v, y[i]]] : []);

/* The table of lines that share their x. */
export function tableOf(first: string, lines: readonly Line[], every = 8): Picture["table"] {
  const rows: (string | number)[][] = [], base = lines[0]?.points ?? [];
  const step = Math.max(1, Math.floor(base.length / every));
  for (let i = 0; i < base.length; i += step)
    rows.push([base[i][0], ...lines.map(l => l.points.find(p => p[0] === base[i][0])?.[1] ?? "")]);
  return { columns: [first, ...lines.map(l => l.of === "B" ? l.name + " (B)" : l.name)], rows };
}
