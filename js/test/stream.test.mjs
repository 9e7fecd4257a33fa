/** Texts from iterables, and texts that cannot be read. */
import assert from "node:assert/strict";
import test, { before } from "node:test";

import * as ort from "onnxruntime-node";

import { load } from "../dist/node.js";
import { SST } from "./bundles.mjs";

let model;
before(async () => {
  model = await load(SST);
});

/** Texts by number, and how many were asked for; an error behind the last. */
function source(count, error) {
  const state = { asked: 0, closed: false };
  function* texts() {
    try {
      while (state.asked < count) yield `The film ${state.asked++} is good.`;
      if (error) throw error;
    } finally {
      state.closed = true;
    }
  }
  async function* slowly() {
    yield* texts();
  }
  return { state, texts, slowly };
}

async function all(results) {
  const found = [];
  for await (const result of results) found.push(result);
  return found;
}

test("a stream has the results of an array, in order, of any iterable", async () => {
  const { texts } = source(300);
  const expected = await model.predict([...texts()]);
  for (const name of ["texts", "slowly"]) assert.deepEqual(await all(model.stream(source(300)[name]())), expected);
  const promises = new Set(["Good.", Promise.resolve("Bad."), ""]);
  assert.deepEqual((await all(model.stream(promises, { source: "left", split: false }))).map(({ text }) => text), ["Good.", "Bad.", ""]);
  assert.deepEqual(await all(model.stream([])), []);
});

test("it reads no more than one batch ahead, and closes what it reads", async () => {
  for (const name of ["texts", "slowly"]) {
    const given = source(1e9);
    let count = 0;
    for await (const { text } of model.stream(given[name]())) {
      assert.equal(text, `The film ${count++} is good.`);
      assert.ok(given.state.asked - count < 128, `${given.state.asked} after ${count}`);
      if (count === 200) break;
    }
    assert.ok(given.state.closed);
  }
});

test("a text that comes alone is not kept waiting", { timeout: 20_000 }, async () => {
  let say;
  async function* conversation() {
    yield "Good.";
    yield "Bad.";
    yield await new Promise((done) => (say = done));
    await new Promise(() => {}); // no more, and no end
  }
  const stream = model.stream(conversation());
  assert.equal((await stream.next()).value.text, "Good.");
  assert.equal((await stream.next()).value.text, "Bad.");
  const third = stream.next();
  setTimeout(() => say("So-so."), 30);
  assert.equal((await third).value.text, "So-so.");
  assert.deepEqual(await stream.return(), { done: true, value: undefined });
});

test("errors come behind the results before them, and name the place of the text", async () => {
  const broken = new TypeError("the file is gone");
  const cases = [
    [source(150, broken).slowly(), 150, broken],
    [[...source(140).texts(), 5, "x"], 140, { name: "InputError", message: /^text 140: expected a string, found number/ }],
    [["Good.", "a\ud800"], 1, { name: "InputError", message: /^text 1: not Unicode text/ }],
  ];
  for (const [texts, count, error] of cases) {
    const found = [];
    const read = async () => {
      for await (const result of model.stream(texts)) found.push(result);
    };
    await assert.rejects(read(), error);
    assert.equal(found.length, count);
  }
  for (const [texts, message] of [["a text", /call predict/], [new Map(), /map\.values/], [{ a: ["good"] }, /texts\["a"\]/], [5, /an array/], [Buffer.from("a"), /TextDecoder/]]) {
    assert.throws(() => model.stream(texts), { name: "InputError", message });
  }
  assert.throws(() => model.stream([], { source: "up" }), { name: "InputError", message: /unknown tree source up/ });
});

test("who takes errors gets an empty result in the place of each", async () => {
  const texts = ["Good.", null, "a\ud800", "Bad.", ["x"], ""];
  const told = [];
  const onError = (place, { name, message }) => told.push([place, name, message.slice(0, 8)]);
  const expected = [[1, "InputError", "text 1: "], [2, "InputError", "text 2: "], [4, "InputError", "text 4: "]];
  for (const call of [() => model.predict(texts, { onError }), () => all(model.stream(texts, { onError }))]) {
    const found = await call();
    assert.deepEqual(found.map(({ text, label }) => [text, label?.split(" ").at(-1) ?? null]), [["Good.", "positive"], ["", null], ["a\ud800", null], ["Bad.", "negative"], ["", null], ["", null]]);
    assert.deepEqual(told.splice(0), expected);
  }
  await assert.rejects(model.predict(texts, { source: "up", onError }), /unknown tree source up/);
  await assert.rejects(model.predict(texts, { onError: () => { throw new RangeError("enough"); } }), RangeError);
  assert.deepEqual(told, []);
});

test("a model that fails names the text", async () => {
  const run = () => Promise.reject(new Error("broken"));
  const create = async (...given) => Object.assign(await ort.InferenceSession.create(...given), { run });
  const own = await load(SST, { runtime: { InferenceSession: { create }, Tensor: ort.Tensor } });
  await assert.rejects(own.predict(["", "Good.", "Bad."]), { name: "BundleError", message: /^text 1: / });
  const told = [];
  const found = await own.predict(["", "Good."], { onError: (place) => told.push(place) });
  assert.deepEqual([told, found.map(({ text }) => text)], [[1], ["", "Good."]]);
});
