/** Polarity, phrases and highlights. Python's tests compare the numbers of many texts. */
import assert from "node:assert/strict";
import test, { before } from "node:test";

import { Prediction, load } from "../dist/node.js";
import { GOLDEN, SST, changed, copied } from "./bundles.mjs";

const TEXT = "😀 The acting is strong, but the plot never comes alive. I liked it!";
const PLACES = [-1, -0.5, 0, 0.5, 1];
const SCALE = { labels: ["bad", "so-so", "good"], polarities: [-1, 0, 1], abstain: 0 };

let model;
before(async () => {
  model = await load(SST);
});

function mean(row) {
  return [...row].reduce((sum, score, label) => sum + score * PLACES[label], 0);
}

/** A sentence of these words, typed with the spaces that they begin with; a row of polarity for each node. */
function sentence(typed, transitions, polarity, view = SCALE) {
  const text = typed.join("");
  const ends = typed.map((_, place) => typed.slice(0, place + 1).join("").length);
  const offsets = typed.map((word, place) => [ends[place] - word.trimStart().length, ends[place]]);
  const rows = polarity.map((share) => Float32Array.of(share < 0 ? -share : 0, 1 - Math.abs(share), share > 0 ? share : 0));
  return new Prediction({ text, words: typed.map((word) => word.trim()), offsets, start: 0 }, { transitions, scores: rows, weight: 1, parts: [] }, view);
}

test("polarity is the mean place of the classes", async () => {
  const found = await model.predict(TEXT);
  assert.equal(found.polarity, mean(Object.values(found.scores)));
  for (const sentence of found.sentences) {
    assert.deepEqual([sentence.polarity, sentence.phrases.at(-1).polarity], [mean(sentence.nodeScores.at(-1)), sentence.polarity]);
    assert.deepEqual(sentence.phrases.map(({ polarity }) => polarity), sentence.nodeScores.map(mean));
    assert.equal(sentence.toJSON().nodes[0].polarity, Math.round(sentence.phrases[0].polarity * 1e6) / 1e6);
  }
  const two = await (await load(SST, { classes: 2 })).predict(TEXT);
  assert.equal(two.polarity, two.scores.positive - two.scores.negative);
});

test("classes that are no scale have no polarity", async () => {
  const found = await (await load(GOLDEN)).predict("the film is good");
  assert.deepEqual([found.polarity, found.sentences[0].polarity, found.phrases[0].polarity, found.toJSON().polarity], [null, null, null, null]);
  assert.ok(found.highlights(1)[0].scores[found.highlights(1)[0].label] > 0.3);
});

test("labels that stand for sets of classes are shown, in their order, with the places of their classes", async (t) => {
  const folder = await copied(t, SST);
  const sets = '{"0": ["neutral"], "\\"}1": ["positive", "very positive"], "-1": ["very negative", "negative"]}';
  await changed(folder, "config.json", (text) => text.replace('"class_sets": {}', `"class_sets": ${sets}`));
  const own = await load(folder);
  assert.deepEqual([own.labels, own.polarities], [["0", '"}1', "-1"], [0, 0.75, -0.75]]);
  const [[found], [five]] = await Promise.all([own.predict([TEXT]), model.predict([TEXT])]);
  found.phrases.forEach((phrase, node) => {
    const [least, less, none, more, most] = Object.values(five.phrases[node].scores);
    const expected = [none, more + most, least + less];
    own.labels.forEach((label, place) => assert.ok(Math.abs(phrase.scores[label] - expected[place]) < 1e-6));
    assert.ok(Math.abs(phrase.polarity - 0.75 * (expected[1] - expected[2])) < 1e-6);
    assert.equal(phrase.label, own.labels[expected.indexOf(Math.max(...expected))]);
  });
  assert.deepEqual(found.svg().match(/<g class="t[0-4]"/g), (await (await load(SST, { classes: 3 })).predict(TEXT)).svg().match(/<g class="t[0-4]"/g));
  assert.deepEqual((await (await load(folder, { classes: 5 })).predict(TEXT)).toJSON(), five.toJSON());
});

test("a class in no set is left out", async (t) => {
  const folder = await copied(t, SST);
  const sets = '{"bad": ["very negative", "negative"], "good": ["positive", "very positive"]}';
  await changed(folder, "config.json", (text) => text.replace('"class_sets": {}', `"class_sets": ${sets}`));
  const [found, two] = await Promise.all([load(folder), load(SST, { classes: 2 })].map(async (each) => (await each).predict(TEXT)));
  assert.deepEqual(Object.values(found.scores), Object.values(two.scores));
  assert.equal(found.label, { negative: "bad", positive: "good" }[two.label]);
  assert.ok(Math.abs(found.polarity - 0.75 * two.polarity) < 1e-12);
});

