/** Vectors of phrases and texts, and their similarity. */
import { type Span } from "./english.js";
import { InputError } from "./errors.js";
import { type Prediction } from "./prediction.js";
import { type Scored, meanScores } from "./scored.js";
import { kindOf } from "./texts.js";
import { left, over } from "./transitions.js";

/** The weight of polarity in the signed score. */
const SIGN_WEIGHT = 0.3;
const LEAST = 1e-12;

/** The vector, scaled to unit norm. */
export function unit(vector: ArrayLike<number>): Float32Array {
  const values = new Float32Array(vector);
  const length = Math.max(Math.sqrt(dot(values, values)), LEAST);
  return values.map((value) => value / length);
}

/** The inner product of two vectors. */
export function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * other[place], 0);
}

/** Splits off the last `width` columns of the scores of a model, named by its digest, as vectors of unit norm. */
export function withVectors(width: number, scored: Scored, model: string): Scored {
  if (!width) return scored;
  const vectors = scored.scores.map((row) => unit(row.subarray(-width)));
  return { ...scored, scores: scored.scores.map((row) => row.slice(0, -width)), vectors, model };
}

/** The mean of the sentences' vectors, weighted by words, scaled to unit norm; null without any. */
export function meanVector(sentences: readonly { vector: Float32Array | null; words: readonly string[] }[]): Float32Array | null {
  const rows = sentences.flatMap(({ vector }) => vector ?? []);
  return rows.length ? unit(meanScores(rows, sentences.map(({ words }) => words.length))) : null;
}

/** A phrase, sentence or text with a vector. */
export interface WithVector {
  readonly vector: Float32Array | null;
}

/** The vector of a scored object, or the vector itself, scaled to unit norm. Throws InputError unless it has `width` columns and this model computed it. */
export function vectorOf(value: Float32Array | WithVector, width: number, model: string): Float32Array {
  const vector = value instanceof Float32Array ? value : value?.vector;
  const { sentence, sentences } = (value ?? {}) as { sentence?: Prediction; sentences?: readonly Prediction[] };
  const read = sentences?.[0] ?? sentence ?? (value as Partial<Prediction>);
  checkModel(read?.model ?? model, model, "similarity");
  if (vector?.length === width) return unit(vector);
  const problem = vector ? `a vector of ${vector.length} columns` : `${kindOf(value)} without a vector`;
  throw new InputError(`similarity: expected a text with words or a vector of ${width} columns, found ${problem}: pass a text`);
}

/** Throws InputError, with the name of the `call`, unless the model with the digest `model` computed the vectors. */
export function checkModel(found: unknown, model: string, call: string): void {
  if (found !== model) throw new InputError(`${call}: expected a vector of this model, found one of another: score the text with this model`);
}

/** The largest phrases inside the words [start, end) of a sentence, left to right, and the transitions that join them. */
export function cover(sentence: Prediction, span: Span): { nodes: number[]; steps: number[] } {
  const { transitions, words } = sentence;
  const [start, end] = span;
  if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= words.length)) {
    throw new InputError(`spanVectors: expected words [start, end) of ${words.length}, found [${span}]`);
  }
  const spans = sentence.spans;
  const nodes: number[] = [];
  for (let place = start; place < end; place = spans[nodes.at(-1)!][1]) {
    const node = spans.findLastIndex(([first, behind]) => first === place && behind <= end);
    if (node < 0) throw new InputError("spanVectors: this model gives vectors of whole sentences only: load a model of trees, or use the sentence's vector");
    nodes.push(node);
  }
  const trees = nodes.map((node) => transitions.slice(node + 2 - 2 * (spans[node][1] - spans[node][0]), node + 1));
  return { nodes, steps: over(left(nodes.length), trees) };
}

/** The polarity column of a vector with a sign. */
export function signOf(polarity: number): number {
  return Math.sign(polarity) * Math.sqrt(SIGN_WEIGHT * Math.abs(polarity));
}
