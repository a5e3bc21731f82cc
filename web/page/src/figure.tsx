/* A picture in the page: mounted once, told of every change, removed with the board that it is of. It is drawn in the same
 * frame as the numbers, so that the browser lays the page out once; while a hand moves, when its turn comes. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { App } from "./app";
import { type Mounted, mountPicture } from "./drawing";
import type { Picture } from "./picture_type";

export interface Moves { drag?: (x: number, y: number, done: boolean) => void; mark?: (name: string, x: number, done: boolean) => void }

export function Figure({ app, id, picture, moves, old, height = 0, low }: { app: App; id: string; picture: () => Picture; moves?: Moves; old?: boolean; height?: number; low?: boolean }) {
  const host = useRef<HTMLDivElement>(null), mounted = useRef<Mounted | null>(null), now = useRef(moves), make = useRef(picture);
  now.current = moves;
  make.current = picture;
  useLayoutEffect(() => {
    const drawing = mounted.current = mountPicture(host.current!, app.engine, { height,
      ...(moves?.drag ? { drag: (x, y, done) => now.current?.drag?.(x, y, done) } : {}),
      ...(moves?.mark ? { mark: (name, x, done) => now.current?.mark?.(name, x, done) } : {}) });
    const figure = { seen: () => drawing.seen, draw: () => drawing.update(make.current()) };
    app.figures.add(figure);
    if (app.moving) figure.draw();
    return () => { app.figures.delete(figure); drawing.remove(); };
  }, []);
  useLayoutEffect(() => { if (!app.moving) mounted.current!.update(picture()); });
  return <div id={id} class={`drawn${low ? " low" : ""}${old ? " old" : ""}`} ref={host} />;
}

/* In a picture's place, why it waits. */
export const Waits = ({ low, why = "The picture is drawn once the engine has been unpacked." }: { low?: boolean; why?: string }) => <div class={low ? "drawn low" : "reserved"}><p class="note">{why}</p></div>;
