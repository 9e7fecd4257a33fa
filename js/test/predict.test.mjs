/** What users call: loading, asking, and what comes back. Python's tests compare the numbers. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test, { before } from "node:test";
import { deserialize, serialize } from "node:v8";

import { InputError, ThinstackError, VERSION, load, splitText } from "../dist/node.js";
import { GOLDEN, SST } from "./bundles.mjs";

let model;
before(async () => {
  model = await load(SST);
});

test("the reference cases of the bundle hold", async () => {
  const { cases, tolerance } = JSON.parse(await readFile(join(SST, "cases.json"), "utf8"));
  const pieces = (await readFile(join(SST, "vocabulary.txt"), "utf8")).split("\n");
  // A case of whose words each is one piece that spells itself can be asked in words.
  const spelt = cases.filter(
    ({ inputs }) =>
      !inputs.transitions.length && inputs.pieces_per_word.every((count) => count === 1) && inputs.piece_ids.every((id) => /^[a-z]+$/.test(pieces[id])),
  );
  assert.ok(spelt.length > 0);
  for (const { inputs, outputs } of spelt) {
    let next = 0;
    const words = inputs.lengths.map((length) => inputs.piece_ids.slice(next, (next += length)).map((id) => pieces[id]));
    const found = await model.predictWords(words);
    assert.deepEqual(found.flatMap(({ transitions }) => transitions), outputs.parse);
    const rows = found.flatMap(({ nodeScores }) => nodeScores);
    outputs.node_scores.forEach((row, node) => row.forEach((score, label) => assert.ok(Math.abs(rows[node][label] - score) <= tolerance)));
  }
});

test("a text, its sentences, phrases and words", async () => {
  const text = "😀 A good film. The 2nd half is dull 👍🏽!";
  const found = await model.predict(text);
  assert.equal(found.text, text);
  assert.deepEqual(Object.keys(found.scores), [...model.labels]);
  assert.ok(Math.abs(Object.values(found.scores).reduce((sum, score) => sum + score) - 1) < 1e-6);
  assert.deepEqual(found.sentences.map((sentence) => sentence.text), ["😀 A good film.", "The 2nd half is dull 👍🏽!"]);
  for (const sentence of found.sentences) {
    assert.equal(text.slice(sentence.start, sentence.start + sentence.text.length), sentence.text);
    const words = sentence.offsets.map(([start, end]) => sentence.text.slice(start, end));
    assert.equal(words.join(""), sentence.text.replaceAll(" ", ""));
    const leaves = [];
    const visit = (phrase) => {
      assert.equal(text.slice(phrase.start, phrase.end), phrase.text);
      assert.equal(phrase.scores[phrase.label], Math.max(...Object.values(phrase.scores)));
      if (!phrase.children.length) leaves.push(phrase.text);
      phrase.children.forEach(visit);
    };
    visit(sentence.tree);
    assert.deepEqual(leaves, words);
    assert.equal(sentence.tree.label, sentence.label);
  }
  assert.deepEqual(JSON.parse(JSON.stringify(found)).sentences.map(({ label }) => label), found.sentences.map(({ label }) => label));
});

test("many texts give what each gives alone", async () => {
  const texts = ["It is good.", "", "It is not good. It is bad!", "  "];
  const together = await model.predict(texts);
  assert.deepEqual(together.map(({ sentences }) => sentences.length), [1, 0, 2, 0]);
  for (const [place, text] of texts.entries()) assert.deepEqual((await model.predict(text)).toJSON(), together[place].toJSON());
  assert.deepEqual(await model.predict([]), []);
  assert.equal((await model.predict(texts[2], { split: false })).sentences.length, 1);
});

test("a text without words has no label", async () => {
  const found = await model.predict("\n");
  assert.deepEqual(found.toJSON(), { text: "\n", label: null, polarity: null, scores: {}, sentences: [] });
  assert.deepEqual([found.phrases, found.highlights()], [[], []]);
});

test("calls at the same time do not disturb each other", async () => {
  const texts = Array.from({ length: 20 }, (_, place) => "very ".repeat(place) + "good");
  const found = await Promise.all(texts.map((text) => model.predict(text)));
  assert.deepEqual(found.map(({ sentences }) => sentences[0].words.length), texts.map((_, place) => place + 1));
});

test("results stay what they are wherever they are handed on", async () => {
  const own = await load(SST, { classes: 2, abstain: 0.7 });
  const texts = ["A good film. The plot is dull!", "", "It is.", "so good ".repeat(300)];
  const found = await own.predict(texts);
  const before = structuredClone(found);
  const data = JSON.stringify(found);
  const drawn = found.map((text) => text.svg());
  await own.predict(["Other words.", ...[...texts].reverse()]);
  await own.release();
  assert.equal(JSON.stringify(found), data);
  assert.deepEqual(found.map((text) => text.svg()), drawn);

  const { port1, port2 } = new MessageChannel();
  const received = new Promise((resolve) => port2.once("message", resolve));
  port1.postMessage(found);
  const ways = [before, structuredClone(found), await received, deserialize(serialize(found)), JSON.parse(data), found.map((text) => ({ ...text }))];
  port1.close();
  for (const way of ways) {
    for (const [place, text] of found.entries()) {
      const rounded = way === ways[4];
      const scores = rounded ? text.toJSON().scores : text.scores;
      const polarity = rounded ? text.toJSON().polarity : text.polarity;
      assert.deepEqual([way[place].text, way[place].label, way[place].polarity, way[place].scores], [text.text, text.label, polarity, scores]);
      for (const [number, sentence] of text.sentences.entries()) {
        const other = way[place].sentences[number];
        const row = rounded ? sentence.toJSON().scores : sentence.scores;
        assert.deepEqual([other.text, other.label, other.scores], [sentence.text, sentence.label, row]);
      }
      assert.deepEqual(structuredClone(text.toNested()), text.toNested());
      assert.deepEqual(JSON.parse(JSON.stringify(text.toNested())), text.toNested());
    }
  }
  assert.deepEqual(Object.keys(found[0]), ["text", "label", "polarity", "scores", "sentences", "known", "vector"]);
});

test("what is no input is refused", async () => {
  async function* texts() {}
  const cases = [
    [() => model.predict(["good", 5]), /text 1: expected a string, found number/],
    [() => model.predict(), /text 0: expected a string, found undefined/],
    [() => model.predict("a😀\ud83d"), /text 0: not Unicode text, unit 3 is \\ud83d/],
    [() => model.predict(new Set(["good"])), /expected a text or an array of texts, found Set: pass \[\.\.\.texts\]/],
    [() => model.predict(["good"].values()), /found .*: pass \[\.\.\.texts\]/],
    [() => model.predict(new Map([["a", "good"]])), /found Map: pass \[\.\.\.map\.values\(\)\]/],
    [() => model.predict({ a: "good" }), /found object: .*Object\.values/],
    [() => model.predict({ n: [1], review: ["good"] }), /found object: pass one of its columns, such as texts\["review"\]/],
    [() => model.predict([{ n: 1, review: "good" }]), /text 0: expected a string, found object: pass one of its fields, such as row\["review"\]/],
    [() => model.predict(texts()), /found AsyncGenerator: call stream/],
    [() => model.predict(Buffer.from("good")), /found Buffer: .*TextDecoder/],
    [() => model.predict(new Uint8Array(2)), /found Uint8Array: .*TextDecoder/],
    [() => model.predict(Promise.resolve("good")), /found Promise: await it/],
    [() => model.predict(new String("good")), /found String: pass String\(text\)/],
    [() => model.predict(null), /text 0: expected a string, found null/],
    [() => model.predict([["good"]]), /text 0: expected a string, found Array: call predictWords/],
    [() => model.predict(["good", new Map()]), /text 1: expected a string, found Map/],
    [() => model.predictWords("a text"), /expected an array of sentences of words, found string: split it first, or call predict/],
    [() => model.predictWords(new Set()), /expected an array of sentences of words, found Set/],
    [() => model.predictWords([new Set(["a"])]), /sentence 0: expected its words, found Set/],
    [() => model.predictWords([["good"], []]), /sentence 1 has no words/],
    [() => model.predictWords(["a text"]), /sentence 0: expected its words, found string: split it first/],
    [() => model.predictWords([["a", null]]), /sentence 0: expected words that are strings, found null/],
    [() => model.predictWords([["a", "b"]], { source: [[0, 1, 0]] }), /sentence 0 has 2 words: transition 1 is a REDUCE/],
    [() => model.predictWords([["a", "b"]], { source: [[0, 0]] }), /its tree has 3 transitions; found 2/],
    [() => model.predictWords([["a", "b"]], { source: [[0, 0, 2]] }), /transition 2 is 2/],
    [() => model.predictWords([["a", "b"]], { source: [[0, 0, 0]] }), /leaves 3 nodes/],
    [() => model.predictWords([["a", "b"]], { source: [] }), /expected a tree for each of 1 sentences, found 0/],
    [() => model.predictWords([["a", "b"]], { source: [undefined] }), /its tree has 3 transitions; found 0/],
    [() => model.predict([], { source: "up" }), /unknown tree source up/],
    [() => model.predict("a", { source: "distances" }), /unknown tree source distances; this model has balanced, left, right, self/],
    [() => load(SST, { classes: 4 }), /classes: expected 2, 3 or 5, found 4/],
    [() => load(SST, { abstain: 1 }), /abstain: expected a probability between 0 and 1, found 1/],
    [() => load(GOLDEN, { aggregation: "tree" }), /aggregation: expected mean, found tree/],
    [() => load(SST, { aggregation: "sum" }), /aggregation: expected .*mean, found sum/],
    [() => load(SST, { clases: 3 }), /^load: unknown option clases; expected classes, abstain, maxWords, aggregation, device, runtime$/],
    [() => model.predict("good", { spilt: false }), /^predict: unknown option spilt; expected source, split, onError$/],
    [() => model.predict([], { split: false, sign: true }), /^predict: unknown option sign; /],
    [() => model.encode("good", { sing: true }), /^encode: unknown option sing; expected source, split, onError, sign$/],
    [async () => model.stream([], { Split: false }), /^stream: unknown option Split; expected source, split, onError$/],
    [() => model.predictWords([["good"]], { split: false }), /^predictWords: unknown option split; expected source$/],
    [() => load(SST, { maxWords: 1 }), /maxWords is 1; expected a whole number, at least 2/],
  ];
  for (const [call, message] of cases) {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof InputError && error instanceof ThinstackError);
      assert.match(error.message, message);
      return true;
    });
  }
});

test("a model that was released frees its memory once its answers are out", async () => {
  const own = await load(SST);
  const [found] = await Promise.all([own.predict("It is good."), own.release()]);
  assert.equal(found.sentences.length, 1);
  const error = { name: "InputError", message: "this model has been released: load it again" };
  const ignored = () => assert.fail("of no text");
  for (const text of ["It is good.", ""]) await assert.rejects(own.predict(text, { onError: ignored }), error);
  await assert.rejects(own.stream(["It is good."]).next(), error);
  await assert.rejects(own.predictWords([["good"]]), error);
  await own.release();
});

test("reading hostile text takes a time that grows with it", () => {
  // Each of these once per unit of a quadratic pattern would take minutes.
  for (const unit of ["a.", "1,", "n't", "a-", ".)", ". . ", ".:(", "--", "\n ", "www.", "a@", "Mr. ", "etc. -", "😀\u200d", "#a", "("]) {
    const text = `b. ${unit.repeat(500_000 / unit.length)}b`;
    assert.ok(splitText(text).at(-1).text.endsWith("b"));
  }
});

test("the version is that of Python", async () => {
  const text = await readFile(new URL("../../thinstack/_version.py", import.meta.url), "utf8");
  assert.ok(text.includes(`__version__ = "${VERSION}"`));
});
