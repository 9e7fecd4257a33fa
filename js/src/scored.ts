import type { Span } from "./english.js";

/** The scores of a sentence and its tree. */
export interface Scored {
  /** 2n - 1 transitions for n words; empty without a tree. */
  transitions: number[];
  /** C probabilities for each node, or for the sentence only. Until sentences are combined, a row also contains its vector. */
  scores: Float32Array[];
  /** The weight of each of its words in the mean of a text. */
  weight: number;
  /** The word range [start, end) of each part of a split sentence; otherwise empty. */
  parts: Span[];
  /** The probability that each node is a term; undefined unless it is an aspects model. */
  terms?: Float32Array;
  /** The vector (D,), of unit norm, of each row of scores; undefined if the model has no vectors. */
  vectors?: Float32Array[];
  /** The digest of the model that computed its vectors. */
  model?: string;
}

/** The weighted mean of rows of scores. */
export function meanScores(rows: readonly Float32Array[], weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from(rows[0], (_, label) => rows.reduce((sum, row, place) => sum + row[label] * (weights[place] / total), 0));
}

/** The index of the largest number, the first of equal ones. */
export function argmax(row: ArrayLike<number>): number {
  let best = 0;
  for (let place = 1; place < row.length; place++) if (row[place] > row[best]) best = place;
  return best;
}

/**
 * The index of a row's label: the most probable class or, if that contradicts the sign of the polarity, the most probable class with that
 * sign.
 */
export function bestOf(row: ArrayLike<number>, polarities: readonly number[] | null): number {
  const best = argmax(row);
  const mean = polarityOf(row, polarities) ?? 0;
  if (!polarities || polarities[best] * mean >= 0) return best;
  return argmax(polarities.map((place, label) => (place * mean > 0 ? row[label] : -1)));
}

/** The probabilities of a row, by class name. */
export function named(row: ArrayLike<number>, labels: readonly string[]): Record<string, number> {
  return Object.fromEntries(labels.map((label, place) => [label, row[place]])); // which defines "__proto__" too
}

/** The mean position of the classes, weighted by probability; null without positions. */
export function polarityOf(row: ArrayLike<number>, polarities: readonly number[] | null): number | null {
  return polarities && polarities.reduce((sum, polarity, place) => sum + polarity * row[place], 0);
}

/** Whether every phrase of a sentence has scores, not only the sentence. */
export function hasPhrases({ nodeScores, transitions }: { nodeScores: { length: number }; transitions: { length: number } }): boolean {
  return nodeScores.length === transitions.length;
}
