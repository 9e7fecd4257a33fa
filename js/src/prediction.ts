/** What a model says of a sentence and of every phrase in its tree. */
import { type Aspect, about, aspectData, aspects } from "./aspects.js";
import { type Sentence, type Span } from "./english.js";
import { heat } from "./heat.js";
import { highlights } from "./highlights.js";
import { type NestedSentence, nested, rounded } from "./plainData.js";
import { type Phrase, once, phrasesOf } from "./phrase.js";
import { type Scored, bestOf, hasPhrases, named, polarityOf } from "./scored.js";
import { svg } from "./svg.js";
import { SHIFT, spansOf } from "./transitions.js";
import { type View } from "./views.js";

/** The probability of each class, by its name. */
export type Scores = Record<string, number>;

/** What a model says of one sentence of L words and its 2L - 1 phrases, or of the sentence alone. */
export class Prediction {
  /** The sentence. */
  readonly text: string;
  /** The UTF-16 unit of the whole text that it starts at. */
  readonly start: number;
  /** The most probable class of the sentence; null where it is not as probable as `abstain`. */
  readonly label: string | null;
  /** From -1 (negative) to 1 (positive): the mean place of its classes. Null where these are no scale of sentiment. */
  readonly polarity: number | null;
  /** The probabilities of the sentence's classes. */
  readonly scores: Scores;
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
  /** Where each class stands, from -1 (negative) to 1 (positive); null where they are no scale of sentiment. */
  readonly polarities: readonly number[] | null;
  /** A phrase none of whose classes is as probable as this has no label. */
  readonly abstain: number;
  /** What each of its words counts in the mean of a text. */
  readonly weight: number;
  /** Words [start, end) of the parts that a long sentence was read in; one part where it was read as a whole. */
  readonly parts: readonly Span[];
  /** How probably each phrase is a term; null unless the model is one of aspects. */
  readonly terms: Float32Array | null;
  /** The vector of each phrase that has scores, of length 1, the sentence last; null of a model without vectors. */
  readonly vectors: readonly Float32Array[] | null;
  /** The digest of the model that its vectors are of, as the model's `manifest` has it; null without vectors. */
  readonly model: string | null;
  /** The vector of the sentence. */
  readonly vector: Float32Array | null;

  // Fields and no getters, because a structured clone, which workers are sent, keeps fields only.
  constructor({ text, start, words, offsets }: Sentence, scored: Scored, view: View) {
    [this.text, this.start, this.words, this.offsets] = [text, start, words, offsets];
    ({ transitions: this.transitions, scores: this.nodeScores, weight: this.weight } = scored);
    ({ labels: this.labels, polarities: this.polarities, abstain: this.abstain } = view);
    this.parts = scored.parts.length ? scored.parts : [[0, words.length]];
    this.terms = scored.terms ?? null;
    this.vectors = scored.vectors ?? null;
    this.model = scored.model ?? null;
    this.vector = this.vectors?.at(-1) ?? null;
    const whole = this.nodeScores[this.nodeScores.length - 1];
    this.label = this.labelOf(whole);
    this.polarity = polarityOf(whole, this.polarities);
    this.scores = named(whole, this.labels);
  }

  /** Every phrase by its node, words first, the sentence last; empty where phrases have no scores. */
  get phrases(): readonly Phrase[] {
    return hasPhrases(this) ? this.nodes : [];
  }

  /**
   * The at most `n` phrases that say most, the strongest first: none inside another, none without a side, none that the words around
   * it turn into its opposite. Where phrases have no scores, the sentence. Throws InputError for an `n` that is no whole number.
   */
  highlights(n = 3): Phrase[] {
    return highlights([this], n);
  }

  /** The terms that the model finds, and what is said of them (`Result.aspects`). */
  get aspects(): readonly Aspect[] {
    return aspects([this], this.terms !== null);
  }

  /** What is said of terms that you name (`Result.about`). */
  about(...terms: string[]): Aspect[] {
    return about([this], this, this.terms !== null, terms);
  }

  /** Words [start, end) of each row of `nodeScores`. */
  get spans(): Span[] {
    return hasPhrases(this) ? spansOf(this.transitions) : [[0, this.words.length]];
  }

  /** The phrase at the root of the tree, with its `children`; null where the model reads plain sentences. */
  get tree(): Phrase | null {
    return this.nodes[this.nodes.length - 1] ?? null;
  }

  /** The tree in brackets, as treebanks have it, each phrase with the number of its class or `-`; null where there is none. */
  get brackets(): string | null {
    const stack: string[] = [];
    const labelled = hasPhrases(this) && this.labels.length > 0;
    let next = 0;
    this.transitions.forEach((step, node) => {
      const children = step === SHIFT ? [bracketSafe(this.words[next++])] : stack.splice(-2);
      const row = this.nodeScores[node];
      const inner = children.join(" ");
      if (labelled) stack.push(`(${this.labelOf(row) === null ? "-" : bestOf(row, this.polarities)} ${inner})`);
      else stack.push(step === SHIFT ? inner : `( ${inner} )`);
    });
    return stack.pop() ?? null;
  }

  /** The sentence and its tree as plain data. */
  toNested(): NestedSentence {
    const { text, start, label, polarity, scores } = this;
    return { text, start, label, polarity, scores, tree: nested(this.nodes, start) };
  }

  /** The data that `thinstack predict --json` prints; here offsets are UTF-16 units of the sentence. */
  toJSON(): Record<string, unknown> {
    const nodes = this.spans.map(([first, behind], row) => {
      const [start, end] = [this.offsets[first][0], this.offsets[behind - 1][1]];
      const scores = this.nodeScores[row];
      const polarity = rounded(polarityOf(scores, this.polarities));
      return { start, end, text: this.text.slice(start, end), label: this.labelOf(scores), polarity, scores: rounded(named(scores, this.labels)) };
    });
    const cut = this.parts.length > 1 ? { parts: this.parts } : {};
    const said = this.terms ? { aspects: this.aspects.map((each) => aspectData(each, this.start)) } : {};
    const { text, start, label, brackets, transitions } = this;
    const [polarity, scores] = [rounded(this.polarity), rounded(this.scores)];
    return { text, start, label, polarity, scores, tree: brackets, transitions, nodes, ...cut, ...said };
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
    if (hasPhrases(this)) return this.nodeScores[node];
    return node === Math.max(this.transitions.length - 1, 0) ? this.nodeScores[0] : undefined;
  }

  /** The label of a row of scores (`bestOf`); null where it is not as probable as `abstain`, and without classes. */
  labelOf(row: ArrayLike<number>): string | null {
    const best = bestOf(row, this.polarities);
    return row[best] >= this.abstain ? this.labels[best] : null;
  }

  /** All phrases of the tree, with scores or without. */
  private get nodes(): readonly Phrase[] {
    return once(this, () => phrasesOf(this));
  }
}

/** A word as brackets can hold it. */
function bracketSafe(word: string): string {
  return word.replace(/\(/g, "-LRB-").replace(/\)/g, "-RRB-").replace(/[ \t\r\n\f\v]/g, "_") || "_";
}
