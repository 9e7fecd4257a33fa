/** Splits sentences that are too long for a model, and joins their parts. */
import { type Span } from "./english.js";
import { InputError } from "./errors.js";
import { type Scored, meanScores } from "./scored.js";
import { SHIFT, balanced, over, spansOf } from "./transitions.js";

/** The default limit of words for a sentence in one part. */
export const MAX_WORDS = 400;
/** The limit of characters for a sentence in one part; 40 times the limit of words if that is larger. */
const MAX_CHARACTERS = 1 << 14;

// The marks after which a sentence is split, best first.
const MARKS = [new Set([";", ":", "--", "–", "—", ".", "...", "…", "!", "?"]), new Set([","])];

/** The limits of a model: words, and pieces as counted by `count`. */
export interface Limits {
  words: number;
  pieces?: number;
  count: (words: readonly string[]) => number[];
}

/**
 * The word ranges [start, end) of the parts of a sentence. Each part costs at most `limit` or is a single word. `costs`: the cost of
 * each word.
 *
 * A part that costs too much is split after the semicolon, colon, dash or full stop nearest to the middle, or else after a comma, if
 * that leaves at least a quarter on each side; otherwise at the middle.
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

/** Of `count` ordered places, the one before which the cost is nearest to `middle`; 0 without any. */
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

/** The parts of each sentence. `given`: the trees were passed, so sentences cannot be split. */
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
    throw new InputError(`${found}: shorten it, or leave its tree out so that it is read in parts`);
  }
}

/**
 * Joins the parts of a sentence with a balanced tree. The joining nodes have the mean scores of the parts below them, weighted by words.
 * `phrases`: whether all nodes have scores, not only the sentence.
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
