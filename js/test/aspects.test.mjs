/** What is said of what, on trees and scores written by hand, as `tests/runtime/test_aspects.py` has them. */
import assert from "node:assert/strict";
import test from "node:test";
import { build } from "esbuild";

import { Aspect, Prediction, Result, load } from "../dist/node.js";
import { GOLDEN, SST } from "./bundles.mjs";

const source = await build({ entryPoints: [new URL("../src/views.ts", import.meta.url).pathname], bundle: true, format: "esm", write: false });
const { chooseView, shown } = await import(`data:text/javascript,${encodeURIComponent(source.outputFiles[0].text)}`);

const LABELS = ["no term", "negative", "neutral", "positive"];
const ASPECTS = chooseView({ labels: LABELS });
const FIVE = chooseView({ labels: ["0", "1", "2", "3", "4"] });

/** The words, transitions and labels of a tree in brackets; a word with a ~ before it touches the one before. */
function treeOf(brackets) {
  const [words, transitions, labels, open] = [[], [], [], []];
  for (const [, label, word, inner] of brackets.matchAll(/\((\S+) ([^() ]+)\)|\((\S+) |\)/g)) {
    if (inner) open.push(inner);
    else if (word) words.push(word), transitions.push(0), labels.push(label);
    else transitions.push(1), labels.push(open.pop());
  }
  return { words, transitions, labels };
}

function sentenceOf({ words, transitions }, rows, view, start = 0) {
  let text = "";
  const offsets = words.map((word) => {
    text += word.startsWith("~") || !text ? "" : " ";
    return [text.length, (text += word.replace("~", "")).length];
  });
  const read = { text, words: words.map((word) => word.replace("~", "")), offsets, start };
  const scored = shown(view, { transitions, scores: rows.map((row) => Float32Array.from(row)), weight: 1, parts: [] });
  return new Prediction(read, scored, view);
}

/** A node's label: the sign of what is said, then how probably, in percent, it is a term. */
function ofAspects(brackets, view = ASPECTS, start = 0) {
  const tree = treeOf(brackets);
  const rows = tree.labels.map((label) => {
    const term = Number(label.slice(1)) / 100 || 0.3;
    const row = [1 - term, term / 10, term / 10, term / 10];
    row["?-o+".indexOf(label[0])] = 0.8 * term;
    return row;
  });
  return sentenceOf(tree, rows, view, start);
}

function ofFive(brackets, view = FIVE, start = 0) {
  const tree = treeOf(brackets);
  return sentenceOf(tree, tree.labels.map((label) => FIVE.labels.map((each) => (each === label ? 0.8 : 0.05))), view, start);
}

/** Their texts, signs and reasons. */
function told(aspects) {
  const sign = (polarity) => (Math.abs(polarity) < 1e-6 ? "o" : polarity < 0 ? "-" : "+");
  return aspects.map(({ text, label, polarity, because }) => [text, label === null ? "?" : sign(polarity), because && because.text]);
}

test("terms that a model finds", () => {
  const cases = [
    // What decides is the other part of the first phrase of that side ...
    ["(- (+ (+ great) (+90 battery)) (- (o but) (- (-80 staff) (- (o is) (- bad)))))", [["battery", "+", "great"], ["staff", "-", "is bad"]]],
    // ... or the phrase itself; of a neutral term nothing does, nor where nothing around it says the same.
    ["(- (o (o a) (o long)) (-60 wait))", [["wait", "-", "a long wait"]]],
    ["(+ (o60 menu) (+ great))", [["menu", "o", null]]],
    ["(+ (-60 menu) (+ great))", [["menu", "-", null]]],
    ["(- (o x) (+ (-60 menu) (- bad)))", [["menu", "-", "x menu bad"]]],
    // None is inside another: the more probable one is taken, and of equal ones the first.
    ["(o (o the) (+70 (+60 battery) (+65 life)))", [["battery life", "+", null]]],
    ["(+ (+ the) (+60 (+65 battery) (+70 life)))", [["battery", "+", "life"], ["life", "+", "battery"]]],
    ["(+70 (+70 battery) (+70 life))", [["battery", "+", "life"], ["life", "+", "battery"]]],
    // None begins or ends with a mark.
    ["(+ (+90 (+80 (+ the) (+70 menu)) (+99 .)) (+ !))", [["the menu", "+", null]]],
    ["(+ (o90 -LRB-) (+60 menu))", [["menu", "+", null]]],
    // Half is enough, and less is not.
    ["(+ (+50 menu) (+49 list))", [["menu", "+", "list"]]],
    ["(o good)", []],
  ];
  for (const [brackets, expected] of cases) {
    const sentence = ofAspects(brackets, ASPECTS, 7);
    assert.deepEqual(told(sentence.aspects), expected, brackets);
    for (const each of sentence.aspects) {
      const { node, text, start, end, label, scores, polarity } = sentence.phrases[each.node];
      assert.deepEqual({ ...each }, { node, text, start, end, label, scores, polarity, because: each.because, probability: sentence.terms[node], asked: null, turned: false });
      assert.equal(each.sentence, sentence);
    }
  }
});

