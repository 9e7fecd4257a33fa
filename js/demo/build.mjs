/** `node build.mjs [BUNDLE]` builds demo/dist for any web server: the page, the runtime, and the bundled model or that of a folder. */
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const DIST = at("dist/");
const RUNTIME = at("../node_modules/onnxruntime-web/dist/");
const BUNDLE = process.argv[2] ?? at("../../thinstack/bundle/bundled/sentiment/");
const NAME = basename(resolve(BUNDLE));
// What running needs of the model, and its licence.
const MODEL = ["README.md", "manifest.json", "config.json", "vocabulary.txt", "onnx/model.onnx"];

rmSync(DIST, { recursive: true, force: true });
mkdirSync(join(DIST, NAME, "onnx"), { recursive: true });
cpSync(at("../../thinstack/integrations/serving/page"), DIST, { recursive: true });
const model = readFileSync(at("model.js"), "utf8"); // instead of that of `thinstack serve`
writeFileSync(join(DIST, "model.js"), model.replace("__MODEL__", NAME));
for (const name of ["tree.css", "heat.css"]) copyFileSync(at(`../../thinstack/integrations/show/${name}`), join(DIST, name));
for (const name of MODEL) if (existsSync(join(BUNDLE, name))) copyFileSync(join(BUNDLE, name), join(DIST, NAME, name));
copyFileSync(join(RUNTIME, "ort.wasm.bundle.min.mjs"), join(DIST, "onnxruntime.js"));
copyFileSync(join(RUNTIME, "ort-wasm-simd-threaded.wasm"), join(DIST, "ort-wasm-simd-threaded.wasm"));

const runtime = {
  name: "the runtime stands beside",
  setup: ({ onResolve }) => onResolve({ filter: /^onnxruntime-web/ }, () => ({ path: "./onnxruntime.js", external: true })),
};
await build({ entryPoints: [at("worker.js")], outfile: join(DIST, "worker.js"), bundle: true, format: "esm", target: "es2022", minify: true, plugins: [runtime] });

const files = readdirSync(DIST, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(DIST.length))
  .sort();
const digest = createHash("sha256");
for (const name of files) digest.update(name).update(readFileSync(join(DIST, name)));
const program = readFileSync(at("sw.js"), "utf8");
writeFileSync(
  join(DIST, "sw.js"),
  program.replace("__FILES__", JSON.stringify(["./", ...files.filter((name) => name !== "index.html")])).replace("__DIGEST__", digest.digest("hex").slice(0, 16)),
);
