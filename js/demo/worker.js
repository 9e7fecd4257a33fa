/** Runs the model beside the page. Built into dist/worker.js. */
import { env } from "onnxruntime-web";

import { argmax } from "../src/scored.ts";
import { scaleAt } from "../src/scale.ts";
import { load } from "../src/web.ts";

env.wasm.numThreads = 1;
const calls = { open, predict };
let model;

onmessage = async ({ data: { id, call, given } }) => {
  try {
    postMessage({ id, answer: await calls[call](given) });
  } catch (error) {
    postMessage({ id, error: error?.message ?? String(error) });
  }
};

/** Loads a bundle; the one before it stays where that fails. */
async function open(place) {
  const found = await load(place);
  await model?.release();
  model = found;
  const name = place instanceof Map ? "your folder" : decodeURIComponent(new URL(place).pathname.replace(/\/$/, "").split("/").pop());
  return { name, labels: [...model.labels], tones: model.polarities && scaleAt(model.polarities).tones, about: Boolean(model.polarities) };
}

/** What it says of a text, as plain data; trees of up to `most` words. */
async function predict({ text, about, most }) {
  const found = await model.predict(text);
  const words = found.sentences.reduce((sum, sentence) => sum + sentence.words.length, 0);
  const label = model.labels.indexOf(found.label);
  return {
    label,
    polarity: found.polarity,
    scores: found.sentences.length ? model.labels.map((each) => found.scores[each]) : [],
    highlights: found.highlights().map((phrase) => ({ text: phrase.text, label: model.labels.indexOf(phrase.label) })),
    aspects: about.length ? found.about(...about).map(aspectOf) : null,
    sentences: found.sentences.map(sentenceOf),
    svg: words > most ? null : found.svg(),
    html: found.html(),
  };
}

function aspectOf({ text, label, because }) {
  return { text, label: model.labels.indexOf(label), because: because?.text ?? null };
}

function sentenceOf(sentence) {
  const { text, words, transitions, offsets, spans, nodeScores } = sentence;
  const nodes = spans.map(([start, end], row) => {
    const scores = [...nodeScores[row]];
    const label = sentence.labelOf(scores) === null ? -1 : argmax(scores);
    return { start: offsets[start][0], end: offsets[end - 1][1], label, scores };
  });
  return { text, words, transitions, nodes };
}