test("terms that are named are judged by the climb", () => {
  const cases = [
    // The largest phrase of its clause that says something; a term is no reason for itself.
    [["crap"], "(1 (1 crap) (2 here))", [["crap", "-", null]]],
    [["menu"], "(2 (3 (3 good) (2 menu)) (2 here))", [["menu", "+", "good"]]],
    [["screen"], "(1 (3 (2 screen) (3 (2 is) (3 fine))) (1 bad))", [["screen", "-", "bad"]]],
    // A turn above it counts, and another clause does not.
    [["lens"], "(3 (2 nothing) (1 (1 wrong) (2 (2 with) (2 (2 the) (2 lens)))))", [["lens", "+", "nothing wrong with the lens"]]],
    [["staff", "food"], "(3 (1 (1 (2 Staff) (1 (1 fail) (2 ,))) (2 but)) (3 (2 food) (3 shines)))", [["Staff", "-", "fail"], ["food", "+", "shines"]]],
    [["staff", "food"], "(3 (1 (1 (2 Staff) (1 fail)) (2 ,)) (3 (2 food) (3 shines)))", [["Staff", "-", "fail"], ["food", "+", "shines"]]],
    // Of a neutral clause, what is around it; turned round behind "except", and where it is wished for.
    [["food"], "(3 (2 (2 Food) (2 but)) (3 (2 staff) (3 shines)))", [["Food", "+", "staff shines"]]],
    [["price"], "(3 (3 (3 good) (2 food)) (2 (2 but) (2 price)))", [["price", "-", "good food but price"]]],
    [["food"], "(3 (3 (3 great) (2 staff)) (2 (2 except) (2 food)))", [["food", "-", "great staff except food"]]],
    [["food"], "(3 (2 I) (3 (2 wish) (3 (2 food) (3 (2 was) (3 hot)))))", [["food", "-", "I wish food was hot"]]],
    [["lens"], "(3 (2 I) (3 (2 (2 have) (2 yet)) (1 (2 to) (1 (2 fault) (2 lens)))))", [["lens", "+", "have yet to fault lens"]]],
    [["lens"], "(3 (2 I) (3 (2 have) (1 (2 yet) (1 (2 to) (1 (2 fault) (2 lens))))))", [["lens", "+", "have yet to fault lens"]]],
    [["food"], "(3 (2 I) (3 (2 wish) (3 (2 I) (3 (2 had) (3 food)))))", [["food", "+", "wish I had food"]]],
    [["wait"], "(1 (2 (2 a) (2 long)) (2 wait))", [["wait", "-", "a long wait"]]],
    [["menu"], "(2 (2 a) (2 menu))", [["menu", "o", null]]],
    [["a b"], "(3 (1 (2 x) (2 a)) (2 (2 b) (2 y)))", [["a b", "+", "x a b y"]]],
    // Case, plurals, several names, order of the text, whole words.
    [
      ["Price|cost", "menu", "menu"],
      "(3 (2 Menus) (3 (2 COSTS) (3 (2 prices) (2 Pricey))))",
      [["Menus", "+", "COSTS prices Pricey"], ["COSTS", "+", "prices Pricey"], ["prices", "+", "prices Pricey"]],
    ],
    [["battery"], "(3 (2 batteries) (2 battery's))", [["batteries", "+", "batteries battery's"], ["battery", "+", "batteries battery's"]]],
    [["glas|princes"], "(3 (2 glass) (3 (2 princess) (2 princes)))", [["princes", "+", "princess princes"]]],
    [["dish"], "(3 (2 dishes) (2 fish-dish))", [["dishes", "+", "dishes fish-dish"], ["dish", "+", "dishes fish-dish"]]],
    [["battery|battery \u3000 life"], "(3 (2 battery) (2 life))", [["battery life", "+", null]]],
    [["c++|(x)"], "(3 (2 C++) (2 x))", [["C++", "+", "C++ x"]]],
    [["istanbul"], "(3 (2 İSTANBUL) (2 \u0131stanbul))", [["İSTANBUL", "+", "İSTANBUL \u0131stanbul"], ["\u0131stanbul", "+", "İSTANBUL \u0131stanbul"]]],
    // As texts are read: accents, hyphens, spaces, apostrophes, hashtags, both numbers.
    [["café"], "(3 (2 cafe\u0301) (2 cafes))", [["cafe\u0301", "+", "cafe\u0301 cafes"]]],
    [["wifi"], "(3 (2 wi) (2 fi))", [["wi fi", "+", null]]],
    [["wi-fi", "area", "new"], "(3 (2 WiFi) (2 (2 are) (2 (2 a) (2 news))))", [["WiFi", "+", "WiFi are a news"]]],
    [["knives"], "(3 (2 #knife) (2 x))", [["knife", "+", "#knife x"]]],
    [["driver\u2019s seat"], "(3 (2 (2 driver) (2 ~'s)) (2 seat))", [["driver's seat", "+", null]]],
    [["menu"], "(3 (2 menu\u0345) (2 menu_x))", [["menu", "+", "menu\u0345 menu_x"]]],
    // Words that touch a mention are no part of it.
    [["battery"], "(1 (3 battery) (1 ~'s))", [["battery", "-", null]]],
    [["battery"], "(1 (1 -) (3 ~battery))", [["battery", "-", null]]],
    [["life", "battery life great"], "(3 (2 (2 battery) (2 life)) (3 great))", [["battery life great", "+", null], ["life", "+", "great"]]],
    [["life battery"], "(3 (2 battery) (2 life))", []],
    [[], "(3 (2 battery) (2 life))", []],
  ];
  for (const [terms, brackets, expected] of cases) {
    const sentence = ofFive(brackets, FIVE, 5);
    const found = sentence.about(...terms);
    assert.deepEqual(told(found), expected, brackets);
    for (const { probability, asked, text, start, end } of found) {
      assert.ok(probability === 1 && terms.includes(asked));
      assert.equal(sentence.text.slice(start - 5, end - 5), text);
    }
  }
});

