/** The drawing of trees, by the rules of docs/drawing.md. */
import assert from "node:assert/strict";
import test from "node:test";

import { Prediction, TextPrediction, load } from "../dist/node.js";
import { SST } from "./bundles.mjs";

const FIVE = { labels: ["very negative", "negative", "neutral", "positive", "very positive"], abstain: 0 };

/** A sentence of these words and tree; each row has its class at this place, with a probability of 3/5. */
function sentence(words, transitions, classes, view = FIVE) {
  let place = 0;
  const offsets = words.map((word) => [place, (place += word.length + 1) - 1]);
  const scores = classes.map((best) => Float32Array.from(view.labels, (_, label) => (label === best ? 0.6 : 0.4 / (view.labels.length - 1))));
  return new Prediction({ text: words.join(" "), words, offsets, start: 0 }, { transitions, scores, weight: 1, parts: [] }, view);
}

test("a tree of two words, worked out by hand", () => {
  const found = sentence(["a", "<b"], [0, 0, 1], [2, 0, 4]).svg();
  const shares = (best) => FIVE.labels.map((label, place) => `${label} ${place === best ? 60 : 10}%`).join(", ");
  const node = (x, y, text, best, fill, ink, sign) =>
    `<g role="img"><title>${FIVE.labels[best]}: ${text} (${shares(best)})</title><circle cx="${x}" cy="${y}" r="12" fill="${fill}" stroke="#5a626d"/>` +
    `<text x="${x}" y="${y + 5}" fill="${ink}">${sign}</text></g>\n`;
  assert.equal(
    found,
    '<svg xmlns="http://www.w3.org/2000/svg" width="86" height="112" viewBox="0 0 86 112" role="group" aria-label="The tree of a sentence"' +
      ' font-family="sans-serif" font-size="15" text-anchor="middle">\n' +
      '<g role="group" aria-label="very positive: a &lt;b">\n' +
      '<path d="M24 60V60L43 24L62 60V60" fill="none" stroke="currentColor" stroke-opacity="0.5"/>\n' +
      node(43, 24, "a &lt;b", 4, "#0b559f", "#ffffff", "++") +
      node(24, 60, "a", 2, "#e4e7ea", "#2b3037", "0") +
      node(62, 60, "&lt;b", 0, "#9a3b00", "#ffffff", "−−") +
      '<g fill="currentColor" aria-hidden="true">\n<text x="24" y="88">a</text>\n<text x="62" y="88">&lt;b</text>\n</g>\n</g>\n</svg>\n',
  );
});

