/** What onnxruntime is asked for where a model is to run on a GPU, and what follows where that fails. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";

import { load } from "../dist/node.js";
import { GOLDEN, SST, changed, copied, resealed } from "./bundles.mjs";
import { pretended } from "./pretended.mjs";

const TEXTS = ["The acting is strong, but the plot never comes alive. Still, I liked it.", "Good."];
const LOST = "OrtRun(). ERROR_MESSAGE: buffer_manager.cc:643 Success was false. The Device was lost before mapping was resolved.\n";
const GPU_FILE = "onnx/model.gpu.onnx";

const OWN = Object.getOwnPropertyDescriptor(globalThis, "navigator");

/** The adapter that the browser gives, until the test ends. */
function adapter(t, found) {
  t.after(() => (OWN ? Object.defineProperty(globalThis, "navigator", OWN) : delete globalThis.navigator));
  Object.defineProperty(globalThis, "navigator", { value: { gpu: { requestAdapter: async () => found } }, configurable: true });
}

test("the file for GPUs has the weights of the other, and says what the same model says", async () => {
  const [runtime, asked] = pretended();
  const model = await load(SST, { device: "webgpu", runtime });
  assert.equal(model.device, "webgpu");
  const [{ model: file, providers }] = asked;
  const [own, beside] = await Promise.all([GPU_FILE, "onnx/model.onnx"].map((name) => readFile(join(SST, name))));
  assert.ok(file.length > beside.length && file.length < own.length + beside.length);
  assert.equal(providers.length, 1);
  assert.equal(providers[0].name, "webgpu");
  assert.ok(providers[0].forceCpuNodeNames.length > 100 && providers[0].forceCpuNodeNames.every((name) => own.includes(name)));
  const [found, expected] = [await model.predict(TEXTS), await (await load(SST)).predict(TEXTS)];
  found.forEach((result, place) => {
    assert.ok(Math.abs(result.polarity - expected[place].polarity) < 0.05); // 8 bits on the CPU, 32 on a GPU
    assert.deepEqual(result.sentences.map(({ brackets }) => brackets), expected[place].sentences.map(({ brackets }) => brackets));
  });
});

test("a bundle without such a file runs as it is, and on the CPU none is read", async (t) => {
  const [runtime, asked] = pretended();
  assert.equal((await load(GOLDEN, { device: "webgpu", runtime })).device, "webgpu");
  assert.deepEqual(Buffer.from(asked[0].model), await readFile(join(GOLDEN, "onnx/model.onnx")));
  assert.deepEqual(asked[0].providers, [{ name: "webgpu" }]); // onnxruntime-node refuses an undefined list
  const folder = await copied(t, SST);
  await unlink(join(folder, GPU_FILE));
  assert.equal((await load(folder)).device, "cpu");
  await assert.rejects(load(folder, { device: "webgpu", runtime }), { name: "BundleError", message: /model\.gpu\.onnx: cannot be read/ });
  await resealed(folder, ({ files }) => delete files[GPU_FILE]);
  assert.equal((await load(folder, { device: "webgpu", runtime })).device, "webgpu");
});

test("a file for GPUs that is damaged is named", async (t) => {
  const folder = await copied(t, SST);
  await changed(folder, GPU_FILE, () => "no graph at all");
  const message = /model\.gpu\.onnx: not an ONNX file that thinstack reads/;
  for (const device of ["webgpu", "auto"]) {
    adapter(t, { info: {} });
    await assert.rejects(load(folder, { device, runtime: pretended()[0] }), { name: "BundleError", message });
  }
});

test("a file for GPUs that was written for another model is refused", async (t) => {
  const folder = await copied(t, SST);
  const { sha256 } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")).files["onnx/model.onnx"];
  const content = await readFile(join(folder, GPU_FILE), "latin1");
  await writeFile(join(folder, GPU_FILE), content.replace(sha256, "0".repeat(64)), "latin1");
  const digest = createHash("sha256").update(await readFile(join(folder, GPU_FILE))).digest("hex");
  await resealed(folder, ({ files }) => (files[GPU_FILE].sha256 = digest));
  const message = /model\.gpu\.onnx: written for another model\.onnx/;
  await assert.rejects(load(folder, { device: "webgpu", runtime: pretended()[0] }), { name: "BundleError", message });
});

test("auto takes a GPU, and no program that stands for one", async (t) => {
  for (const [found, device] of [[{ info: { isFallbackAdapter: false } }, "webgpu"], [{}, "webgpu"], [{ info: { isFallbackAdapter: true } }, "cpu"], [null, "cpu"]]) {
    adapter(t, found);
    assert.equal((await load(SST, { device: "auto", runtime: pretended()[0] })).device, device);
  }
  Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
  assert.equal((await load(SST, { device: "auto", runtime: pretended()[0] })).device, "cpu");
  await assert.rejects(load(SST, { device: "gpu" }), { name: "InputError", message: "device: expected cpu, webgpu or auto, found gpu" });
});

test("a GPU that cannot be used is an error, and for auto the CPU", async (t) => {
  adapter(t, { info: {} });
  for (const [said, told] of [
    ["no available backend found. ERR: [webgpu] backend not found.", "[webgpu] backend not found"],
    ["/onnxruntime_src/webgpu_context.cc:136 status == Success was false. Failed to get a WebGPU adapter: No supported adapters\n", "Failed to get a WebGPU adapter: No supported adapters"],
  ]) {
    const [runtime, asked] = pretended((run) => (run ? undefined : said));
    const message = `device webgpu does not work here: ${told}. It needs a GPU and a build of onnxruntime with WebGPU (in a page onnxruntime-web/webgpu); device "cpu" runs anywhere`;
    await assert.rejects(load(SST, { device: "webgpu", runtime }), { name: "DeviceError", message });
    assert.equal((await load(SST, { device: "auto", runtime })).device, "cpu");
    assert.deepEqual(asked.at(-1).providers, ["cpu"]);
  }
});

test("a GPU that is lost is an error of no single text, and auto goes on on the CPU", async (t) => {
  adapter(t, { info: {} });
  const lost = (run) => (run > 1 ? LOST : undefined);
  const model = await load(SST, { device: "webgpu", runtime: pretended(lost)[0] });
  await model.predict("Good.");
  const told = [];
  const message = /^WebGPU failed on 3 sentences: The Device was lost before mapping was resolved\. Start the page or process again; device "cpu" runs anywhere$/;
  await assert.rejects(model.predict(TEXTS, { onError: (place) => told.push(place) }), { name: "DeviceError", message });
  assert.deepEqual(told, []);
  const other = await load(SST, { device: "auto", runtime: pretended(lost)[0] });
  await other.predict("Good.");
  assert.equal(other.device, "webgpu");
  const found = await other.predict(TEXTS);
  assert.equal(other.device, "cpu");
  assert.deepEqual(JSON.stringify(found), JSON.stringify(await (await load(SST)).predict(TEXTS)));
});
