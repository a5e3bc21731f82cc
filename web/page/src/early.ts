/* The engine is unpacked and compiled while the browser is still reading the page's own script. */
const text = document.getElementById("wasm")!.textContent!;
const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
const packed = direct ? direct.call(Uint8Array, text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
performance.mark("decoded");
const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
(window as unknown as { engine: Promise<WebAssembly.Module> }).engine =
  WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
