/** Phrases: the nodes of a sentence's tree with their scores. */
import { type Prediction, type Scores } from "./prediction.js";
import { bestOf, named, polarityOf } from "./scored.js";
import { SHIFT, spansOf } from "./transitions.js";

interface Relatives {
  sentence: Prediction;
  parent: Phrase | null;
  children: readonly Phrase[];
}

/**
 * A phrase of a text, from a single word to the whole sentence. It is created when its sentence is first asked for phrases. Structured
 * clones and JSON contain its data without parent and children.
 */
export class Phrase {
  /** Its index in the tree: 0 is the first word, the last is the sentence. */
  readonly node: number;
  /** The text as typed. */
  readonly text: string;
  /** The range [start, end) in the whole text, in UTF-16 units: `result.text.slice(phrase.start, phrase.end) === phrase.text`. */
  readonly start: number;
  readonly end: number;
  /** The most probable class; null if its probability is below `abstain`, or if the phrase has no scores. */
  readonly label: string | null;
  /** The probability of each class; null if the model scores whole sentences only. */
  readonly scores: Scores | null;
  /** From -1 (negative) to 1 (positive); null without scores or a sentiment scale. */
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

  /** Its vector, of unit norm; null if the model gives it none. */
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

  /** The phrase that contains it; null for the sentence. */
  get parent(): Phrase | null {
    return this.relatives.parent;
  }

  /** Its parts: two for a phrase, none for a word. */
  get children(): readonly Phrase[] {
    return this.relatives.children;
  }
}

/** The phrases of a sentence in node order; none if the model uses no trees. */
export function phrasesOf(sentence: Prediction): Phrase[] {
  const stack: Phrase[] = [];
  return spansOf(sentence.transitions).map(([first, behind], node) => {
    const children = sentence.transitions[node] === SHIFT ? [] : stack.splice(-2);
    const phrase = new Phrase(sentence, node, first, behind, children);
    stack.push(phrase);
    return phrase;
  });
}

/** The polarity of a neutral phrase. */
export const NEUTRAL = 0;

/** Polarity of its best class, even below `abstain`: -1, 1 or NEUTRAL. Without a sentiment scale, the number of the class, from 1. */
export function sideOf({ node, sentence }: Phrase): number {
  const row = sentence.scoresAt(node);
  if (!row || !sentence.labels.length) return NEUTRAL;
  const best = bestOf(row, sentence.polarities);
  return sentence.polarities ? Math.sign(sentence.polarities[best]) : best + 1;
}

/** The other child of the parent. */
export function siblingOf({ node, parent }: Phrase): Phrase {
  const [left, right] = parent!.children;
  return node === left.node ? right : left;
}

/** The phrases of a result or sentence, computed once. */
export function once(owner: { phrases: readonly Phrase[] }, make: () => readonly Phrase[]): readonly Phrase[] {
  const known = owner as { [MADE]?: readonly Phrase[] };
  if (known[MADE]) return known[MADE];
  const phrases = make();
  if (Object.isExtensible(owner)) hide(owner, MADE, phrases);
  return phrases;
}

const MADE = Symbol("phrases");

/**
 * Adds a property that is neither cloned nor printed. A private name or read-only property would not work through a `Proxy`, as in Vue,
 * and a `WeakMap` would make garbage collection take twice as long as everything else.
 */
export function hide(owner: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true });
}
