/** Finds mentions of terms that a user names, in any case, singular or plural. Mirrors `runtime/mentions.py`. */
import { InputError } from "./errors.js";
import { partsOf, patternOf, plainWords } from "./names.js";
import { type Prediction } from "./prediction.js";
import { kindOf } from "./texts.js";

/** The range [start, end) of a mention in a sentence, in UTF-16 units, and the term as passed. */
export interface Mention {
  start: number;
  end: number;
  asked: string;
}

type Read = Pick<Prediction, "text" | "words" | "offsets">;

const WORD = String.raw`[\p{L}\p{N}_]`;
// The only mark whose other case is a letter (iota). If case were ignored, it would be part of a word.
const [MARK, INSTEAD] = ["\u0345", "\ue000"];

/**
 * A function that finds the mentions of terms in a sentence, in order. `|` separates several names of a term; the longest match counts.
 * Throws InputError unless every term is a string with a letter or digit in each name.
 */
export function finderOf(terms: readonly unknown[]): (sentence: Read) => Mention[] {
  const patterns = Array.from(new Set(terms), (term) => [term as string, finder(term)] as const);
  return (sentence) => {
    const words = plainWords(sentence.words);
    const joined = words.join(" ").replaceAll(MARK, INSTEAD);
    let next = 0;
    const starts = words.map(({ length }) => (next += length + 1) - length - 1);
    const found = patterns.flatMap(([asked, pattern]) =>
      Array.from(joined.matchAll(pattern), ({ 0: { length }, index }): Mention => {
        const typed = (place: number, end: number) => typedPlace(sentence, words, starts, place, end);
        return { start: typed(index, 0), end: typed(index + length, 1), asked };
      }),
    );
    return found.sort((one, other) => one.start - other.start || one.end - other.end);
  };
}

function finder(term: unknown): RegExp {
  const names = typeof term === "string" ? term.split("|").map(partsOf) : [];
  const problem =
    typeof term !== "string" ? `each term as a string, found ${kindOf(term)}`
    : /\p{Cs}/u.test(term) ? "each term as Unicode text, found half of a surrogate pair"
    : !names.every((parts) => /[\p{L}\p{N}]/u.test(parts.join(""))) ? `a letter or digit in each name of a term, found ${JSON.stringify(term.slice(0, 99))}`
    : undefined;
  if (problem) throw new InputError(`about: expected ${problem}: pass terms such as "battery" or "price|cost"`);
  const size = (parts: readonly string[]) => [...parts.join("")].length;
  const forms = names.sort((one, other) => size(other) - size(one)).map(patternOf).join("|");
  // Python also matches the dotted and the dotless i with i.
  const folded = forms.replace(/[iIıİ]/g, "[iıİ]").replace(/[ιΙ\u1fbe\u0345]/g, `[ι${INSTEAD}]`);
  return new RegExp(`(?<!${WORD})(?:${folded})(?!${WORD})`, "giu");
}

/** The index of the first value that passes a test, as all after it do; their number if none does. */
export function firstWhere<Value>(values: readonly Value[], passes: (value: Value) => boolean): number {
  let [first, behind] = [0, values.length];
  while (first < behind) {
    const middle = (first + behind) >> 1;
    if (passes(values[middle])) behind = middle;
    else first = middle + 1;
  }
  return first;
}

/**
 * Converts a place in the space-joined words, which begin at `starts`, to a UTF-16 unit of the sentence: after the last unit if it is an
 * `end`.
 */
function typedPlace({ text, offsets }: Read, words: readonly string[], starts: readonly number[], place: number, end: number): number {
  const number = firstWhere(starts, (start) => start > place - end) - 1;
  const word = words[number];
  const start = place - starts[number];
  const [first, behind] = offsets[number];
  if (text.slice(first, behind) === word) return first + start;
  const [letters, typed] = [[...word], [...text.slice(first, behind)]];
  let inside = [...word.slice(0, start)].length;
  if (typed.length !== letters.length && typed.slice(0, inside).join("") !== word.slice(0, start)) {
    const rest = typed.join("").endsWith(word.slice(start));
    inside = rest ? typed.length - letters.length + inside : end * typed.length;
  }
  return first + typed.slice(0, inside).join("").length;
}
