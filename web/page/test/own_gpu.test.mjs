/* What browsers call the GPU that they draw with, reduced to a machine by the engine's own names. */
import assert from "node:assert";
import { test } from "node:test";
import { engine, source } from "./engine.mjs";

const TOLD = [
  ["ANGLE (NVIDIA, NVIDIA GeForce RTX 4090 (0x00002684) Direct3D11 vs_5_0 ps_5_0, D3D11)", "RTX 4090"],
  ["ANGLE (NVIDIA GeForce RTX 3090 Direct3D11 vs_5_0 ps_5_0)", "RTX 3090"],
  ["ANGLE (NVIDIA Corporation, NVIDIA GeForce RTX 3080/PCIe/SSE2, OpenGL 4.5.0)", "RTX 3080"],
  ["ANGLE (NVIDIA, Vulkan 1.3.242 (NVIDIA NVIDIA GeForce RTX 4080 (0x00002704)), NVIDIA)", "RTX 4080"],
  ["NVIDIA GeForce RTX 4070/PCIe/SSE2", "RTX 4070"],
  ["ANGLE (NVIDIA, NVIDIA GeForce RTX 4060 Laptop GPU (0x000028E0) Direct3D11 vs_5_0 ps_5_0, D3D11)", "RTX 4060 Laptop"],
  ["ANGLE (AMD, AMD Radeon RX 6800 XT (0x000073BF) Direct3D11 vs_5_0 ps_5_0, D3D11)", "RX 6800 XT"],
  ["AMD Radeon RX 7900 XTX (radeonsi, navi31, LLVM 15.0.7, DRM 3.54, 6.5.0)", "RX 7900 XTX"],
  ["ANGLE (AMD, AMD Radeon RX 7900 XTX (radeonsi, navi31, LLVM 15.0.7), OpenGL 4.6)", "RX 7900 XTX"],
  ["ANGLE (Apple, ANGLE Metal Renderer: Apple M3 Pro, Unspecified Version)", "M3 Pro"],
  ["Apple M1", "M1"],
  ["ANGLE (Intel, Intel(R) Arc(TM) B580 Graphics (0x0000E20B) Direct3D11 vs_5_0 ps_5_0, D3D11)", "Arc B580"],
];
const MASKED = ["", "Apple GPU", "WebKit WebGL", "Mozilla", "GeForce GTX 980, or similar", "Apple M1, or similar", "ANGLE (NVIDIA, NVIDIA GeForce GTX 980 Direct3D11 vs_5_0 ps_5_0), or similar",
  "llvmpipe (LLVM 15.0.6, 256 bits)", "ANGLE (Mesa, llvmpipe (LLVM 15.0.6 256 bits), OpenGL 4.5)", "Google SwiftShader",
  "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)", "ANGLE (Microsoft, Microsoft Basic Render Driver (0x0000008C) Direct3D11 vs_5_0 ps_5_0, D3D11)",
  "ANGLE (Intel, Intel(R) UHD Graphics 620 (0x00005917) Direct3D11 vs_5_0 ps_5_0, D3D11)"];

test("a renderer's name is a machine of the catalog, or none", async () => {
  const { deviceOf } = await source("own_gpu.ts"), page = await engine();
  const machine = name => name && !page.ask(["eval", "hbm_capacity", "--on", name]).error ? page.board(0, ["--on", name], ["hbm_capacity"]).machine : "";
  for (const [renderer, title] of TOLD) assert.ok(machine(deviceOf(renderer)).includes(title), `${renderer}: “${deviceOf(renderer)}” is “${machine(deviceOf(renderer))}”`);
  for (const renderer of MASKED) assert.equal(machine(deviceOf(renderer)), "", `${renderer}: “${deviceOf(renderer)}”`);
});
