/* A picture in the page: mounted once, told of every change, removed with the board that it is of. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { App } from "./app";
import { mountPicture } from "./drawing_stub";
import { csv, save } from "./files";
import type { Picture } from "./picture_type";

export interface Moves { drag?: (x: number, y: number, done: boolean) => void; mark?: (name: string, x: number, done: boolean) => void }

export function Figure({ app, id, picture, moves, old }: { app: App; id: string; picture: Picture; moves?: Moves; old?: boolean }) {
  const host = useRef<HTMLDivElement>(null), mounted = useRef<{ update(p: Picture): void; remove(): void } | null>(null), now = useRef(moves);
  const [open, show] = useState(false);
  now.current = moves;
  useEffect(() => {
    mounted.current = mountPicture(host.current!, app.engine, {
      ...(moves?.drag ? { drag: (x, y, done) => now.current?.drag?.(x, y, done) } : {}),
      ...(moves?.mark ? { mark: (name, x, done) => now.current?.mark?.(name, x, done) } : {}),
    });
    return () => { mounted.current?.remove(); mounted.current = null; };
  }, []);
  useEffect(() => { mounted.current?.update(picture); });
  const cell = (c: string | number): string => typeof c === "number" ? Number(c.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 9 }) : c;
  return <figure id={id} class={old ? "old" : ""} onKeyDown={event => { if (event.key === "t" && !(event.target instanceof HTMLInputElement)) show(!open); }}>
    <div class="drawn" ref={host} />
    <div class="extras"><button type="button" class="word" aria-expanded={open} onClick={() => show(!open)}>numbers</button>{open && <>
      {" "}<button type="button" class="word" onClick={() => save(`${id}.csv`, "text/csv", csv(picture))}>CSV</button>
      {" "}<button type="button" class="word" onClick={() => { const svg = host.current?.querySelector("svg"); if (svg) save(`${id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg)); }}>SVG</button>
      {" "}<button type="button" class="word" onClick={() => { const svg = host.current?.querySelector("svg"); if (svg) void png(`${id}.png`, svg); }}>PNG</button></>}</div>
    {open && <div class="numbers" tabIndex={0} role="region" aria-label={`numbers: ${picture.title}`}><table><thead><tr>{picture.table.columns.map(c => <th scope="col">{c}</th>)}</tr></thead>
      <tbody>{picture.table.rows.map((row, i) => <tr key={i}>{row.map((c, k) => <td key={k}>{cell(c)}</td>)}</tr>)}</tbody></table></div>}
  </figure>;
}

/* The picture with the colours that it has on the page, twice as large. */
async function png(name: string, svg: SVGSVGElement): Promise<void> {
  const { width, height } = svg.getBoundingClientRect(), copy = svg.cloneNode(true) as SVGSVGElement, style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const root = getComputedStyle(document.documentElement), names = ["--paper", "--ink", "--soft", "--rule", "--grid", "--hand", "--compute", "--weights", "--cache", "--network", "--host", "--result"];
  style.textContent = [...document.querySelectorAll("style[data-pictures]")].map(s => s.textContent).join("\n") + `:root,svg{${names.map(n => `${n}:${root.getPropertyValue(n) || root.getPropertyValue("--ink")};`).join("")}background:${root.getPropertyValue("--paper")};font-family:${root.getPropertyValue("--sans")}}`;
  copy.prepend(style);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const image = new Image();
  image.src = "data:image/svg+xml;base64," + btoa(unescape(encodeURIComponent(new XMLSerializer().serializeToString(copy))));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  const pen = canvas.getContext("2d")!;
  pen.scale(2, 2);
  pen.drawImage(image, 0, 0, width, height);
  canvas.toBlob(blob => { if (blob) save(name, "image/png", blob); });
}