test("a phrase stands above the higher of its parts and between them", () => {
  const found = sentence(["a", "b", "c", "d"], [0, 0, 0, 1, 1, 0, 1], [2, 2, 2, 2, 2, 2, 2]).svg();
  const circles = [...found.matchAll(/cx="(\d+)" cy="(\d+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
  // a, b, c, d at 24 and 38 further each; (b c) at 81, (a (b c)) at 52, the whole at 95.
  assert.deepEqual(circles, [[95, 24], [52, 60], [24, 132], [81, 96], [62, 132], [100, 132], [138, 132]]);
});

test("no line touches the circle of a phrase that it does not lead to", () => {
  for (const transitions of [[0, 0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 0, 0, 1, 1, 1]]) {
    const found = sentence(["unbelievable", ",", "yes", "i", "marvellous"], transitions, Array(9).fill(2)).svg();
    const circles = [...found.matchAll(/cx="(\d+)" cy="(\d+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
    const [, path] = found.match(/ d="(.*?)"/);
    for (const [, ...numbers] of path.matchAll(/M(\d+) (\d+)V(\d+)L(\d+) (\d+)L(\d+) (\d+)V(\d+)/g)) {
      const [a, b, c, d, e, f, g, h] = numbers.map(Number);
      const points = [[a, b], [a, c], [d, e], [f, g], [f, h]];
      const ends = [points[0], points[2], points[4]].map(String);
      for (const circle of circles.filter((each) => !ends.includes(String(each)))) {
        points.slice(1).forEach((to, place) => {
          const from = points[place];
          for (let part = 0; part <= 1; part += 1 / 64) {
            const at = [0, 1].map((axis) => from[axis] + part * (to[axis] - from[axis]));
            assert.ok(Math.hypot(at[0] - circle[0], at[1] - circle[1]) > 12, `${transitions}: ${circle}`);
          }
        });
      }
    }
  }
});

test("sentences stand one below the other", () => {
  const one = sentence(["good"], [0], [3]);
  const found = new TextPrediction("good good", [one, one], FIVE).svg();
  assert.match(found, /aria-label="The trees of 2 sentences"/);
  assert.deepEqual([...found.matchAll(/cy="(\d+)"/g)].map(([, y]) => Number(y)), [24, 100]);
  assert.match(found, /height="152"/);
  assert.match(new TextPrediction("", [], FIVE).svg(), /^<svg [^>]*width="24" height="24"[^>]*>\n<\/svg>\n$/);
});

test("text cannot break out of the drawing", () => {
  const words = ['</title><script>alert("1")</script>', "&amp;", "\u0000\u202e\ufffe", "a\u2028\x1c\u0085b", "\ufeff", "x".repeat(500)];
  const found = sentence(words, [0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], Array(11).fill(1), { labels: ["<negative", 'positive"'], abstain: 0 }).svg();
  assert.doesNotMatch(found, /<script|[\u0000-\u0009\u000b-\u001f\u202e\u2028\ufffe]/);
  assert.ok(found.includes("\\x00\\u202e\\ufffe") && found.includes("&amp;amp;") && found.includes(">a b<") && found.includes(">\ufeff<") && found.includes("&lt;negative 40%"));
  assert.ok(found.includes(`${"x".repeat(29)}…`) && !found.includes("x".repeat(121)));
  // Every tag is closed, and nothing but known tags is there.
  const open = [];
  for (const [, close, name, self] of found.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    assert.ok(["svg", "g", "path", "circle", "title", "text"].includes(name), name);
    if (close) assert.equal(open.pop(), name);
    else if (!self) open.push(name);
  }
  assert.deepEqual(open, []);
  assert.equal(found.split("<").length - 1, [...found.matchAll(/<\/?[a-z]+[^<>]*>/g)].length);
});

test("other classes are numbered, with a legend", () => {
  const found = sentence(["good", "film"], [0, 0, 1], [1, 0, 1], { labels: ["bad", "fine"], abstain: 0 }).svg();
  assert.deepEqual([...found.matchAll(/fill="#2b3037">(.*?)</g)].map(([, sign]) => sign), ["2", "2", "1"]);
  assert.match(found, /text-anchor="start" fill="currentColor">1 bad, 2 fine<\/text>\n<\/svg>/);
});

test("without a probable class there is a question mark", () => {
  const found = sentence(["good"], [0], [4], { ...FIVE, abstain: 0.9 }).svg();
  assert.match(found, /uncertain: good \(/);
  assert.match(found, />\?<\/text>/);
});

test("phrases without scores are dots, and a plain sentence has one circle", () => {
  const roots = sentence(["a", "b", "c"], [0, 0, 1, 0, 1], [3]).svg();
  assert.deepEqual([roots.split('r="12"').length - 1, roots.split('r="3"').length - 1], [1, 4]);
  const plain = sentence(["a", "b", "c"], [], [3]).svg();
  assert.equal(plain.split("<circle").length - 1, 1);
  assert.doesNotMatch(plain, /<path/);
  assert.match(plain, /<title>positive: a b c \(/);
});

test("the words of a model's drawing do not overlap", async () => {
  const found = (await (await load(SST)).predict("An unpretentious, wonderfully watchable film — with MANY WWW words, 日本語 and 😀.")).svg();
  const words = [...found.split("aria-hidden")[1].matchAll(/<text x="(\d+)" y="\d+">(.*?)</g)].map(([, x, word]) => [Number(x), word]);
  assert.equal(words.length, 16);
  // Six units a character are what common fonts of size 15 need at least.
  words.slice(1).forEach(([x, word], place) => assert.ok(x - words[place][0] >= 3 * (word.length + words[place][1].length)));
});
