/** onnxruntime-node writes nothing below the home and tells nobody what runs, unless the user wants it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { GOLDEN } from "./bundles.mjs";

const NODE = JSON.stringify(new URL("../dist/node.js", import.meta.url).href);

for (const [given, wanted] of [[undefined, "1"], ["", "1"], ["0", "0"]]) {
  test(`where the variable is ${given}, it is ${wanted}`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), "thinstack-"));
    t.after(() => rm(home, { recursive: true }));
    const { ORT_DISABLE_TELEMETRY: _, ...others } = process.env;
    const env = { ...others, HOME: home, ...(given !== undefined && { ORT_DISABLE_TELEMETRY: given }) };
    const code = `const { load } = await import(${NODE}); await load(${JSON.stringify(GOLDEN)}); console.log(process.env.ORT_DISABLE_TELEMETRY)`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], { env, cwd: home });
    assert.equal(stdout.trim(), wanted);
    if (wanted === "1") assert.deepEqual(await readdir(home), []);
  });
}
