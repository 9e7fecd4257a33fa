/** For exports.py: `node exports.mjs node|web BUNDLE` compares a bundle with its cases in onnxruntime-node or onnxruntime-web, which
 * `npm ci` in js/ installs. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

process.env.ORT_DISABLE_TELEMETRY ||= "1"; // before it is imported
const [runtime, folder] = process.argv.slice(2);
const ort = createRequire(new URL("../../js/package.json", import.meta.url))(`onnxruntime-${runtime}`);
const session = await ort.InferenceSession.create(await readFile(join(folder, "onnx", "model.onnx")));
const { cases, tolerance } = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
let largest = 0;
for (const { inputs, outputs } of cases) {
  const feeds = {};
  for (const { name, type } of session.inputMetadata) {
    // Without transitions a model parses, and without breaks every sentence is a tree.
    const values = inputs[name] ?? (name === "breaks" ? inputs.lengths.map(() => 0) : []);
    const numbers = type === "int64" ? BigInt64Array.from(values, BigInt) : Int32Array.from(values);
    feeds[name] = new ort.Tensor(type, numbers, [values.length]);
  }
  const results = await session.run(feeds);
  for (const [name, rows] of Object.entries(outputs)) {
    const wanted = rows.flat();
    const { data, dims } = results[name] ?? { data: [], dims: [] };
    const differences = wanted.map((value, i) => Math.abs(Number(data[i]) - value) / Math.max(1, Math.abs(value)));
    const fits = dims[0] === rows.length && data.length === wanted.length;
    largest = Math.max(largest, fits ? Math.max(0, ...differences) : Infinity); // which keeps a NaN
  }
}
console.log(`largest difference ${largest.toExponential(1)}`);
process.exitCode = largest <= tolerance ? 0 : 1;
