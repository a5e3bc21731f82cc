/* Parts of a screen that keep their text while a hand moves. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { App } from "./app";

interface Parts { app: App; children: () => ComponentChildren }

/* What no hand changes. */
export function Still({ app, children }: Parts) {
  const kept = useRef<ComponentChildren>(null);
  if (!app.moving || !kept.current) kept.current = children();
  return <>{kept.current}</>;
}

/* What is out of sight. */
export function Below({ app, children, class: kind }: Parts & { class?: string }) {
  const kept = useRef<ComponentChildren>(null), host = useRef<HTMLDivElement>(null), seen = useRef(true);
  useEffect(() => {
    const viewer = new IntersectionObserver(entries => { seen.current = entries[entries.length - 1].isIntersecting; });
    viewer.observe(host.current!);
    return () => viewer.disconnect();
  }, []);
  if (!app.moving || seen.current || !kept.current) kept.current = children();
  return <div class={kind} ref={host}>{kept.current}</div>;
}
