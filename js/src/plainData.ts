/** Results as plain data. */
import { type Phrase } from "./phrase.js";
import { type Scores } from "./prediction.js";

/** A phrase with its parts. */
export interface NestedPhrase {
  text: string;
  /** The range [start, end) in the sentence, in UTF-16 units. */
  start: number;
  end: number;
  /** As in `Phrase`. */
  label: string | null;
  polarity: number | null;
  scores: Scores | null;
  /** Two for a phrase, none for a word. */
  children: NestedPhrase[];
}

/** A sentence with its tree as nested phrases; `tree` is null if the model uses no trees. */
export interface NestedSentence {
  text: string;
  /** Where it starts in the whole text, in UTF-16 units. */
  start: number;
  label: string | null;
  polarity: number | null;
  scores: Scores;
  tree: NestedPhrase | null;
}

/** A text with its sentences. */
export interface NestedText {
  text: string;
  label: string | null;
  polarity: number | null;
  scores: Scores;
  sentences: NestedSentence[];
}

/** The tree of a sentence that starts at `offset`, from its phrases in node order. */
export function nested(phrases: readonly Phrase[], offset: number): NestedPhrase | null {
  const stack: NestedPhrase[] = [];
  for (const { text, start, end, label, polarity, scores, children } of phrases) {
    const parts = children.length ? stack.splice(-2) : [];
    stack.push({ text, start: start - offset, end: end - offset, label, polarity, scores, children: parts });
  }
  return stack.pop() ?? null;
}

/** Rounds numbers to six decimals. */
export function rounded<Value extends Scores | number | null>(value: Value): Value;
export function rounded(value: Scores | number | null): Scores | number | null {
  if (typeof value === "number") return Math.round(value * 1e6) / 1e6;
  return value && Object.fromEntries(Object.entries(value).map(([label, score]) => [label, rounded(score)]));
}
