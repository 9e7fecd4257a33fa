/** Finds mentions of terms that a user names: whole words, in any case, also in the plural. As `runtime/mentions.py`. */
import { SPACE } from "./drawnText.js";
import { InputError } from "./errors.js";
import { kindOf } from "./texts.js";

/** The UTF-16 units [start, end) of a sentence that mention a term, and the term as it was asked for. */
export interface Mention {
  start: number;
  end: number;
  asked: string;
}

const WORD = String.raw`[\p{L}\p{N}_]`;
// The one mark whose other case is a letter, the iota: where case is ignored, it would be a part of a word.
const [MARK, INSTEAD] = ["\u0345", "\ue000"];

/**
 * What finds the mentions of terms in a sentence, in order. A term may have several names, with `|` between them; where several
 * stand, the longest counts. Throws InputError for what is no string, and for a name without a letter or digit.
 */
export function finderOf(terms: readonly unknown[]): (text: string) => Mention[] {
  const patterns = Array.from(new Set(terms), (term) => [checked(term), patternOf(term as string)] as const);
  return (text) => {
    const found = patterns.flatMap(([asked, pattern]) =>
      Array.from(text.replaceAll(MARK, INSTEAD).matchAll(pattern), ({ 0: { length }, index }): Mention => ({ start: index, end: index + length, asked })),
    );
    return found.sort((one, other) => one.start - other.start || one.end - other.end);
  };
}

function checked(term: unknown): string {
  const problem =
    typeof term !== "string" ? `strings; found ${kindOf(term)}`
    : !term.split("|").every((name) => /[\p{L}\p{N}]/u.test(name)) ? `a letter or digit in each name; found ${JSON.stringify(term.slice(0, 99))}`
    : undefined;
  if (problem) throw new InputError(`about: expected terms such as "battery" or "price|cost", ${problem}`);
  return term as string;
}

function patternOf(term: string): RegExp {
  const names = term.split("|").map((name) => name.split(SPACE).filter(Boolean));
  const size = (words: readonly string[]) => [...words.join(" ")].length;
  const forms = names.sort((one, other) => size(other) - size(one)).map(formsOf).join("|");
  // Python takes the dotted and the dotless i for an i too.
  const folded = forms.replace(/[iIıİ]/g, "[iıİ]").replace(/[ιΙ\u1fbe\u0345]/g, `[ι${INSTEAD}]`);
  return new RegExp(`(?<!${WORD})(?:${folded})(?!${WORD})`, "giu");
}

/** A pattern of a name and its plurals. */
function formsOf(words: readonly string[]): string {
  const spelt = words.map((word) => word.replace(/[\\^$.*+?()[\]{}]/g, "\\$&")).join(SPACE.source);
  return `${spelt}(?:e?s)?${/y$/i.test(spelt) ? `|${spelt.slice(0, -1)}ies` : ""}`;
}
