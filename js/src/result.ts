/** The result for a text. */
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

/** The result for a text: the scores of the tree over its sentences, or their mean, weighted by words. */
export class Result {
  /** The text. */
  readonly text: string;
  /** The most probable class; null without words, or if its probability is below `abstain`. */
  readonly label: string | null;
  /** From -1 (negative) to 1 (positive): the mean position of the classes. Null without words or a sentiment scale. */
  readonly polarity: number | null;
  /** The probability of each class; empty without words. */
  readonly scores: Scores;
  /** The sentences in order; empty without words. */
  readonly sentences: readonly Prediction[];

  /**
   * The share of words that the model knows, from 0 to 1; null without words. Nearly all English texts are above 0.7. Texts below 0.5
   * are probably in another language, and their scores mean little.
   */
  readonly known: number | null;
  /**
   * The vector of the text, of unit norm: that of the tree over its sentences, or their mean, weighted by words. Null without words, or
   * if the model has no vectors.
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

  /** The phrases of all sentences, children before parents; empty if the model scores whole sentences only. */
  get phrases(): readonly Phrase[] {
    return once(this, () => this.sentences.flatMap((sentence) => sentence.phrases));
  }

  /**
   * The most telling phrases, at most `n`, strongest first. They do not overlap, are not neutral, and are not reversed by the words around
   * them. If the model scores whole sentences only, sentences. Throws InputError unless `n` is a whole number.
   */
  highlights(n = 3): Phrase[] {
    return highlights(this.sentences, n);
  }

  /** The terms that the model finds with the opinions about them, in text order. Throws InputError unless it is an aspects model. */
  get aspects(): readonly Aspect[] {
    return aspects(this.sentences, this.view.noTerm !== undefined);
  }

  /**
   * The opinions about terms that you name, such as "battery" or "price|cost" (two names of one term): one aspect per mention, in text
   * order. Terms match whole words in any case, singular or plural, with a hyphen, a space or nothing between their parts. An aspects
   * model uses the term that it finds at the mention. With other sentiment models, or if it finds none, the clause around the mention
   * decides. Throws InputError for invalid terms, for classes without a sentiment scale, and for a model that scores whole sentences
   * only.
   */
  about(...terms: string[]): Aspect[] {
    return about(this.sentences, this.view, this.view.noTerm !== undefined, terms);
  }

  /** The text, its sentences and their trees as plain data. */
  toNested(): NestedText {
    const { text, label, polarity, scores } = this;
    return { text, label, polarity, scores, sentences: this.sentences.map((sentence) => sentence.toNested()) };
  }

  /** The data for `JSON.stringify`. */
  toJSON(): Record<string, unknown> {
    const { text, label, polarity, scores, sentences } = this;
    const said = this.view.noTerm === undefined ? {} : { aspects: this.aspects };
    return { text, label, polarity: rounded(polarity), scores: rounded(scores), sentences, ...said };
  }

  /** The trees of all sentences as one SVG image. */
  svg(): string {
    return svg(this.sentences);
  }

  /** The text as HTML with colored phrases, for long texts. */
  html(): string {
    return heat(this.sentences);
  }

  private means(): number[] {
    const rows = this.sentences.map(({ nodeScores }) => nodeScores.at(-1)!);
    const weights = this.sentences.map(({ words, weight }) => words.length * weight);
    return rows.length ? meanScores(rows, weights) : [];
  }
}
