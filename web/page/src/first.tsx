/* The first screens as text, made when the page is built: what the engine answers to the addresses that name no
 * model of the reader's. They are shown until the engine has been unpacked, and give way to the same made anew; what stands
 * below their pictures, the equation for readers aloud, and the glyph whose font the browser has to look for, come then. */
import { renderToString } from "preact-render-to-string";
import { App } from "./app";
import type { Client } from "./client";
import { Engine } from "./engine";
import { Page } from "./main";
import { frontOf, MEASURED } from "./model_asks";
import { CHAPTER_IDS, START } from "./state";

export { Engine };
export async function firsts(engine: Engine): Promise<Record<string, string>> {
  const made: Record<string, string> = {};
  for (const hash of ["#model", ...CHAPTER_IDS.map(id => `#lecture/${id}`)]) {
    const app = new App(engine, { forget: () => undefined } as unknown as Client), front = frontOf(START.A);
    if (hash === "#model") for (const [lane, question] of [["frontA", front], ["measured", MEASURED]] as const) app.learn(lane, question, engine.ask((question as { words: string[] }).words));
    await app.go(hash);
    made[hash] = renderToString(<Page app={app} />).replace(/<div class="(two text|notes)">.*<\/main>/s, "</main>").replace("◐", "").replace(/<footer>.*<\/footer>/s, "").replace(/<math class="spoken">.*?<\/math>| aria-value\w+="[^"]*"/gs, "");
  }
  return made;
}
