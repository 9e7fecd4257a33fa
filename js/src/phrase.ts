/** Phrases: the nodes of a sentence's tree, with what the model says of each. */
import { type Prediction, type Scores } from "./prediction.js";
import { named, polarityOf } from "./scored.js";
import { SHIFT, spansOf } from "./transitions.js";

interface Relatives {
  sentence: Prediction;
  parent: Phrase | null;
  children: readonly Phrase[];
}

/**
 * A phrase of a text, a word or the whole sentence. It belongs to its sentence, which makes it when it is first asked for. A
 * structured clone and JSON have its own data, and not its relatives.
 */
export class Phrase {
  /** Its number in the tree: 0 is the first word, the last is the sentence. */
  readonly node: number;
  /** What was typed. */
  readonly text: string;
  /** UTF-16 units [start, end) of the whole text: `result.text.slice(phrase.start, phrase.end) === phrase.text`. */
  readonly start: number;
  readonly end: number;
  /** The most probable class. Null where it is not as probable as `abstain`, and inside a sentence whose phrases have no scores. */
  readonly label: string | null;
  /** The probability of each class. Null inside a sentence whose phrases have no scores. */
  readonly scores: Scores | null;
  /** From -1 (negative) to 1 (positive). Null where `scores` is, and where the classes are no scale of sentiment. */
  readonly polarity: number | null;
  private declare readonly relatives: Relatives;

  constructor(sentence: Prediction, node: number, first: number, behind: number, children: readonly Phrase[] = []) {
    const [start, end] = [sentence.offsets[first][0], sentence.offsets[behind - 1][1]];
    const row = sentence.scoresAt(node);
    this.node = node;
    this.text = sentence.text.slice(start, end);
    [this.start, this.end] = [sentence.start + start, sentence.start + end];
    this.label = row ? sentence.labelOf(row) : null;
    this.scores = row ? named(row, sentence.labels) : null;
    this.polarity = row ? polarityOf(row, sentence.polarities) : null;
    hide(this, "relatives", { sentence, parent: null, children });
    for (const child of children) child.relatives.parent = this;
  }

  /** Its vector, of length 1. Null of a model without vectors, and inside a sentence whose phrases have none. */
  get vector(): Float32Array | null {
    const { vectors, transitions } = this.sentence;
    if (!vectors) return null;
    const row = this.node - (transitions.length || 1) + vectors.length; // the sentence alone may have one
    return vectors[row] ?? null;
  }

  /** The sentence that it stands in. */
  get sentence(): Prediction {
    return this.relatives.sentence;
  }

  /** The phrase that it is a part of; null of the sentence. */
  get parent(): Phrase | null {
    return this.relatives.parent;
  }

  /** Its parts: two of a phrase, none of a word. */
  get children(): readonly Phrase[] {
    return this.relatives.children;
  }
}

/** The phrases of a sentence by their nodes; none where the model reads plain sentences. */
export function phrasesOf(sentence: Prediction): Phrase[] {
  const stack: Phrase[] = [];
  return spansOf(sentence.transitions).map(([first, behind], node) => {
    const children = sentence.transitions[node] === SHIFT ? [] : stack.splice(-2);
    const phrase = new Phrase(sentence, node, first, behind, children);
    stack.push(phrase);
    return phrase;
  });
}

/** The side of a phrase that is neutral or has no label. */
export const NEUTRAL = 0;

/** -1 or 1, NEUTRAL without a label too; the number of its class from 1 where classes are no scale. */
export function sideOf({ label, sentence: { labels, polarities } }: Phrase): number {
  const place = label === null ? -1 : labels.indexOf(label);
  if (place < 0) return NEUTRAL;
  return polarities ? Math.sign(polarities[place]) : place + 1;
}

/** The other part of the phrase around one. */
export function siblingOf({ node, parent }: Phrase): Phrase {
  const [left, right] = parent!.children;
  return node === left.node ? right : left;
}

/** The phrases that `make` gives for a result or a sentence, made once. */
export function once(owner: { phrases: readonly Phrase[] }, make: () => readonly Phrase[]): readonly Phrase[] {
  const known = owner as { [MADE]?: readonly Phrase[] };
  if (known[MADE]) return known[MADE];
  const phrases = make();
  if (Object.isExtensible(owner)) hide(owner, MADE, phrases);
  return phrases;
}

const MADE = Symbol("phrases");

/**
 * Gives an object a property that is neither cloned nor printed. A private name would be out of reach through a `Proxy`, as Vue has,
 * and so would be what cannot be written. A `WeakMap` takes the collector of garbage twice the time of all else.
 */
export function hide(owner: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true });
}
