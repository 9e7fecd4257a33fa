/** Bundles that are whole are read, and others are refused with a message that says what to do. */
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, truncate, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { load } from "../dist/node.js";
import * as web from "../dist/web.js";
import { GOLDEN, changed, copied, resealed } from "./bundles.mjs";
import { served } from "./served.mjs";

/** That a bundle is refused, with this in the message. */
function refused(folder, message, name = "BundleError") {
  return assert.rejects(load(folder), (error) => {
    assert.equal(error.name, name);
    assert.match(error.message, message);
    return true;
  });
}

test("a bundle is found by path, by file URL and by HTTP, with a slash at its end or without", async (t) => {
  const server = await served(GOLDEN);
  t.after(server.close);
  for (const place of [GOLDEN, `${GOLDEN}/`, pathToFileURL(GOLDEN), pathToFileURL(`${GOLDEN}/`).href, server.url, `${server.url}/`]) {
    const model = await load(place);
    assert.deepEqual([...model.labels], ["bad", "so-so", "schön"]);
    assert.deepEqual([model.manifest.metrics, model.manifest.data], [{ accuracy: 33.5 }, "none"]);
  }
  await assert.rejects(web.load(`${server.url}/elsewhere`), { name: "BundleError", message: /elsewhere\/manifest\.json: cannot be read: status 404/ });
});

test("a manifest with numbers and texts of all kinds keeps its digest", async (t) => {
  const folder = await copied(t);
  const odd = { 'a "digest":"x", b\\': ['\\"digest\\":\\"', " { } : , "], n: [1e21, -0.5, 1e-9], s: "\u2028 é 😀 \n", x: { digest: "0", e: 1 } };
  await resealed(folder, (manifest) => (manifest.metrics = odd));
  assert.deepEqual((await load(folder)).manifest.metrics, odd);
});

test("no bundle", async (t) => {
  await refused(join(GOLDEN, "none"), /none\/manifest\.json: cannot be read: ENOENT.*expected the folder of a bundle/);
  await refused("a\0b", /cannot be read/);
  for (const place of ["http://[", "file://elsewhere/x", undefined]) await refused(place, /expected the path or the URL of a bundle/, "InputError");
  await assert.rejects(web.load("models/sentiment"), { name: "InputError", message: /models\/sentiment: expected the URL of a bundle/ });
  const folder = await copied(t);
  for (const [content, message] of [
    ["{}", /not the manifest of a thinstack bundle/],
    ["[]", /expected a JSON object/],
    ["{", /not readable as JSON/],
    [Buffer.from([0xff]), /cannot be read as UTF-8/],
    [`{"a": "${"x".repeat(1 << 20)}"}`, /1048585 bytes; expected at most 1048576/],
  ]) {
    await writeFile(join(folder, "manifest.json"), content);
    await refused(folder, message);
  }
});

test("a changed manifest", async (t) => {
  const folder = await copied(t);
  const path = join(folder, "manifest.json");
  await writeFile(path, (await readFile(path, "utf8")).replace("33.5", "99.5"));
  await refused(folder, /changed \(its digest does not match\); export, copy or install the bundle again/);
});

test("a file that is damaged, short, gone or not listed", async (t) => {
  for (const file of ["vocabulary.txt", "config.json", "onnx/model.onnx"]) {
    const folder = await copied(t);
    const path = join(folder, file);
    const content = await readFile(path);
    content[content.length >> 1] ^= 1;
    await writeFile(path, content);
    await refused(folder, /its SHA-256 is not the one in the manifest, so the file is damaged/);
    await truncate(path, content.length - 1);
    await refused(folder, /bytes, but the manifest says/);
    await unlink(path);
    await refused(folder, /cannot be read: ENOENT.*; export, copy or install the bundle again/);
  }
  const folder = await copied(t);
  await resealed(folder, ({ files }) => delete files["onnx/model.onnx"]);
  await refused(folder, /this bundle has no onnx\/model\.onnx; it has README\.md, cases\.json/);
});

