/** What the names of classes say, against the table written by hand that the tests of `core/scale.py` read too. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { build } from "esbuild";

const table = JSON.parse(await readFile(new URL("../../tests/core/scales.json", import.meta.url), "utf8"));
const source = await build({ entryPoints: [new URL("../src/scale.ts", import.meta.url).pathname], bundle: true, format: "esm", write: false });
const { merged, scaleOf } = await import(`data:text/javascript,${encodeURIComponent(source.outputFiles[0].text)}`);

test("classes of sentiment stand where their names say", () => {
  for (const { labels, sides, polarity, tones, places2, places3 } of table.scales) {
    const scale = scaleOf(labels);
    assert.deepEqual(scale, { sides, polarity, tones }, labels.join());
    assert.deepEqual([merged(scale, 2)?.places, merged(scale, 3)?.places], [places2, places3], labels.join());
  }
});

test("other classes are no scale of sentiment", () => {
  for (const labels of table.none) assert.equal(scaleOf(labels), undefined, labels.join());
});

test("a class may have any name", async () => {
  const source = await build({ entryPoints: [new URL("../src/scored.ts", import.meta.url).pathname], bundle: true, format: "esm", write: false });
  const { named } = await import(`data:text/javascript,${encodeURIComponent(source.outputFiles[0].text)}`);
  assert.deepEqual(Object.entries(named([0.25, 0.75], ["__proto__", "constructor"])), [["__proto__", 0.25], ["constructor", 0.75]]);
});

test("the label of a scale is on the side of its polarity", async () => {
  const source = await build({ entryPoints: [new URL("../src/scored.ts", import.meta.url).pathname], bundle: true, format: "esm", write: false });
  const { bestOf } = await import(`data:text/javascript,${encodeURIComponent(source.outputFiles[0].text)}`);
  for (const [row, best] of [
    [[0.25, 0.2, 0.1, 0.4, 0.05], 0],
    [[0.05, 0.4, 0.1, 0.2, 0.25], 4],
    [[0.1, 0.2, 0.1, 0.4, 0.2], 3],
    [[0.2, 0.1, 0.4, 0.1, 0.2], 2],
  ]) {
    assert.equal(bestOf(row, [-1, -0.5, 0, 0.5, 1]), best);
    assert.equal(bestOf(row, null), row.indexOf(Math.max(...row)));
  }
});
