/** Scores pairs of texts with a model trained on pairs. */
import { batches } from "./batching.js";
import { splitText } from "./english.js";
import { InputError } from "./errors.js";
import { bestOf, named } from "./scored.js";
import { type Model } from "./session.js";
import { type Part, type Tree, sum } from "./stretches.js";
import { faultOf, kindOf } from "./texts.js";
import { balanced } from "./transitions.js";
import { type View, shown } from "./views.js";

/** The result for a pair of texts. */
export interface PairResult {
  textA: string;
  textB: string;
  /** Their similarity, on the scale of the training ratings; null if the model predicts classes. */
  rating: number | null;
  /** The most probable class (of the sign of the polarity); null if the model predicts ratings, or if the probability is below `abstain`. */
  label: string | null;
  /** The probability of each class, or of each whole number of the scale. */
  scores: Record<string, number>;
}

export type Pair = [first: string, second: string];

/** Throws InputError if a pair model gets single texts. */
export function checkReadsTexts({ readsPairs }: Model): void {
  if (readsPairs) throw new InputError("this model reads pairs of texts, found single texts: call model.pairs(a, b)");
}

/** The pairs of two texts, or of two arrays of texts. Throws InputError with the pair and side of an invalid text. */
export function pairsOf({ readsPairs }: Model, a: unknown, b: unknown): Pair[] {
  if (!readsPairs) throw new InputError("pairs: this model reads single texts: call predict, or load a model that was trained on pairs");
  const columns = [a, b].map((side) => (typeof side === "string" ? [side] : side));
  if (!columns.every(Array.isArray) || typeof a !== typeof b) {
    throw new InputError(`pairs: expected two texts or two arrays of texts, found ${kindOf(a)} and ${kindOf(b)}`);
  }
  const [first, second] = columns as string[][];
  if (first.length !== second.length) throw new InputError(`pairs: expected two arrays of the same length, found ${first.length} and ${second.length} texts`);
  return first.map((text, place) => {
    [text, second[place]].forEach((side, which) => {
      const fault = faultOf(side);
      if (fault) throw new InputError(`${sideOf(place, which)}: ${fault}`);
    });
    return [text, second[place]];
  });
}

/** The words of both sides of each pair, as one sentence each. `start`: the index of the first pair. */
export function wordsOf(pairs: readonly Pair[], start: number): string[][] {
  return pairs.flatMap((pair, place) =>
    pair.map((text, which) => {
      const [sentence] = splitText(text, { split: false });
      if (!sentence) throw new InputError(`${sideOf(start + place, which)}: expected a text with words, found none`);
      return sentence.words;
    }),
  );
}

/** Scores pairs, from the parts of their sides. */
export async function scorePairs(model: Model, view: View, pairs: readonly Pair[], sides: readonly Part[][]): Promise<PairResult[]> {
  const trees = sides.map((parts): Tree => ({ parts, top: balanced(parts.length), size: parts.map(({ size }) => size).reduce(sum) }));
  const both = pairs.map((_, place) => [trees[2 * place], trees[2 * place + 1]]);
  const results: PairResult[] = [];
  for (const positions of batches(both.map(([one, other]) => sum(one.size, other.size)))) {
    const scored = await model.run(positions.flatMap((place) => both[place]));
    positions.forEach((place, row) => {
      const [[textA, textB], scores] = [pairs[place], shown(view, scored[2 * row]).scores[0]];
      const best = bestOf(scores, view.polarities);
      const label = model.ratesPairs || scores[best] < view.abstain ? null : view.labels[best];
      const rating = model.ratesPairs ? ratingOf(scores, view.labels) : null;
      results[place] = { textA, textB, rating, label, scores: named(scores, view.labels) };
    });
  }
  return results;
}

/** The mean of the whole numbers of a scale. Labels that are not numbers count from 1. */
function ratingOf(scores: Float32Array, labels: readonly string[]): number {
  const numbers = labels.map(Number);
  const scale = numbers.some(Number.isNaN) ? numbers.map((_, place) => place + 1) : numbers;
  return scores.reduce((total, score, place) => total + score * scale[place], 0);
}

function sideOf(place: number, which: number): string {
  return `${["textA", "textB"][which]} of pair ${place}`;
}
