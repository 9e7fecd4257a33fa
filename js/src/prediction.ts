/** What a model says of a sentence and of every phrase in its tree, and of a text of several sentences. */
import { type Sentence, type Span } from "./english.js";
import { heat } from "./heat.js";
import { type Scored, argmax, meanScores } from "./scored.js";
import { svg } from "./svg.js";
import { SHIFT, spansOf } from "./transitions.js";
import { type View } from "./views.js";

/** The probability of each class, by its name. */
export type Scores = Record<string, number>;

/** A phrase of a tree, with the phrases that it is made of. */
export interface Phrase {
  text: string;
  /** UTF-16 units [start, end) of the sentence's text. */
  start: number;
  end: number;
  /** Null where no class is as probable as `abstain`, and inside a sentence whose phrases have no scores. */
  label: string | null;
  /** Null inside a sentence whose phrases have no scores. */
  scores: Scores | null;
  /** Two of a phrase, none of a word. */
  children: Phrase[];
}

/** A sentence as plain data, its tree as nested phrases; null of a model of plain sentences. */
export interface NestedSentence {
  text: string;
  start: number;
  label: string | null;
  scores: Scores;
  tree: Phrase | null;
}

/** A text as plain data. */
export interface NestedText {
  text: string;
  label: string | null;
  scores: Scores;
  sentences: NestedSentence[];
}

/** What a model says of one sentence of L words and its 2L - 1 phrases, or of the sentence alone. */
export class Prediction {
  /** The sentence. */
  readonly text: string;
  /** The UTF-16 unit of the whole text that it starts at. */
  readonly start: number;
  /** The L words as the model read them, in treebank conventions. */
  readonly words: readonly string[];
  /** UTF-16 units [start, end) of each word in `text`. */
  readonly offsets: readonly Span[];
  /** The tree, 0 SHIFT and 1 REDUCE; phrase i is node i, the sentence the last. Empty where the model reads plain sentences. */
  readonly transitions: readonly number[];
  /** The probability of each class for each phrase, the sentence last; one row where phrases have no scores. */
  readonly nodeScores: readonly Float32Array[];
  /** The classes. */
  readonly labels: readonly string[];
  /** A phrase none of whose classes is as probable as this has no label. */
  readonly abstain: number;
  /** What each of its words counts in the mean of a text. */
  readonly weight: number;
  /** Words [start, end) of the parts that a long sentence was read in; one part where it was read as a whole. */
  readonly parts: readonly Span[];
  /** The most probable class of the sentence; null where it is not as probable as `abstain`. */
  readonly label: string | null;
  /** The probabilities of the sentence's classes. */
  readonly scores: Scores;

  // Fields and no getters, because a structured clone, which workers are sent, keeps fields only.
  constructor({ text, start, words, offsets }: Sentence, scored: Scored, view: View) {
    [this.text, this.start, this.words, this.offsets] = [text, start, words, offsets];
    ({ transitions: this.transitions, scores: this.nodeScores, weight: this.weight } = scored);
    ({ labels: this.labels, abstain: this.abstain } = view);
    this.parts = scored.parts.length ? scored.parts : [[0, words.length]];
    const whole = this.nodeScores[this.nodeScores.length - 1];
    [this.label, this.scores] = [this.labelOf(whole), named(whole, this.labels)];
  }

  /** Whether every phrase has scores, not the sentence alone. */
  get phrases(): boolean {
    return this.nodeScores.length === this.transitions.length;
  }

  /** Words [start, end) of each row of `nodeScores`. */
  get spans(): Span[] {
    return this.phrases ? spansOf(this.transitions) : [[0, this.words.length]];
  }

  /** The tree, from the sentence down to its words; null where the model reads plain sentences. */
  get tree(): Phrase | null {
    const stack: Phrase[] = [];
    spansOf(this.transitions).forEach(([start, end], node) => {
      const children = this.transitions[node] === SHIFT ? [] : stack.splice(-2);
      stack.push({ ...this.phrase(start, end, this.scoresAt(node)), children });
    });
    return stack.pop() ?? null;
  }

