/** Sentences too long for a model: where they are cut, and how their parts are joined again. */
import { type Span } from "./english.js";
import { InputError } from "./errors.js";
import { type Scored, meanScores } from "./scored.js";
import { SHIFT, balanced, over, spansOf } from "./transitions.js";

/** Words of a sentence that is read as a whole, by default. */
export const MAX_WORDS = 400;
/** Characters of the words of a sentence that is read as a whole, or 40 times the words if these are more. */
const MAX_CHARACTERS = 1 << 14;

// Behind what a sentence is cut, the best first.
const MARKS = [new Set([";", ":", "--", "–", "—", ".", "...", "…", "!", "?"]), new Set([","])];

/** What a model reads at once: so many words, and so many of the word pieces that `pieces` counts. */
export interface Limits {
  words: number;
  pieces?: number;
  count: (words: readonly string[]) => number[];
}

/**
 * The words [start, end) of the parts of a sentence, each of a cost of at most `limit`, or of one word. `costs`: of each word.
 *
 * What costs too much is cut in two, again and again: behind a semicolon, colon, dash or full stop, else behind a comma,
 * whichever is nearest to the middle and leaves at least a quarter on either side; else at the middle.
 */
export function cut(words: readonly string[], costs: readonly number[], limit: number): Span[] {
  const before = [0]; // the cost of all words before each
  for (const cost of costs) before.push(before.at(-1)! + cost);
  const marked = MARKS.map((marks) => [...words.keys()].filter((place) => marks.has(words[place])).map((place) => place + 1));
  const parts: Span[] = [];
  const todo: Span[] = [[0, words.length]];
  while (todo.length) {
    const [start, end] = todo.pop()!;
    const cost = before[end] - before[start];
    if (cost <= limit || end - start === 1) {
      parts.push([start, end]);
      continue;
    }
    const middle = before[start] + cost / 2;
    const mark = marked
      .map((places) => nearest(places.length, (index) => places[index], before, middle))
      .find((place) => start < place && place < end && Math.abs(before[place] - middle) <= cost / 4);
    const place = mark ?? nearest(end - start - 1, (index) => start + 1 + index, before, middle);
    todo.push([place, end], [start, place]);
  }
  return parts;
}

/** The one of `count` places, in order, before which the cost is nearest to `middle`; 0 of none. */
function nearest(count: number, at: (index: number) => number, before: readonly number[], middle: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const half = (low + high) >> 1;
    if (before[at(half)] < middle) low = half + 1;
    else high = half;
  }
  const near = [low - 1, low].filter((index) => index >= 0 && index < count).map(at);
  const distance = (place: number) => Math.abs(before[place] - middle);
  return near.reduce((best, place) => (distance(place) < distance(best) ? place : best), near[0] ?? 0);
}

/** The parts of each sentence; one of a sentence that is read as a whole. `given`: their trees are, so nothing can be cut. */
export function cutsOf(sentences: readonly (readonly string[])[], limits: Limits, given: boolean): Span[][] {
  const most = Math.max(MAX_CHARACTERS, 40 * limits.words);
  return sentences.map((words, place) => {
    let cuts: Span[] = [[0, words.length]];
    const finer = (costs: readonly number[], limit: number) => {
      cuts = cuts.flatMap(([start, end]) =>
        cut(words.slice(start, end), costs.slice(start, end), limit).map(([first, behind]): Span => [start + first, start + behind]),
      );
    };
    if (!given && words.length > limits.words) finer(Array(words.length).fill(1), limits.words);
    if (!given && total(words.map(({ length }) => length)) > most) {
      const costs = words.map((word) => Array.from(word).length || 1);
      if (total(costs) > most) finer(costs, most);
    }
    if (limits.pieces === undefined) return cuts;
    const pieces = limits.count(words);
    if (total(pieces) <= limits.pieces) return cuts;
    checkPieces(words, place, pieces, total(pieces), limits.pieces, given);
    finer(pieces, limits.pieces);
    return cuts;
  });
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function checkPieces(
  words: readonly string[],
  place: number,
  pieces: readonly number[],
  total: number,
  most: number,
  given: boolean,
): void {
  const long = pieces.findIndex((count) => count > most);
  if (long >= 0) {
    const found = `the word ${words[long].slice(0, 40)} has ${pieces[long]} word pieces`;
    throw new InputError(`sentence ${place}: ${found}; this model reads ${most} at once: shorten it or leave it out`);
  }
  if (given) {
    const found = `sentence ${place} has ${total} word pieces; this model reads ${most} at once`;
    throw new InputError(`${found}: shorten it, or leave its tree out, and it is read in parts`);
  }
}

/**
 * One sentence of its parts: a balanced tree over their trees. Its nodes above the parts have the mean of the scores of the parts
 * below, weighted by words. `phrases`: whether all nodes have scores, not the sentence alone.
 */
export function join(parts: readonly Scored[], spans: Span[], phrases: boolean): Pick<Scored, "transitions" | "scores"> {
  const top = balanced(parts.length);
  const roots = parts.map(({ scores }) => scores.at(-1)!);
  const lengths = spans.map(([start, end]) => end - start);
  const below = spansOf(top);
  let next = 0;
  const rows = top.map((step, node) => {
    if (step === SHIFT) return parts[next++].scores;
    return [Float32Array.from(meanScores(roots.slice(...below[node]), lengths.slice(...below[node])))];
  });
  const trees = parts.map(({ transitions }) => transitions);
  const tree = trees[0].length > 0; // a plain sentence has none
  return { transitions: tree ? over(top, trees) : [], scores: tree && phrases ? rows.flat() : rows.at(-1)! };
}
