/* The name of the GPU that the browser draws with, as far as it tells: "ANGLE (NVIDIA, NVIDIA GeForce RTX 4090
 * (0x00002684) Direct3D11 vs_5_0 ps_5_0, D3D11)" names an "NVIDIA GeForce RTX 4090". Which machine that is, the
 * engine's names say. */

/* Of a renderer's words those that name the device; "": none does. "Or similar" stands for many others. */
export function deviceOf(renderer: string): string {
  if (/similar/.test(renderer)) return "";
  const inside = /^ANGLE \((.*)\)$/.exec(renderer)?.[1].replace(/^[\w.() ]+?, /, "") ?? renderer;
  return inside.replace(/^.*Renderer: |^Vulkan [\d.]+ \(|^Mesa (DRI )?/g, "").replace(/NVIDIA NVIDIA/, "NVIDIA").replace(/( \(| Direct3D|[\/,]).*$/, "").trim();
}

function drawn(): string {
  const gl = document.createElement("canvas").getContext("webgl"), told = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl ? String(gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return deviceOf(name);
}

interface Gpu { requestAdapter(): Promise<{ info?: { description: string; device: string } } | null> }

/* The names to be looked up, the likelier first. */
export async function ownGpu(): Promise<string[]> {
  const gpu = (navigator as unknown as { gpu?: Gpu }).gpu, info = (await gpu?.requestAdapter().catch(() => null))?.info;
  return [drawn(), info?.description, info?.device].flatMap(name => name ? [name] : []);
}
