import type { Span } from "./english.js";

/** What a model says of a sentence: its tree, and the scores of its nodes. */
export interface Scored {
  /** 2n - 1 of n words; none of a plain sentence. */
  transitions: number[];
  /** A row of C probabilities for each node, or for the sentence alone; until texts are put together, its vector is behind them. */
  scores: Float32Array[];
  /** What each of its words counts in the mean of a text. */
  weight: number;
  /** Words [start, end) of the parts that it was read in; none where it was read as a whole. */
  parts: Span[];
  /** How probably each node is a term; undefined unless the model is one of aspects. */
  terms?: Float32Array;
  /** The vector (D,) of each row of scores, of length 1; undefined of a model without vectors. */
  vectors?: Float32Array[];
  /** The digest of the model that its vectors are of. */
  model?: string;
}

/** The weighted mean of rows of scores. */
export function meanScores(rows: readonly Float32Array[], weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from(rows[0], (_, label) => rows.reduce((sum, row, place) => sum + row[label] * (weights[place] / total), 0));
}

/** The place of the greatest number, the first of equal ones. */
export function argmax(row: ArrayLike<number>): number {
  let best = 0;
  for (let place = 1; place < row.length; place++) if (row[place] > row[best]) best = place;
  return best;
}

/**
 * The class that is the label of a row: the most probable one. If it lies on the other side of a scale than the polarity, the most
 * probable one of the side of the polarity.
 */
export function bestOf(row: ArrayLike<number>, polarities: readonly number[] | null): number {
  const best = argmax(row);
  const mean = polarityOf(row, polarities) ?? 0;
  if (!polarities || polarities[best] * mean >= 0) return best;
  return argmax(polarities.map((place, label) => (place * mean > 0 ? row[label] : -1)));
}

/** The probabilities of a row, by the names of their classes. */
export function named(row: ArrayLike<number>, labels: readonly string[]): Record<string, number> {
  return Object.fromEntries(labels.map((label, place) => [label, row[place]])); // which defines "__proto__" too
}

/** The mean of the places of classes, weighted by their probabilities; null without places. */
export function polarityOf(row: ArrayLike<number>, polarities: readonly number[] | null): number | null {
  return polarities && polarities.reduce((sum, polarity, place) => sum + polarity * row[place], 0);
}

/** Whether every phrase of a sentence has scores, not the sentence alone. */
export function hasPhrases({ nodeScores, transitions }: { nodeScores: { length: number }; transitions: { length: number } }): boolean {
  return nodeScores.length === transitions.length;
}
