/** What a model says, as plain data. */
import { type Phrase } from "./phrase.js";
import { type Scores } from "./prediction.js";

/** A phrase with the phrases that it is made of. */
export interface NestedPhrase {
  text: string;
  /** UTF-16 units [start, end) of the sentence's text. */
  start: number;
  end: number;
  /** As of `Phrase`. */
  label: string | null;
  polarity: number | null;
  scores: Scores | null;
  /** Two of a phrase, none of a word. */
  children: NestedPhrase[];
}

/** A sentence, its tree as nested phrases; null of a model of plain sentences. */
export interface NestedSentence {
  text: string;
  /** The UTF-16 unit of the whole text that it starts at. */
  start: number;
  label: string | null;
  polarity: number | null;
  scores: Scores;
  tree: NestedPhrase | null;
}

/** A text. */
export interface NestedText {
  text: string;
  label: string | null;
  polarity: number | null;
  scores: Scores;
  sentences: NestedSentence[];
}

/** The tree of a sentence that starts at `offset`, of its phrases by their nodes. */
export function nested(phrases: readonly Phrase[], offset: number): NestedPhrase | null {
  const stack: NestedPhrase[] = [];
  for (const { text, start, end, label, polarity, scores, children } of phrases) {
    const parts = children.length ? stack.splice(-2) : [];
    stack.push({ text, start: start - offset, end: end - offset, label, polarity, scores, children: parts });
  }
  return stack.pop() ?? null;
}

/** Numbers with six digits after the point. */
export function rounded<Value extends Scores | number | null>(value: Value): Value;
export function rounded(value: Scores | number | null): Scores | number | null {
  if (typeof value === "number") return Math.round(value * 1e6) / 1e6;
  return value && Object.fromEntries(Object.entries(value).map(([label, score]) => [label, rounded(score)]));
}