test("many mentions in a sentence are judged in linear time", () => {
  // Each takes well under a second; if it were quadratic, half a minute.
  const leaves = (count) => (count === 1 ? "(3 (2 great) (2 menu))" : `(3 ${leaves(count >> 1)} ${leaves(count >> 1)})`);
  const five = ofFive(leaves(1 << 14));
  const aspects = ofAspects(leaves(1 << 14).replaceAll(/[23] /g, "+60 "));
  for (const [sentence, term] of [[five, "menu"], [aspects, "great menu"]]) {
    const start = performance.now();
    assert.equal(sentence.about(term).length, 1 << 14);
    assert.ok(performance.now() - start < 10_000);
  }
});

test("what is wished for ends with the words of the term", () => {
  // What follows the last word of the term is not read: "wish i" is no "wish i ".
  const pattern = /\b(?:wish (?!i |we )|if only )/;
  const soup = ["wish", "i", "we", "if", "only", "x-wish", "food", "if only", "wish we", ""];
  let seed = 1;
  const pick = () => soup[(seed = (seed * 48271) % 0x7fffffff) % soup.length];
  let turned = 0;
  for (let count = 0; count < 2000; count++) {
    const words = Array.from({ length: 2 + (count % 7) }, pick);
    const transitions = words.flatMap((_, place) => (place ? [0, 1] : [0]));
    const sentence = sentenceOf({ words, transitions }, transitions.map((step) => FIVE.labels.map((each) => (each === (step ? "3" : "2") ? 0.8 : 0.05))), FIVE);
    words.forEach((word, place) => {
      if (!["i", "we", "only", "food"].includes(word)) return;
      const found = sentence.about(word).find(({ end }) => end === sentence.offsets[place][1]);
      assert.equal(found.turned, pattern.test(words.slice(0, place + 1).join(" ")), words.join("|"));
      turned += found.turned;
    });
  }
  assert.ok(turned > 500, turned);
});

