/** What is said of what: the terms of a text that a model finds or a user names, and how each is judged. As `runtime/aspects.py`. */
import { Clauses, type Verdict, mirrorOf } from "./clauses.js";
import { InputError } from "./errors.js";
import { isWord } from "./highlights.js";
import { type Mention, finderOf } from "./mentions.js";
import { type Phrase, hide, sideOf } from "./phrase.js";
import { rounded } from "./plainData.js";
import { type Prediction, type Scores } from "./prediction.js";
import { NO_TERM } from "./scale.js";
import { hasPhrases, named } from "./scored.js";
import { plain } from "./treebank.js";
import { type View, checkLabels } from "./views.js";

/** A phrase is a term if that is at least so probable. */
const LEAST = 0.5;

/** A term of a text, and what is said of it. A structured clone has its data, and not its sentence. */
export class Aspect {
  /** The node of the tree of the sentence that says it. */
  readonly node: number;
  /** The term as it was typed. */
  readonly text: string;
  /** UTF-16 units [start, end) of the whole text that are the term. */
  readonly start: number;
  readonly end: number;
  /** The most probable class of what is said of it; null where it is not as probable as `abstain`. */
  readonly label: string | null;
  /** The probability of each class. */
  readonly scores: Scores;
  /** From -1 (negative) to 1 (positive). Null where the classes are no scale of sentiment. */
  readonly polarity: number | null;
  /** The phrase that decides. Null where what is said is neutral, and where no phrase around the term says the same by itself. */
  readonly because: Phrase | null;
  /** How probably it is a term; 1 where a user named it. */
  readonly probability: number;
  /** The term of `about` that this is a mention of, as it was asked for; null where the model found it. */
  readonly asked: string | null;
  /** Whether what the node says is turned round for the term, as behind "except for": all above is then the opposite of it. */
  readonly turned: boolean;
  /** The sentence that it stands in. */
  declare readonly sentence: Prediction;

  constructor({ phrase, turned, because }: Verdict, start: number, end: number, probability = 1, asked: string | null = null) {
    const { sentence } = phrase;
    const shift = sentence.start;
    ({ node: this.node, label: this.label, polarity: this.polarity } = phrase);
    this.scores = phrase.scores!;
    const mirror = turned && mirrorOf(sentence);
    if (mirror) {
      const values = Object.values(this.scores);
      this.scores = named(mirror.map((place) => values[place]), sentence.labels);
      this.label &&= sentence.labels[mirror[sentence.labels.indexOf(this.label)]];
      this.polarity = -this.polarity!;
    }
    this.text = sentence.text.slice(start - shift, end - shift);
    [this.start, this.end, this.because, this.probability, this.asked, this.turned] = [start, end, because, probability, asked, turned];
    hide(this, "sentence", sentence);
  }

  /** The aspect as it stands in the JSON of a result. */
  toJSON(): Record<string, unknown> {
    return aspectData(this);
  }
}

/** An aspect as plain data, with UTF-16 units of the text that begins at `shift`. */
export function aspectData(aspect: Aspect, shift = 0): Record<string, unknown> {
  const { label, polarity, scores, because, asked } = aspect;
  const place = ({ text, start, end }: Aspect | Phrase) => ({ text, start: start - shift, end: end - shift });
  const said = { label, polarity: rounded(polarity), scores: rounded(scores), because: because && place(because) };
  return { ...place(aspect), ...said, ...(asked === null ? {} : { asked }) };
}

/**
 * The terms that a model finds in these sentences, in order: none is inside another, the more probable one is taken, and none begins
 * or ends with a mark. Throws InputError for a model that does not find terms (`finds`).
 */
export function aspects(sentences: readonly Prediction[], finds: boolean): Aspect[] {
  if (finds) return sentences.flatMap(found);
  const instead = 'load one that does, such as that of models/thinstack-aspects, or name the terms, about("battery")';
  throw new InputError(`aspects: this model does not find terms (it has no class ${NO_TERM}): ${instead}`);
}

/**
 * What these sentences say of terms, an aspect for each mention, in order. A model of aspects judges a mention as the term that it
 * finds there: the mention itself, or the most probable term that shares a word with it. With another model, and where no term is
 * found, the clause around the mention decides (`clauses.ts`). Throws InputError for terms that are none, for classes
 * that are no scale of sentiment, and for a model that scores only sentences.
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
    const [clauses, terms] = [new Clauses(sentence), termsOf(sentence)];
    return mentioned.flatMap((mention) => judged(sentence, clauses, mention, terms));
  });
}

function unusable(problem: string): InputError {
  const models = "use that of thinstack/bundle/bundled/sentiment or models/thinstack-aspects";
  return new InputError(`about: expected a model of sentiment that scores phrases; this one ${problem}: ${models}`);
}

function found(sentence: Prediction): Aspect[] {
  const terms = termsOf(sentence).sort((one, other) => one.start - other.start);
  const clauses = new Clauses(sentence);
  return terms.map((phrase) => new Aspect(verdictOf(clauses, phrase), phrase.start, phrase.end, sentence.terms![phrase.node]));
}

/** What a model of aspects says of a term that it finds: what its phrase says. */
function verdictOf(clauses: Clauses, phrase: Phrase): Verdict {
  const { spans, tree } = phrase.sentence;
  return { phrase, turned: false, because: clauses.because(...spans[phrase.node], sideOf(phrase), tree!) };
}

/** The terms that a model finds in a sentence, the most probable first. */
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

/** A mention as the term at it, `terms` being those of its sentence, or else by its clause; none if it holds no word. */
function judged(sentence: Prediction, clauses: Clauses, { start, end, asked }: Mention, terms: readonly Phrase[]): Aspect[] {
  const { offsets, spans, phrases, start: shift } = sentence;
  const first = offsets.filter((word) => word[1] <= start).length;
  const behind = offsets.filter((word) => word[0] < end).length;
  if (first >= behind) return [];
  const whole = phrases.find(({ node }) => spans[node][0] === first && spans[node][1] === behind);
  const shares = ({ node }: Phrase) => spans[node][0] < behind && first < spans[node][1];
  const term = whole && isTerm(whole) ? whole : terms.find(shares);
  const verdict = term ? verdictOf(clauses, term) : clauses.verdict(first, behind);
  return [new Aspect(verdict, start + shift, end + shift, 1, asked)];
}
