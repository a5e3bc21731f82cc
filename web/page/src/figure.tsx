/* A picture in the page: mounted once, told of every change, removed with the board that it is of. It is drawn in the same
 * frame as the numbers, so that the browser lays the page out once; while a hand moves, one picture a frame is. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { App } from "./app";
import { type Mounted, mountPicture } from "./drawing";
import type { Picture } from "./picture_type";

export interface Moves { drag?: (x: number, y: number, done: boolean) => void; mark?: (name: string, x: number, done: boolean) => void }

export function Figure({ app, id, picture, moves, old, height = 0, low }: { app: App; id: string; picture: Picture; moves?: Moves; old?: boolean; height?: number; low?: boolean }) {
  const host = useRef<HTMLDivElement>(null), mounted = useRef<Mounted | null>(null), now = useRef(moves), shown = useRef<Picture | null>(null);
  now.current = moves;
  useLayoutEffect(() => {
    mounted.current = mountPicture(host.current!, app.engine, { height,
      ...(moves?.drag ? { drag: (x, y, done) => now.current?.drag?.(x, y, done) } : {}),
      ...(moves?.mark ? { mark: (name, x, done) => now.current?.mark?.(name, x, done) } : {}) });
    return () => { mounted.current?.remove(); mounted.current = null; };
  }, []);
  useLayoutEffect(() => {
    if (shown.current === picture || app.moving && !mounted.current?.turn(app.turn)) return;
    shown.current = picture;
    mounted.current?.update(picture);
  });
  return <div id={id} class={`drawn${low ? " low" : ""}${old ? " old" : ""}`} ref={host} />;
}