test("terms that are named are judged by a model of aspects", () => {
  const cases = [
    ["menu", "(+ (-60 menu) (+ great))", ["menu", "-", null]],
    ["menu", "(- (- bad) (o50 menu))", ["menu", "o", null]],
    // A part of a term, and words around one, are judged as the term is.
    ["menu", "(- (- bad) (-70 (o lunch) (o49 menu)))", ["menu", "-", "bad"]],
    ["the menu", "(- (- bad) (o (o the) (-60 menu)))", ["the menu", "-", "bad"]],
    ["a menu", "(- (o a) (+ (-60 (o menu) (o list)) (o .)))", ["a menu", "-", null]],
    // The more probable term of two, of equal ones the first; the mention itself, if it is one.
    ["menu list", "(- (- bad) (o (-60 menu) (+70 list)))", ["menu list", "+", null]],
    ["menu list", "(- (- bad) (o (-70 menu) (+70 list)))", ["menu list", "-", "bad"]],
    ["menu list", "(- (- bad) (+60 (o (o a) (-70 menu)) (o (o list) (o .))))", ["menu list", "-", "bad"]],
    ["menu", "(- (- bad) (+90 (o lunch) (-50 menu)))", ["menu", "-", "bad"]],
    // Where no term is, or none that shares a word, the climb says it.
    ["menu", "(- (- bad) (o (o the) (o49 menu)))", ["menu", "-", "bad"]],
    ["menu", "(- (- bad) (-1 menu))", ["menu", "-", "bad"]],
    ["menu", "(+ (-60 lunch) (+ (o menu) (+ good)))", ["menu", "+", "good"]],
    ["menu", "(+ (+ (+ good) (o menu)) (-60 lunch))", ["menu", "+", "good"]],
    ["bad menu", "(o (- (o a) (+ bad)) (+ menu))", ["bad menu", "o", null]],
    ["menu", "(+ (- so) (- (- bad) (+ non-menu)))", ["menu", "+", "so bad non-menu"]],
  ];
  for (const [term, brackets, expected] of cases) {
    const found = ofAspects(brackets).about(term);
    assert.deepEqual(told(found), [expected], brackets);
    assert.deepEqual([found[0].probability, found[0].asked], [1, term]);
  }
});

test("without a label nothing is said", () => {
  const abstaining = ofAspects("(+ (+ good) (+70 menu))", chooseView({ labels: LABELS }, undefined, 0.9));
  const five = ofFive("(3 (1 bad) (2 menu))", chooseView({ labels: FIVE.labels }, undefined, 0.9));
  for (const found of [abstaining.aspects, abstaining.about("menu"), five.about("menu")]) assert.deepEqual(told(found), [["menu", "?", null]]);
});

test("a threshold for labels changes no opinion", () => {
  const tree = treeOf("(1 (1 not) (3 (3 good) (2 menu)))");
  const rows = tree.labels.map((label) => FIVE.labels.map((each) => (each !== label ? 0.02 : label === "3" ? 0.92 : 0.7)));
  const [sure, unsure] = [undefined, 0.9].map((abstain) => sentenceOf(tree, rows, chooseView({ labels: FIVE.labels }, undefined, abstain), 0));
  assert.deepEqual([sure, unsure].map((one) => one.about("menu")[0].scores[1]), [rows[0][1], rows[0][1]].map(Math.fround));
  assert.deepEqual([sure, unsure].map((one) => one.highlights().map(({ text }) => text)), [["not good menu"], []]);
});

test("the data of aspects", () => {
  const sentences = [ofAspects("(+ (+ good) (+90 battery))"), ofAspects("(- (-80 staff) (- bad))", ASPECTS, 13)];
  const result = new Result("good battery staff bad", sentences, ASPECTS);
  assert.deepEqual(told(result.aspects), [["battery", "+", "good"], ["staff", "-", "bad"]]);
  const data = JSON.parse(JSON.stringify(result));
  assert.deepEqual([Object.keys(data).at(-1), Object.keys(data.sentences[1]).at(-1)], ["aspects", "aspects"]);
  const scores = { negative: 0.8, neutral: 0.1, positive: 0.1 };
  const staff = { text: "staff", start: 13, end: 18, label: "negative", polarity: -0.7, scores, because: { text: "bad", start: 19, end: 22 } };
  assert.deepEqual(Object.entries(data.aspects[1]).map(String), Object.entries(staff).map(String));
  assert.deepEqual(data.aspects[1], staff);
  assert.deepEqual(data.sentences[1].aspects, [{ ...staff, start: 0, end: 5, because: { text: "bad", start: 6, end: 9 } }]);
  const [asked] = result.about("staff|waiter");
  assert.ok(asked instanceof Aspect);
  assert.deepEqual(Object.entries(asked.toJSON()).at(-1), ["asked", "staff|waiter"]);
  const { because, ...own } = structuredClone(asked);
  assert.deepEqual({ ...own, because: because.text }, { ...asked, because: "bad" });
  const seen = new Proxy(result, {});
  assert.deepEqual([told(seen.aspects), told(seen.about("staff"))], [told(result.aspects), told(result.about("staff"))]);
  assert.deepEqual(Object.keys(result), ["text", "label", "polarity", "scores", "sentences", "known", "vector"]);
});

