/** The README's code runs as it stands. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { SST } from "./bundles.mjs";

const ABOUT = 'result.about("acting", "plot|story").map(({ because }) => because.text)';
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("what the README says of a text", () => {
  const [, code] = README.match(/^```js\n(.*?)^```/ms);
  const shown = [...code.matchAll(/^(result\S.*?); \/\/ (\[?"[^:\n]*"\]?|-?[\d.]+)(:| \(|$)/gm)].map(([, expression, value]) => [expression, value]);
  const named = ["result.label", "result.polarity", "result.highlights(3).map(({ text }) => text)", ABOUT, "result.sentences[1].brackets"];
  assert.deepEqual(shown.map(([expression]) => expression), named);
  const asked = [...named, "result.scores", "result.svg()"].join(", ");
  const program = `${code.replace('"models/sentiment/"', JSON.stringify(SST))}\nconsole.log(JSON.stringify([${asked}]))`;
  const cwd = fileURLToPath(new URL("..", import.meta.url)); // where "thinstack" is this package
  const found = JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" }));
  shown.forEach(([expression, value], place) => {
    if (typeof found[place] === "number") assert.equal(found[place].toFixed(3), value, expression);
    else assert.deepEqual(found[place], JSON.parse(value), expression);
  });
  const [least, next] = Object.values(found[5]).map((score) => score.toFixed(3));
  assert.ok(code.includes(`{ "very negative": ${least}, negative: ${next}, ... }`));
  assert.match(found[6], /^<svg /);
});
