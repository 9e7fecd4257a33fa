/** The drawing of trees. That it is Python's, byte for byte, tests/js/test_npm_drawings.py says. */
import assert from "node:assert/strict";
import test from "node:test";

import { Prediction } from "../dist/node.js";

const FIVE = { labels: ["very negative", "negative", "neutral", "positive", "very positive"], polarities: [-1, -0.5, 0, 0.5, 1], abstain: 0 };

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
  const node = (number, tone, x, y, width, text, best, sign, state = "") =>
    `<g class="${tone}" role="treeitem" data-node="${number}"${state} aria-label="${FIVE.labels[best]}: ${text}">\n<title>${text}\n${shares(best)}</title>\n` +
    `<rect x="${x - width / 2}" y="${y}" width="${width}" height="22" rx="6"/><text class="sign" x="${x}" y="${y + 16}">${sign}</text>\n`;
  // Columns of 22 and, as "−−" is 20 wide, 30: from 16, with 14 between. "++" is 16 wide, the heading 124.
  assert.equal(
    found.slice(found.indexOf("</style>")),
    '</style>\n<rect width="172" height="148" fill="#fff"/>\n<g role="tree" transform="translate(0 16)">\n' +
      '<text class="heading" x="16" y="16">very positive 60%</text>\n' +
      node(2, "t4", 47, 30, 26, "a &lt;b", 4, "++", ' tabindex="0" aria-expanded="true"') +
      '<text class="closed" x="47" y="68">a &lt;b</text>\n<g role="group"><path d="M47 52L27 74V74M47 52L67 74V74"/>\n' +
      node(0, "t2", 27, 74, 22, "a", 2, "0") +
      '<text x="27" y="112">a</text></g>\n' +
      node(1, "t0", 67, 74, 30, "&lt;b", 0, "−−") +
      '<text x="67" y="112">&lt;b</text></g>\n</g></g>\n</g>\n</svg>\n',
  );
});

test("no line runs through a phrase that it does not lead to", () => {
  for (const transitions of [[0, 0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 0, 0, 1, 1, 1]]) {
    const found = sentence(["unbelievable", ",", "yes", "i", "marvellous"], transitions, Array(9).fill(2)).svg();
    const nodes = [...found.matchAll(/<rect x="(\d+)" y="(\d+)" width="(\d+)" height="22"/g)].map((found) => found.slice(1).map(Number));
    for (const [, ...numbers] of found.matchAll(/M(\d+) (\d+)L(\d+) (\d+)V(\d+)/g)) {
      const [x, y, beside, corner, foot] = numbers.map(Number);
      for (const [left, top, width] of nodes) {
        for (let part = 1 / 64; part < 1; part += 1 / 64) {
          const slant = [x + part * (beside - x), y + part * (corner - y)];
          const drop = [beside, corner + part * (foot - corner)];
          for (const [at, down] of [slant, drop]) {
            assert.ok(!(at > left && at < left + width && down > top && down < top + 22), `${transitions}: ${at} ${down}`);
          }
        }
      }
    }
  }
});

test("text cannot break out of a drawing", () => {
  const words = ['</title><script>alert("1")</script>', "&amp;'", "\u0000\u202e\ufffe", "a\u2028\x1c\u0085b", "\ufeff", "x".repeat(500)];
  const given = sentence(words, [0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], Array(11).fill(1), { labels: ["<negative", 'positive"'], polarities: [-1, 1], abstain: 0 });
  for (const found of [given.svg(), given.html()]) {
    assert.doesNotMatch(found, /<script|[\u0000-\u0009\u000b-\u001f\u202e\u2028\ufffe]/);
    assert.ok(found.includes("\\x00\\u202e\\ufffe") && found.includes("&amp;amp;&#x27;") && found.includes("a b") && found.includes("&lt;negative 40%"));
    // Every tag is closed, and nothing but known tags is there.
    const open = [];
    for (const [, close, name, self] of found.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
      assert.ok(["svg", "g", "path", "rect", "title", "text", "style", "div", "p", "span"].includes(name), name);
      if (close) assert.equal(open.pop(), name);
      else if (!self) open.push(name);
    }
    assert.deepEqual(open, []);
  }
  assert.ok(given.svg().includes(`>${"x".repeat(11)} … ${"x".repeat(10)}<`) && !given.svg().includes("x".repeat(301)));
});

test("uncertain phrases, and a sentence alone", () => {
  const unsure = sentence(["good"], [0], [4], { ...FIVE, abstain: 0.9 }).svg();
  assert.match(unsure, /class="plain" [^>]*aria-label="uncertain: good"/);
  assert.match(unsure, />\?<\/text>/);
  const roots = sentence(["a", "b", "c"], [0, 0, 1, 0, 1], [3]).svg();
  assert.equal(roots.split("treeitem").length - 1, 1);
  assert.ok(!roots.includes("<path") && roots.includes(">a b c</text>"));
});

test("of a text those phrases are marked that differ from what is around them", () => {
  const found = sentence(["so", "good", ",", "dull"], [0, 0, 1, 0, 0, 1, 1], [2, 3, 3, 2, 0, 0, 1]).html();
  const [, line] = found.match(/<p>(.*)<\/p>/);
  assert.equal(line.replace(/<span class="(t\d)" data-node="(\d)" [^>]*>/g, "[$1 $2 ").replace(/<\/span>/g, "]"), "[t1 6 [t3 2 so good] [t0 5 , dull]]");
});
