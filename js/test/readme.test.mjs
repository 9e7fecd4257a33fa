/** The README's code runs as it stands. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { SST } from "./bundles.mjs";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("what the README says of a text", () => {
  const [, code] = README.match(/^```js\n(.*?)^```/ms);
  const shown = [...code.matchAll(/^(result\S*); \/\/ (".*?"|\{.*\})/gm)].map(([, expression]) => expression);
  const program = `${code.replace('"models/sst/"', JSON.stringify(SST))}\nconsole.log(JSON.stringify([${shown}, result.svg(), result.toNested()]))`;
  const cwd = fileURLToPath(new URL("..", import.meta.url)); // where "thinstack" is this package
  const found = JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" }));
  const [label, scores, first, tree, brackets, svg, nested] = found;
  assert.ok(code.includes(`result.label; // "${label}"`));
  const [least, next] = Object.values(scores).map((score) => score.toFixed(3));
  assert.ok(code.includes(`{ "very negative": ${least}, negative: ${next}, ... }`));
  assert.ok(code.includes(`.label; // "${first}"`) && code.includes(`.brackets; // "${brackets}"`));
  assert.equal(tree.text, "A good film.");
  assert.match(svg, /^<svg /);
  assert.deepEqual(nested.sentences[0].tree, tree);
});
