/** Aspects: terms that a model finds or a user names, with the opinions about them. Mirrors `runtime/aspects.py`. */
import { Clauses, type Verdict, mirrorOf } from "./clauses.js";
import { InputError } from "./errors.js";
import { isWord } from "./highlights.js";
import { type Mention, finderOf, firstWhere } from "./mentions.js";
import { type Phrase, hide, sideOf } from "./phrase.js";
import { rounded } from "./plainData.js";
import { type Prediction, type Scores } from "./prediction.js";
import { NO_TERM } from "./scale.js";
import { hasPhrases, named } from "./scored.js";
import { plain } from "./treebank.js";
import { type View, checkLabels } from "./views.js";

/** The threshold for terms. */
const LEAST = 0.5;

/** A term in a text with the opinion about it. A structured clone does not contain its sentence. */
export class Aspect {
  /** The node of the sentence's tree that expresses the opinion. */
  readonly node: number;
  /** The term as typed. */
  readonly text: string;
  /** The range [start, end) of the term in the whole text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The most probable class of the opinion; null if its probability is below `abstain`. */
  readonly label: string | null;
  /** The probability of each class. */
  readonly scores: Scores;
  /** From -1 (negative) to 1 (positive); null without a sentiment scale. */
  readonly polarity: number | null;
  /** The deciding phrase; null for neutral opinions, without a label, and if no phrase around the term agrees with the label. */
  readonly because: Phrase | null;
  /** The probability that it is a term; 1 for a term that you named. */
  readonly probability: number;
  /** The term that you passed to `about`; null if the model found it. */
  readonly asked: string | null;
  /** Whether the opinion is the reverse of the node's, as after "except for". The values above are already reversed. */
  readonly turned: boolean;
  /** The sentence that contains it. */
  declare readonly sentence: Prediction;

  constructor({ phrase, turned, because }: Verdict, start: number, end: number, probability = 1, asked: string | null = null) {
    const { sentence } = phrase;
    const shift = sentence.start;
    ({ node: this.node, label: this.label, polarity: this.polarity } = phrase);
    this.scores = phrase.scores!;
    const mirror = turned && mirrorOf(sentence);
    if (mirror) {
      const values = sentence.labels.map((label) => this.scores[label]);
      this.scores = named(mirror.map((place) => values[place]), sentence.labels);
      this.label &&= sentence.labels[mirror[sentence.labels.indexOf(this.label)]];
      this.polarity = -this.polarity!;
    }
    this.text = sentence.text.slice(start - shift, end - shift);
    this.because = this.label === null ? null : because;
    [this.start, this.end, this.probability, this.asked, this.turned] = [start, end, probability, asked, turned];
    hide(this, "sentence", sentence);
  }

  /** The aspect in the JSON of a result. */
  toJSON(): Record<string, unknown> {
    return aspectData(this);
  }
}

/** An aspect as plain data, with offsets relative to `shift`. */
export function aspectData(aspect: Aspect, shift = 0): Record<string, unknown> {
  const { label, polarity, scores, because, asked } = aspect;
  const place = ({ text, start, end }: Aspect | Phrase) => ({ text, start: start - shift, end: end - shift });
  const said = { label, polarity: rounded(polarity), scores: rounded(scores), because: because && place(because) };
  return { ...place(aspect), ...said, ...(asked === null ? {} : { asked }) };
}

/**
 * The terms that a model finds in these sentences, in order. They do not overlap (the more probable one wins) and neither begin nor end
 * with punctuation. Throws InputError unless the model finds terms (`finds`).
 */
export function aspects(sentences: readonly Prediction[], finds: boolean): Aspect[] {
  if (finds) return sentences.flatMap(found);
  const instead = 'load one that does, such as models/thinstack-aspects, or name the terms, about("battery")';
  throw new InputError(`aspects: this model does not find terms (it has no class ${NO_TERM}): ${instead}`);
}

