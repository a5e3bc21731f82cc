/* Before all else: the page's own fonts, which a browser reads only once a text asks for them, the colours, and the first
 * screen of this address as it was built. */
for (const font of document.fonts) void font.load();
const root = document.documentElement, at = location.hash || "#model";
let theme: string | null = null;
try { theme = localStorage.getItem("theme"); } catch { /* a page from a disk may have none */ }
root.dataset.theme = theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
for (const template of document.querySelectorAll<HTMLTemplateElement>("template")) {
  if (template.dataset.at === at && document.getElementById("state")!.textContent === "null" && matchMedia("(min-width: 900px)").matches) document.getElementById("page")!.append(template.content);
  template.remove();
}