test("the classes of sentiment are shown, whether a sentence is a term or not", () => {
  const row = [0.9, 0.05, 0.04, 0.01];
  const close = (found, expected) => expected.forEach((each, place) => assert.ok(Math.abs(found[place] - each) < 1e-6, `${found} ${expected}`));
  for (const [labels, classes, names, scores] of [
    [LABELS, undefined, LABELS.slice(1), [0.5, 0.4, 0.1]],
    [LABELS, 3, LABELS.slice(1), [0.5, 0.4, 0.1]],
    [LABELS, 2, ["negative", "positive"], [5 / 6, 1 / 6]],
    [["negative", "no term", "neutral", "positive"], undefined, LABELS.slice(1), [0.9 / 0.95, 0.04 / 0.95, 0.01 / 0.95]],
  ]) {
    const view = chooseView({ labels }, classes);
    assert.deepEqual([view.labels, view.polarities.map(Math.sign)], [names, names.length === 2 ? [-1, 1] : [-1, 0, 1]]);
    const found = shown(view, { transitions: [0], scores: [Float32Array.from(row)], weight: 1, parts: [] });
    close(found.scores[0], scores);
    close(found.terms, [1 - row[labels.indexOf("no term")]]);
    assert.equal(found.weight, 1);
  }
  assert.throws(() => chooseView({ labels: LABELS }, 5), { name: "InputError", message: /very negative.*has negative, neutral, positive/ });
});

test("a model that finds no terms says what to do", async () => {
  const result = await (await load(SST)).predict("The staff is awful.");
  for (const one of [result, result.sentences[0]]) {
    assert.throws(() => one.aspects, { name: "InputError", message: /no class no term.*thinstack-aspects.*about\("battery"\)/ });
    assert.ok(!("aspects" in one.toJSON()));
    assert.deepEqual(one.about("staff").map(({ label, asked }) => [label, asked]), [["very negative", "staff"]]);
  }
  assert.equal(result.sentences[0].terms, null);
});

test("terms that are none are refused", () => {
  for (const result of [new Result("", [], ASPECTS), new Result("a menu", [ofFive("(2 (2 a) (2 menu))")], FIVE)]) {
    for (const [term, problem] of [
      [3, /each term as a string, found number/],
      [["battery"], /each term as a string, found Array/],
      [null, /each term as a string, found null/],
      ["", /a letter or digit in each name of a term, found ""/],
      [" ", /a letter or digit/],
      ["price|", /found "price\|"/],
      ["?!", /a letter or digit/],
    ]) {
      assert.throws(() => result.about("menu", term), { name: "InputError", message: problem });
    }
  }
});

test("about needs a model of sentiment that scores phrases", async () => {
  const model = await load(GOLDEN);
  for (const text of ["", "a film"]) {
    const found = await model.predict(text);
    assert.throws(() => found.about("film"), { name: "InputError", message: /has the classes \w+, .*: load / });
  }
  const { words, transitions } = treeOf("(2 (2 a) (2 menu))");
  const alone = sentenceOf({ words, transitions }, [[0.2, 0.2, 0.2, 0.2, 0.2]], FIVE);
  assert.throws(() => alone.about("menu"), { name: "InputError", message: /scores only sentences: load / });
  assert.deepEqual(alone.about("film"), []);
});

test("a reversed aspect gives each score to its class, whatever the classes are called", () => {
  const labels = ["very negative", "negative", "neutral", "positive", "very positive"];
  const classSets = new Map([["-1", labels.slice(0, 2)], ["0", ["neutral"]], ["1", labels.slice(3)]]);
  const tree = treeOf("(3 (3 (3 great) (2 staff)) (2 (2 except) (2 food)))");
  const rows = tree.labels.map((label) => labels.map((_, place) => (place === Number(label) ? 0.8 : 0.05)));
  const view = chooseView({ labels, classSets });
  const [food] = new Result("great staff except food", [sentenceOf(tree, rows, view)], view).about("food");
  assert.equal(food.label, "-1");
  assert.ok(food.scores["-1"] > food.scores[0] && food.scores["-1"] > food.scores[1]);
});
