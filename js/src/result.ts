/** What a model says of a text. */
import { type Aspect, about, aspects } from "./aspects.js";
import { heat } from "./heat.js";
import { highlights } from "./highlights.js";
import { type NestedText, rounded } from "./plainData.js";
import { type Phrase, hide, once } from "./phrase.js";
import { type Prediction, type Scores } from "./prediction.js";
import { type Scored, bestOf, meanScores, named, polarityOf } from "./scored.js";
import { svg } from "./svg.js";
import { meanVector } from "./vectors.js";
import { type View } from "./views.js";

/** What a model says of a text: of the tree over its sentences, or the mean of these, weighted by their words. */
export class Result {
  /** The text. */
  readonly text: string;
  /** The most probable class; null where it is not as probable as `abstain`, and of a text without words. */
  readonly label: string | null;
  /** From -1 (negative) to 1 (positive): the mean place of the classes. Null where these are no scale, and of a text without words. */
  readonly polarity: number | null;
  /** The probabilities of the classes; empty of a text without words. */
  readonly scores: Scores;
  /** Its sentences, in order; none of a text without words. */
  readonly sentences: readonly Prediction[];

  /**
   * The share of its words that the model knows, from 0 to 1; null without words. English texts are nearly all above 0.7, texts in
   * other languages below 0.5: their scores say little.
   */
  readonly known: number | null;
  /**
   * The vector of the text, of length 1: that of the tree over its sentences, or their mean, weighted by words. Null of a text without
   * words, and of a model without vectors.
   */
  readonly vector: Float32Array | null;
  private declare readonly view: View;

  constructor(text: string, sentences: readonly Prediction[], view: View, known: number | null = null, root?: Scored) {
    [this.text, this.sentences, this.known] = [text, sentences, known];
    const { labels, polarities, abstain } = view;
    const means = root?.scores[0] ?? this.means();
    const best = bestOf(means, polarities);
    this.label = means.length && means[best] >= abstain ? labels[best] : null;
    this.polarity = means.length ? polarityOf(means, polarities) : null;
    this.scores = means.length ? named(means, labels) : {};
    this.vector = root?.vectors?.[0] ?? meanVector(sentences);
    hide(this, "view", view);
  }

  /** The phrases of all sentences in turn, each before the one that it is a part of; none where phrases have no scores. */
  get phrases(): readonly Phrase[] {
    return once(this, () => this.sentences.flatMap((sentence) => sentence.phrases));
  }

  /**
   * The at most `n` phrases that say most, the strongest first: none inside another, none without a side, none that the words around
   * it turn into its opposite. Where phrases have no scores, sentences. Throws InputError for an `n` that is no whole number.
   */
  highlights(n = 3): Phrase[] {
    return highlights(this.sentences, n);
  }

  /** The terms that the model finds, and what is said of each, in order. Throws InputError for a model that is none of aspects. */
  get aspects(): readonly Aspect[] {
    return aspects(this.sentences, this.view.noTerm !== undefined);
  }

  /**
   * What the text says of terms that you name, such as "battery" or "price|cost", which are two names of one: an aspect for each
   * mention, in order. They are found as whole words, in any case, in both numbers, with a hyphen, a space or nothing between parts. A model of aspects judges a mention as
   * the term that it finds there. With another model of sentiment, and where no term is found, the smallest phrase around it that is
   * not neutral decides, or else its sentence.
   * Throws InputError for terms that are none, for classes that are no scale, and for a model that scores only sentences.
   */
  about(...terms: string[]): Aspect[] {
    return about(this.sentences, this.view, this.view.noTerm !== undefined, terms);
  }

  /** The text, its sentences and their trees as plain data. */
  toNested(): NestedText {
    const { text, label, polarity, scores } = this;
    return { text, label, polarity, scores, sentences: this.sentences.map((sentence) => sentence.toNested()) };
  }

  /** Data fit for JSON. */
  toJSON(): Record<string, unknown> {
    const { text, label, polarity, scores, sentences } = this;
    const said = this.view.noTerm === undefined ? {} : { aspects: this.aspects };
    return { text, label, polarity: rounded(polarity), scores: rounded(scores), sentences, ...said };
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
    const rows = this.sentences.map(({ nodeScores }) => nodeScores.at(-1)!);
    const weights = this.sentences.map(({ words, weight }) => words.length * weight);
    return rows.length ? meanScores(rows, weights) : [];
  }
}
