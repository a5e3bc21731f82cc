/* What chapter 7 runs before the reader's eyes: `lecture 7 --run`. */
import type { App } from "./app";
import type { Reply } from "./engine";

export function Running({ reply }: { app: App; reply: Reply | null }) {
  if (!reply?.answer || reply.error) return null;
  return null;
}