  /** The tree in brackets, as treebanks have it, each phrase with the number of its class or `-`; null where there is none. */
  get brackets(): string | null {
    const stack: string[] = [];
    let next = 0;
    this.transitions.forEach((step, node) => {
      const children = step === SHIFT ? [bracketSafe(this.words[next++])] : stack.splice(-2);
      const row = this.nodeScores[node];
      const inner = children.join(" ");
      if (this.phrases) stack.push(`(${this.labelOf(row) === null ? "-" : argmax(row)} ${inner})`);
      else stack.push(step === SHIFT ? inner : `( ${inner} )`);
    });
    return stack.pop() ?? null;
  }

  /** The sentence and its tree as plain data. */
  toNested(): NestedSentence {
    const { text, start, label, scores, tree } = this;
    return { text, start, label, scores, tree };
  }

  /** The data that `thinstack predict --json` prints; here offsets are UTF-16 units. */
  toJSON(): Record<string, unknown> {
    const nodes = this.spans.map(([start, end], row) => {
      const { children, ...phrase } = this.phrase(start, end, this.nodeScores[row]);
      return { ...phrase, scores: rounded(phrase.scores!) };
    });
    const cut = this.parts.length > 1 ? { parts: this.parts } : {};
    const { text, label, brackets, transitions } = this;
    return { text, label, scores: rounded(this.scores), tree: brackets, transitions, nodes, ...cut };
  }

  /** The tree as an SVG image: a click or Enter closes and opens a phrase. */
  svg(): string {
    return svg([this]);
  }

  /** The sentence as HTML, with its phrases coloured in place. */
  html(): string {
    return heat([this]);
  }

  /** The scores of a node of the tree, if it has any. */
  scoresAt(node: number): Float32Array | undefined {
    if (this.phrases) return this.nodeScores[node];
    return node === this.transitions.length - 1 ? this.nodeScores[0] : undefined;
  }

  /** The label of a row of scores; null where no class is as probable as `abstain`. */
  labelOf(row: ArrayLike<number>): string | null {
    const best = argmax(row);
    return row[best] < this.abstain ? null : this.labels[best];
  }

  private phrase(first: number, behind: number, row: Float32Array | undefined): Phrase {
    const [start, end] = [this.offsets[first][0], this.offsets[behind - 1][1]];
    const known = { label: row ? this.labelOf(row) : null, scores: row ? named(row, this.labels) : null };
    return { text: this.text.slice(start, end), start, end, ...known, children: [] };
  }
}

/** What a model says of a text: the mean of its sentences, weighted by their words. */
export class TextPrediction {
  /** The most probable class; null where it is not as probable as `abstain`, and of a text without words. */
  readonly label: string | null;
  /** The probabilities of the classes; empty of a text without words. */
  readonly scores: Scores;

  constructor(
    /** The text. */
    readonly text: string,
    /** Its sentences, in order; none of a text without words. */
    readonly sentences: readonly Prediction[],
    { labels, abstain }: View,
  ) {
    const means = this.means();
    const best = argmax(means);
    this.label = means.length && means[best] >= abstain ? labels[best] : null;
    this.scores = named(means, labels);
  }

  /** The text, its sentences and their trees as plain data. */
  toNested(): NestedText {
    const { text, label, scores } = this;
    return { text, label, scores, sentences: this.sentences.map((sentence) => sentence.toNested()) };
  }

  /** Data fit for JSON. */
  toJSON(): Record<string, unknown> {
    return { text: this.text, label: this.label, scores: rounded(this.scores), sentences: this.sentences };
  }

  /** The trees of the sentences, one below the other, as one SVG image. */
  svg(): string {
    return svg(this.sentences);
  }

  /** The sentences as HTML, with their phrases coloured in place: for long texts. */
  html(): string {
    return heat(this.sentences);
  }

  private means(): number[] {
    const rows = this.sentences.map(({ nodeScores }) => nodeScores[nodeScores.length - 1]);
    const weights = this.sentences.map(({ words, weight }) => words.length * weight);
    return rows.length ? meanScores(rows, weights) : [];
  }
}

function named(row: ArrayLike<number>, labels: readonly string[]): Scores {
  return Object.fromEntries(Array.from(row, (score, label) => [labels[label], score]));
}

function rounded(scores: Scores): Scores {
  return Object.fromEntries(Object.entries(scores).map(([label, score]) => [label, Math.round(score * 1e6) / 1e6]));
}

/** A word as brackets can hold it. */
function bracketSafe(word: string): string {
  return word.replace(/\(/g, "-LRB-").replace(/\)/g, "-RRB-").replace(/[ \t\r\n\f\v]/g, "_") || "_";
}
