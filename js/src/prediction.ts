/** The result for a sentence and every phrase in its tree. */
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

/** The probability of each class, by name. */
export type Scores = Record<string, number>;

/** The result for one sentence of L words: the scores of its 2L - 1 phrases, or of the sentence alone. */
export class Prediction {
  /** The sentence. */
  readonly text: string;
  /** Where it starts in the whole text, in UTF-16 units. */
  readonly start: number;
  /** The most probable class; null if its probability is below `abstain`. */
  readonly label: string | null;
  /** From -1 (negative) to 1 (positive): the mean position of the classes. Null without a sentiment scale. */
  readonly polarity: number | null;
  /** The probability of each class. */
  readonly scores: Scores;
  /** The L treebank words that the model read. */
  readonly words: readonly string[];
  /** UTF-16 units [start, end) of each word in `text`. */
  readonly offsets: readonly Span[];
  /** The tree as transitions: 0 SHIFT, 1 REDUCE. Phrase i is node i, and the sentence is last. Empty if the model uses no trees. */
  readonly transitions: readonly number[];
  /** The class probabilities of each phrase, the sentence last; a single row if the model scores whole sentences only. */
  readonly nodeScores: readonly Float32Array[];
  /** The classes. */
  readonly labels: readonly string[];
  /** The position of each class from -1 (negative) to 1 (positive); null without a sentiment scale. */
  readonly polarities: readonly number[] | null;
  /** Phrases whose top probability is below this value have no label. */
  readonly abstain: number;
  /** The weight of each of its words in the mean of a text. */
  readonly weight: number;
  /** The word range [start, end) of each part of a split sentence; otherwise a single part. */
  readonly parts: readonly Span[];
  /** The probability that each phrase is a term; null unless it is an aspects model. */
  readonly terms: Float32Array | null;
  /** The vector, of unit norm, of each phrase with scores, the sentence last; null if the model has no vectors. */
  readonly vectors: readonly Float32Array[] | null;
  /** The `manifest.digest` of the model that computed its vectors; null without vectors. */
  readonly model: string | null;
  /** The vector of the sentence. */
  readonly vector: Float32Array | null;

  // Fields, not getters, because a structured clone (as sent to workers) keeps only fields.
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

  /** The phrases in node order, the sentence last; empty if the model scores whole sentences only. */
  get phrases(): readonly Phrase[] {
    return hasPhrases(this) ? this.nodes : [];
  }

  /**
   * The most telling phrases, at most `n`, strongest first. They do not overlap, are not neutral, and are not reversed by the words around
   * them. If the model scores whole sentences only, the sentence. Throws InputError unless `n` is a whole number.
   */
  highlights(n = 3): Phrase[] {
    return highlights([this], n);
  }

  /** The terms that the model finds with the opinions about them (see `Result.aspects`). */
  get aspects(): readonly Aspect[] {
    return aspects([this], this.terms !== null);
  }

  /** The opinions about terms that you name (see `Result.about`). */
  about(...terms: string[]): Aspect[] {
    return about([this], this, this.terms !== null, terms);
  }

  /** The word range [start, end) of each row of `nodeScores`. */
  get spans(): Span[] {
    return hasPhrases(this) ? spansOf(this.transitions) : [[0, this.words.length]];
  }

  /** The phrase at the root of the tree; null if the model uses no trees. */
  get tree(): Phrase | null {
    return this.nodes[this.nodes.length - 1] ?? null;
  }

  /** The tree in bracket notation, with the class number of each phrase, or `-` without a label; null without a tree. */
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

  /** The data that `thinstack predict --json` prints, with offsets in UTF-16 units of the sentence. */
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

  /** The tree as an SVG image. Clicking a phrase or pressing Enter collapses or expands it. */
  svg(): string {
    return svg([this]);
  }

  /** The sentence as HTML with colored phrases. */
  html(): string {
    return heat([this]);
  }

  /** The scores of a node, if it has any. */
  scoresAt(node: number): Float32Array | undefined {
    if (hasPhrases(this)) return this.nodeScores[node];
    return node === Math.max(this.transitions.length - 1, 0) ? this.nodeScores[0] : undefined;
  }

  /** The label of a row of scores; null if its probability is below `abstain`, and without classes. */
  labelOf(row: ArrayLike<number>): string | null {
    const best = bestOf(row, this.polarities);
    return row[best] >= this.abstain ? this.labels[best] : null;
  }

  /** All phrases of the tree, with or without scores. */
  private get nodes(): readonly Phrase[] {
    return once(this, () => phrasesOf(this));
  }
}

/** The word without characters that break brackets. */
function bracketSafe(word: string): string {
  return word.replace(/\(/g, "-LRB-").replace(/\)/g, "-RRB-").replace(/[ \t\r\n\f\v]/g, "_") || "_";
}
