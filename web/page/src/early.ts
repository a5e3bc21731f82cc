/* The engine is unpacked and compiled in a thread of its own, while the browser shows the first screen and reads the
 * page's script. */
function unpack(this: unknown): void {
  onmessage = async ({ data }: MessageEvent) => {
    const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
    const packed = direct ? direct.call(Uint8Array, data) : Uint8Array.from(atob(data), c => c.charCodeAt(0));
    const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
    try { postMessage(await WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }))); }
    catch (error) { postMessage(String(error)); }
  };
}
const url = URL.createObjectURL(new Blob([`(${unpack})()`], { type: "text/javascript" })), worker = new Worker(url);
(window as unknown as { engine: Promise<WebAssembly.Module> }).engine = new Promise((take, refuse) => {
  worker.onmessage = ({ data }) => { worker.terminate(); if (typeof data === "string") refuse(new Error(data)); else take(data); };
  worker.onerror = event => refuse(new Error(event.message));
});
worker.postMessage(document.getElementById("wasm")!.textContent);
