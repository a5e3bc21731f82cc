import type { Engine } from "./engine";
import type { Picture } from "./picture_type";
export function mountPicture(host: HTMLElement, _engine: Engine, _handlers: { drag?: (x: number, y: number, done: boolean) => void; mark?: (name: string, x: number, done: boolean) => void }) {
  const title = document.createElement("p");
  host.append(title);
  host.style.minHeight = "280px";
  return { update(picture: Picture) { title.textContent = picture.title; title.style.fontWeight = "600"; }, remove() { title.remove(); } };
}