test("a newer schema", async (t) => {
  const folder = await copied(t);
  await resealed(folder, (manifest) => Object.assign(manifest, { schema_version: 2, producer: { name: "thinstack", version: "9.1" } }));
  await refused(folder, /schema 2, but thinstack .* reads schemas up to 1; install a newer thinstack: 9\.1 or later$/);
  const other = await copied(t);
  await changed(other, "config.json", (text) => text.replace('"schema_version": 1', '"schema_version": 2'));
  await refused(other, /config\.json: schema 2, but/);
});

test("sets of classes that are none", async (t) => {
  for (const sets of ['{"a": ["bad"]}', '{"a": ["bad"], "b": []}', '{"a": ["bad"], "b": ["bad"]}', '{"a": ["bad"], "b": ["good"]}', '{"a": "bad", "b": "schön"}', "[1]", "5"]) {
    const folder = await copied(t);
    await changed(folder, "config.json", (text) => text.replace('"class_sets": {}', `"class_sets": ${sets}`));
    await refused(folder, /config\.json: class_sets: expected two or more labels/);
  }
});

test("a name that leads out of the bundle", async (t) => {
  for (const name of ["../x", "/x", "a/../x", "a//b", ".x", "a\\b", "x\n"]) {
    const folder = await copied(t);
    await resealed(folder, ({ files }) => (files[name] = files["config.json"]));
    await refused(folder, /expected a plain name/);
  }
});

test("a configuration, vocabulary or table that fits nothing", async (t) => {
  for (const [file, from, to, message] of [
    ["config.json", '"so-so"', '"bad"', /labels: expected two or more different names/],
    ["config.json", '"kind": "words"', '"kind": "bytes"', /embedding\.kind: expected words or wordpieces, found bytes/],
    ["config.json", '"kind": "words"', '"kind": "wordpieces"', /lacks \[UNK\]|expected the int32/],
    ["config.json", '"trees": "binary"', '"trees": "dependency"', /expected a model of binary trees or plain sentences/],
    ["config.json", '"tree_source": "balanced"', '"tree_source": "self"', /tree_source: self needs a parser/],
    ["config.json", '"schön"', '"schon"', /exported with labels \["bad", "so-so", "schön"\], but the bundle has/],
    ["vocabulary.txt", "the\n", "\n", /expected a word, found an empty line/],
    ["vocabulary.txt", "the\n", "film\n", /occurs twice/],
    ["vocabulary.txt", "the\n", "THE\n", /exported with vocabulary_digest/],
  ]) {
    const folder = await copied(t);
    await changed(folder, file, (text) => {
      assert.ok(text.includes(from), `${file} has no ${from}`);
      return text.replace(from, to);
    });
    await refused(folder, message);
  }
  const folder = await copied(t);
  await changed(folder, "onnx/model.onnx", () => "no graph at all");
  await refused(folder, /onnxruntime cannot load it|not an ONNX file/);
});

test("where digests cannot be computed nothing is read", async (t) => {
  const { crypto } = globalThis;
  t.after(() => Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true }));
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  await refused(GOLDEN, /insecure page: serve it over https, or from localhost/);
});

test("without onnxruntime the error says what to install", async (t) => {
  const alone = await mkdtemp(join(tmpdir(), "thinstack-"));
  t.after(() => rm(alone, { recursive: true }));
  await cp(fileURLToPath(new URL("../dist", import.meta.url)), alone, { recursive: true });
  await writeFile(join(alone, "package.json"), '{ "type": "module" }');
  const own = await import(pathToFileURL(join(alone, "node.js")).href);
  await assert.rejects(own.load(GOLDEN), { name: "MissingExtraError", message: /npm install onnxruntime-node$/ });
  const server = await served(GOLDEN);
  t.after(server.close);
  const page = await import(pathToFileURL(join(alone, "web.js")).href);
  await assert.rejects(page.load(server.url), { name: "MissingExtraError", message: /npm install onnxruntime-web, or pass its module/ });
  const runtime = await import("onnxruntime-web");
  assert.equal((await page.load(server.url, { runtime })).labels.length, 3);
});
