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

/** The vector, normalized to length 1. */
export function unit(vector: ArrayLike<number>): Float32Array {
  const values = new Float32Array(vector);
  const length = Math.max(Math.sqrt(dot(values, values)), LEAST);
  return values.map((value) => value / length);
}

/** The inner product of two vectors. */
export function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * other[place], 0);
}

/** Splits off the last `width` columns of the scores of a model, named by its digest, as vectors of length 1. */
export function withVectors(width: number, scored: Scored, model: string): Scored {
  if (!width) return scored;
  const vectors = scored.scores.map((row) => unit(row.subarray(-width)));
  return { ...scored, scores: scored.scores.map((row) => row.slice(0, -width)), vectors, model };
}

/** The mean of the sentences' vectors, weighted by words, normalized to length 1; null without any. */
export function meanVector(sentences: readonly { vector: Float32Array | null; words: readonly string[] }[]): Float32Array | null {
  const rows = sentences.flatMap(({ vector }) => vector ?? []);
  return rows.length ? unit(meanScores(rows, sentences.map(({ words }) => words.length))) : null;
}

/** A phrase, sentence or text with a vector. */
export interface WithVector {
  readonly vector: Float32Array | null;
}

