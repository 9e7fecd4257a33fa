/** For lab/benchmarks/javascript.py: `node bench.mjs BUNDLE TEXTS node|web` predicts all texts for each line of standard input. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { served } from "./test/served.mjs";

const [bundle, path, entry] = process.argv.slice(2);
const texts = JSON.parse(readFileSync(path, "utf8"));
const { load } = await import(`./dist/${entry}.js`);
if (entry === "web") (await import("onnxruntime-web")).env.wasm.numThreads = 1;
const server = entry === "web" ? await served(bundle) : undefined;
const model = await load(server?.url ?? bundle);
for await (const _ of createInterface({ input: process.stdin })) {
  const found = await model.predict(texts);
  console.log(found.reduce((sum, { sentences }) => sum + sentences.length, 0));
}
server?.close();