test("phrases know each other and their place in the text", async () => {
  const found = await model.predict(TEXT);
  assert.deepEqual(found.phrases, found.sentences.flatMap(({ phrases }) => phrases));
  for (const sentence of found.sentences) {
    assert.equal(sentence.tree, sentence.phrases.at(-1));
    assert.equal(sentence.tree.parent, null);
    sentence.phrases.forEach((phrase, node) => {
      assert.equal(phrase.text, found.text.slice(phrase.start, phrase.end));
      assert.deepEqual([phrase.node, phrase.sentence], [node, sentence]);
      for (const child of phrase.children) assert.equal(child.parent, phrase);
      const words = phrase.children.length ? phrase.children.map(({ start, end }) => [start, end]) : [[phrase.start, phrase.end]];
      assert.deepEqual([words[0][0], words.at(-1)[1]], [phrase.start, phrase.end]);
    });
    const inner = sentence.phrases.filter(({ children }) => children.length);
    assert.deepEqual(inner.map(({ node }) => node), [...sentence.transitions.keys()].filter((node) => sentence.transitions[node]));
  }
});

test("a phrase is cloned and printed without its relatives", async () => {
  const [phrase] = (await model.predict(TEXT)).highlights();
  const data = { ...phrase };
  assert.deepEqual(Object.keys(data), ["node", "text", "start", "end", "label", "scores", "polarity"]);
  assert.deepEqual([structuredClone(phrase), JSON.parse(JSON.stringify(phrase))], [data, data]);
});

test("results can be watched by a Proxy, as frameworks do", async () => {
  const seen = (value) => new Proxy(value, { get: (target, name, self) => watched(Reflect.get(target, name, self)) });
  const watched = (value) => (typeof value === "object" && value !== null && !ArrayBuffer.isView(value) ? seen(value) : value);
  const found = await model.predict(TEXT);
  const proxy = seen(found);
  assert.deepEqual(proxy.highlights(2).map(({ text, parent }) => [text, parent?.text]), found.highlights(2).map(({ text, parent }) => [text, parent?.text]));
  assert.deepEqual(proxy.phrases[0].sentence.tree.text, found.sentences[0].tree.text);
  assert.equal(proxy.svg(), found.svg());
});

test("nested data has the places in its sentence", async () => {
  const found = await model.predict(TEXT);
  const { text, start, tree } = found.toNested().sentences[1];
  const same = (nested, phrase) => {
    const { text, label, polarity, scores } = phrase;
    assert.deepEqual(nested, { text, start: phrase.start - start, end: phrase.end - start, label, polarity, scores, children: nested.children });
    nested.children.forEach((child, place) => same(child, phrase.children[place]));
    assert.equal(nested.children.length, phrase.children.length);
  };
  same(tree, found.sentences[1].tree);
  assert.equal(tree.text, text);
});

test("highlights say most, none overlaps another", () => {
  const texts = (found, n) => found.highlights(n).map(({ text }) => text);
  // ((not (great film)) .): what `not` turns is left out, and so is the mark alone; a sentence has its own.
  const turned = sentence(["Not", " great", " film", "."], [0, 0, 0, 1, 1, 0, 1], [-0.1, 0.9, 0, 0.8, -0.6, 0, -0.6]);
  assert.deepEqual(texts(turned), ["Not great film."]);
  // (great (but awful)): a phrase beside that says so by itself is a contrast.
  const contrast = sentence(["great", " but", " awful"], [0, 0, 0, 1, 1], [0.9, 0, -0.7, -0.6, -0.55]);
  assert.deepEqual(texts(contrast), ["great", "awful"]);
  assert.deepEqual([texts(contrast, 1), texts(contrast, 0)], [["great"], []]);
  // (is (n't bad)): none begins or ends inside a typed word.
  const joined = sentence(["is", "n't", " bad"], [0, 0, 0, 1, 1], [0, -0.9, -0.8, 0.7, 0.6]);
  assert.deepEqual(texts(joined), ["isn't bad"]);
  // (film (so weak)): what is around it says less than four fifths.
  assert.deepEqual(texts(sentence(["film", " so", " weak"], [0, 0, 0, 1, 1], [0, 0, -0.9, -0.8, -0.71])), ["so weak"]);
  assert.deepEqual(texts(sentence(["Dull"], [0], [-0.2])), []);
  for (const n of [-1, 1.5, "2", NaN]) assert.throws(() => turned.highlights(n), { name: "InputError", message: /whole number of highlights/ });
});

test("a sentence whose phrases have no scores is its own highlight", () => {
  const root = (polarity, transitions = [0, 0, 1]) => sentence(["Dull", " film"], transitions, [polarity]);
  for (const found of [root(-0.8), root(-0.8, [])]) {
    assert.deepEqual([found.phrases, found.highlights().map(({ text, polarity }) => [text, polarity])], [[], [["Dull film", found.polarity]]]);
  }
  assert.deepEqual([root(0.1).highlights(), root(-0.8, []).tree], [[], null]);
  assert.deepEqual(root(-0.8).tree.children.map(({ label, scores, polarity }) => [label, scores, polarity]), [[null, null, null], [null, null, null]]);
});
