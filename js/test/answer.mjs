/** Answers questions of tests in Python: reads `{call, ...}` as JSON from standard input, and prints JSON. */
import { readFileSync } from "node:fs";

import * as node from "../dist/node.js";
import * as web from "../dist/web.js";
import { served } from "./served.mjs";
import { pretended } from "./pretended.mjs";

const calls = { split, pieces, ids, predict, data, drawn, said, onGpu, encode, ofAnother, pairs, refused };
const { call, ...question } = JSON.parse(readFileSync(0, "utf8"));
const answer = JSON.stringify(await calls[call](question));
process.stdout.write(answer);

/** The sentences of each text. */
function split({ texts, split: cut }) {
  return texts.map((text) => node.splitText(text, { split: cut }));
}

/** The ids of the pieces of each word. */
function pieces({ vocabulary, words }) {
  const { piecesOf } = new node.WordpieceVocabulary(readFileSync(vocabulary, "utf8"));
  return words.map(piecesOf);
}

/** The id of each word. */
function ids({ vocabulary, words }) {
  const { lookup } = new node.WordVocabulary(readFileSync(vocabulary, "utf8"));
  return words.map(lookup);
}

/** What a bundle says of each text, or of sentences of words; `entry`: node's, or the web's over HTTP. */
async function predict({ bundle, entry = "node", options, texts, words, how }) {
  const server = entry === "web" ? await served(bundle) : undefined;
  try {
    const model = entry === "web" ? await web.load(server.url, options) : await node.load(bundle, options);
    if (words) return (await model.predictWords(words, how)).map(sentenceOf);
    const found = await model.predict(texts, how);
    return found.map((result) => ({ ...result, sentences: result.sentences.map(sentenceOf), highlights: result.highlights(5) }));
  } catch (error) {
    return { error: error.name, message: error.message };
  } finally {
    server?.close();
  }
}

function sentenceOf({ words, transitions, nodeScores, label, polarity, weight, parts, brackets }) {
  return { words, transitions, scores: nodeScores.map((row) => [...row]), label, polarity, weight, parts, brackets };
}

/** The vectors of each text, of its sentences and phrases, and its row; of spans of the first sentence; how similar the first text is to `beside`. */
async function encode({ bundle, options, texts, how, beside, spans }) {
  const model = await node.load(bundle, options);
  const errors = [];
  const onError = (place, { message }) => errors.push([place, message]);
  const rows = await model.encode(texts, { ...how, onError });
  const results = await model.predict(texts);
  const vectors = results.map(({ vector, sentences }) => ({ text: list(vector), sentences: sentences.map(({ vectors }) => vectors.map(list)) }));
  const phrases = results.map(({ phrases }) => phrases.map(({ vector }) => list(vector)));
  const similar = [await model.similarity(texts[0], beside), await model.similarity(results[0].phrases.at(-1), results[0].vector.map((value) => 2 * value))];
  const inside = await model.spanVectors(results[0].sentences[0], spans);
  return { rows: rows.map(list), errors, vectors, phrases, similar, inside: inside.map(list) };
}

/** What a model answers when it gets what another model has read. */
async function ofAnother({ bundle, other, text }) {
  const [model, stranger] = [await node.load(bundle), await node.load(other)];
  const result = await stranger.predict(text);
  const values = [result, result.sentences[0], result.phrases[0], structuredClone(result)];
  const calls = [...values.map((value) => () => model.similarity(text, value)), () => model.spanVectors(result.sentences[0], [[0, 1]])];
  return Promise.all(calls.map((call) => call().then(String, (error) => `${error.name}: ${error.message}`)));
}

/** What a bundle says of pairs of texts, and the messages of what it refuses. */
async function pairs({ bundle, options, a, b, refused: others = [] }) {
  const model = await node.load(bundle, options);
  const messages = [];
  const calls = [() => model.predict(a), () => model.stream(a), () => model.predictWords([["a"]]), ...others.map((sides) => () => model.pairs(...sides))];
  for (const call of calls) {
    const error = await Promise.resolve().then(call).catch((error) => error);
    messages.push(`${error.name}: ${error.message}`);
  }
  return { results: await model.pairs(a, b), alone: await model.pairs(a[0], b[0]), messages };
}

function list(vector) {
  return vector && [...vector];
}

/** The messages of what a model refuses, by call. */
async function refused({ bundle, text, options = {} }) {
  const messages = {};
  const refuse = async (name, call) => {
    const error = await Promise.resolve().then(call).catch((error) => error);
    messages[name] = `${error.name}: ${error.message}`;
  };
  let model;
  await refuse("load", async () => (model = await node.load(bundle, options)));
  if (!model) return messages;
  delete messages.load;
  const result = await model.predict(text);
  for (const name of ["highlights", "svg", "html"]) await refuse(name, () => result[name]());
  await refuse("about", () => result.about("film"));
  await refuse("encode", () => model.encode(text));
  await refuse("sign", () => model.encode(text, { sign: true }));
  await refuse("similarity", () => model.similarity(text, new Float32Array(3)));
  await refuse("outside", () => model.spanVectors(result.sentences[0], [[0, 3]]));
  await refuse("empty", () => model.encode(["good", " "]));
  for (const name of ["abstain", "classes"]) await refuse(name, () => node.load(bundle, { [name]: name === "classes" ? 3 : 0.5 }));
  return messages;
}

/** The JSON form of one text. */
async function data({ bundle, text }) {
  return (await node.load(bundle)).predict(text);
}

/** What each text says of terms, a list for each text, and of the terms that the model finds, if `finds`. */
async function said({ bundle, options, texts, terms, finds }) {
  const results = await (await node.load(bundle, options)).predict(texts);
  const own = (found) => ({ ...found.toJSON(), probability: found.probability, sentence: found.sentence.text });
  return results.map((found, place) => ({
    about: found.about(...terms[place]).map(own),
    sentences: found.sentences.map((each) => each.about(...terms[place]).length),
    aspects: finds ? found.aspects.map(own) : null,
  }));
}

/** The file that onnxruntime gets for a GPU, in base 64, and the names of the nodes that it leaves on the host. */
async function onGpu({ bundle }) {
  const [runtime, asked] = pretended();
  await node.load(bundle, { device: "webgpu", runtime });
  const [{ model, providers }] = asked;
  return { model: Buffer.from(model).toString("base64"), names: providers[0].forceCpuNodeNames ?? [] };
}

/** Each text as a tree and as coloured text. */
async function drawn({ bundle, options, texts }) {
  return (await (await node.load(bundle, options)).predict(texts)).map((found) => [found.svg(), found.html()]);
}