/**
 * The opinions about terms, one aspect per mention, in order. An aspects model uses the term that it finds at the mention: the mention
 * itself, or the most probable term that shares a word with it. With other models, or if it finds none, the clause around the mention
 * decides (`clauses.ts`). Throws InputError for invalid terms, without a sentiment scale, and for a model that scores whole sentences only.
 */
export function about(
  sentences: readonly Prediction[],
  { labels, polarities }: Pick<View, "labels" | "polarities">,
  finds: boolean,
  terms: readonly string[],
): Aspect[] {
  const mentions = finderOf(terms);
  checkLabels(labels, "about");
  if (!finds && !polarities) throw unusable(`has the classes ${labels.join(", ").slice(0, 200)}`);
  return sentences.flatMap((sentence) => {
    const mentioned = mentions(sentence);
    if (mentioned.length && !hasPhrases(sentence)) throw unusable("scores only sentences");
    if (!mentioned.length) return [];
    const clauses = new Clauses(sentence);
    const termIn = termFinder(sentence, clauses);
    return mentioned.flatMap((mention) => judged(sentence, clauses, mention, termIn));
  });
}

function unusable(problem: string): InputError {
  const models = "load thinstack/bundle/bundled/sentiment or models/thinstack-aspects";
  return new InputError(`about: expected a sentiment model that scores phrases; this one ${problem}: ${models}`);
}

function found(sentence: Prediction): Aspect[] {
  const terms = termsOf(sentence).sort((one, other) => one.start - other.start);
  const clauses = new Clauses(sentence);
  return terms.map((phrase) => new Aspect(verdictOf(clauses, phrase), phrase.start, phrase.end, sentence.terms![phrase.node]));
}

/** The opinion about a term that an aspects model finds: that of its phrase. */
function verdictOf(clauses: Clauses, phrase: Phrase): Verdict {
  return { phrase, turned: false, because: clauses.because(...clauses.spans[phrase.node], sideOf(phrase), phrase.sentence.tree!) };
}

/** The terms that a model finds in a sentence, most probable first. */
function termsOf({ phrases, words, spans, terms }: Prediction): Phrase[] {
  const free = words.map(() => true);
  const whole = words.map((word) => isWord(plain(word)));
  const likely = phrases.filter(isTerm).sort((one, other) => terms![other.node] - terms![one.node]);
  return likely.filter(({ node }) => {
    const [start, end] = spans[node];
    const taken = !whole[start] || !whole[end - 1] || free.slice(start, end).includes(false);
    if (!taken) free.fill(false, start, end);
    return !taken;
  });
}

function isTerm({ node, sentence: { terms } }: Phrase): boolean {
  return terms !== null && terms[node] >= LEAST;
}

/** A function that finds the term at the words [first, behind): the phrase of these words, or the most probable term that shares a word. */
function termFinder(sentence: Prediction, clauses: Clauses): (first: number, behind: number) => Phrase | undefined {
  const terms = termsOf(sentence);
  const ranks = sentence.words.map(() => Infinity);
  terms.forEach(({ node }, rank) => ranks.fill(rank, ...clauses.spans[node]));
  return (first, behind) => {
    const phrase = clauses.smallest(first, behind);
    const [start, end] = clauses.spans[phrase.node];
    if (start === first && end === behind && isTerm(phrase)) return phrase;
    return terms[Math.min(...ranks.slice(first, behind))];
  };
}

/** The aspect of a mention: the term found there, or else its clause. None if it contains no word. */
function judged(sentence: Prediction, clauses: Clauses, { start, end, asked }: Mention, termIn: ReturnType<typeof termFinder>): Aspect[] {
  const { offsets, start: shift } = sentence;
  const first = firstWhere(offsets, (word) => word[1] > start);
  const behind = firstWhere(offsets, (word) => word[0] >= end);
  if (first >= behind) return [];
  const term = termIn(first, behind);
  const verdict = term ? verdictOf(clauses, term) : clauses.verdict(first, behind);
  return [new Aspect(verdict, start + shift, end + shift, 1, asked)];
}
