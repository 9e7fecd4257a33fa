/** The most telling phrases of a text. Mirrors `runtime/highlights.py`. */
import { type Span } from "./english.js";
import { InputError } from "./errors.js";
import { NEUTRAL, Phrase, siblingOf, sideOf } from "./phrase.js";
import { type Prediction } from "./prediction.js";
import { rules } from "./rules.js";
import { hasPhrases } from "./scored.js";
import { plain } from "./treebank.js";
import { checkLabels } from "./views.js";

/** A phrase is extended to its parent if that is at least this share as strong. */
const CLIMB = 0.8;
/** A sibling overrules a phrase if it has at least this share of their strength. Otherwise it only reverses it, like `not`. */
const CONTRAST = 0.5;
/** The maximum number of words in an extended phrase. */
const WIDEST = 10;
const SEVERAL = NaN;

/** Whether a word is not punctuation: it contains a letter, a digit or a non-ASCII character. */
export function isWord(spelt: string): boolean {
  return /[a-z0-9]|[^\0-\x7f]/i.test(spelt);
}

/** The most telling phrases of these sentences, at most `n`, strongest first. Throws InputError unless `n` is a whole number. */
export function highlights(sentences: readonly Prediction[], n: number): Phrase[] {
  if (!Number.isInteger(n) || n < 0) throw new InputError(`expected a whole number of highlights, at least 0, found ${n}`);
  for (const { labels } of sentences) checkLabels(labels, "highlights");
  const found = sentences.flatMap((sentence) => (hasPhrases(sentence) ? new Ranked(sentence).best(n) : whole(sentence)));
  return found.sort((one, other) => strengthOf(other) - strengthOf(one) || one.start - other.start).slice(0, n);
}

/** Where phrases of a sentence may begin and end if they are to make sense on their own. */
export interface Edges {
  /** Its words in lower case, without treebank escapes. */
  spelt: string[];
  /** The number of content words before each word, and before the end. */
  content: number[];
  /** Whether words [start, end) may begin and end there: `n't` is part of a word, and a phrase does not begin or end with `and`. */
  whole(start: number, end: number): boolean;
}

export function edgesOf(sentence: Prediction): Edges {
  const { functionWords, dangling } = rules();
  const spelt = sentence.words.map((word) => plain(word).toLowerCase());
  const words = spelt.map(isWord);
  const content = [0];
  spelt.forEach((word, place) => content.push(content[place] + Number(words[place] && !functionWords.has(word))));
  const inside = sentence.offsets.map(([start], place, all) => words[place] && words[place - 1] && all[place - 1][1] >= start);
  const whole = (start: number, end: number) => {
    const hangs = dangling.first.includes(spelt[start]) || dangling.last.includes(spelt[end - 1]);
    return words[start] && words[end - 1] && !inside[start] && !inside[end] && !hangs;
  };
  return { spelt, content, whole };
}

/** The phrases of a sentence with their polarities and strengths, in node order. */
class Ranked {
  private readonly phrases: readonly Phrase[];
  private readonly spans: readonly Span[];
  private readonly strengths: number[];
  private readonly sides: number[];
  /** Whether a phrase is a candidate. */
  private readonly shown: boolean[];
  /** The polarity of the candidates inside each phrase: NEUTRAL without any, SEVERAL for both. */
  private readonly within: number[] = [];
  private readonly edges: Edges;

  constructor(private readonly sentence: Prediction) {
    this.phrases = sentence.phrases;
    this.spans = sentence.spans;
    this.strengths = this.phrases.map(strengthOf);
    this.sides = this.phrases.map(sideOf);
    this.edges = edgesOf(sentence);
    this.shown = this.findShown();
    this.phrases.forEach(({ children }, node) => {
      const own = this.shown[node] ? this.sides[node] : NEUTRAL;
      this.within.push(children.map((child) => this.within[child.node]).reduce(together, own));
    });
  }

  /** The strongest phrases first, without overlaps. */
  best(most: number): Phrase[] {
    const { strengths, phrases, spans } = this;
    if (phrases.length === 1) return whole(this.sentence);
    const order = [...phrases.keys()].filter((node) => this.shown[node]);
    const size = (node: number) => spans[node][1] - spans[node][0];
    order.sort((one, other) => strengths[other] - strengths[one] || size(one) - size(other) || spans[one][0] - spans[other][0]);
    const free = (node: number) => chosen.every((each) => spans[node][1] <= spans[each][0] || spans[each][1] <= spans[node][0]);
    const chosen: number[] = [];
    for (const node of order) {
      if (chosen.length >= most) break;
      if (free(node) && !this.turned(node)) chosen.push(this.climbed(node, free));
    }
    return chosen.map((node) => phrases[node]);
  }

  /** Candidates have a polarity, and are the sentence or make sense on their own and contain a content word. */
  private findShown(): boolean[] {
    const { edges, phrases } = this;
    const shown = this.spans.map(([start, end], node) => hasSide(phrases[node]) && edges.whole(start, end) && this.hasContent(node));
    shown[shown.length - 1] = hasSide(phrases[shown.length - 1]);
    return shown;
  }

  private hasContent(node: number): boolean {
    const [start, end] = this.spans[node];
    return this.edges.content[end] > this.edges.content[start];
  }

  /** Whether the surrounding words reverse a phrase without having that polarity themselves. */
  private turned(node: number): boolean {
    const { sides, strengths } = this;
    for (let below = this.phrases[node], above = below.parent; above; [below, above] = [above, above.parent]) {
      const side = sides[above.node];
      if (side === NEUTRAL || side === sides[node]) continue;
      const beside = siblingOf(below).node;
      return sides[beside] !== side || strengths[beside] < CONTRAST * strengths[above.node] || !this.hasContent(beside);
    }
    return false;
  }

  /** The largest phrase around a node that is about as strong and contains no other polarity. */
  private climbed(node: number, free: (node: number) => boolean): number {
    const { sides, strengths, within } = this;
    const alike = (above: number) => sides[above] === sides[node] && strengths[above] >= CLIMB * strengths[node];
    let best = node;
    for (let below = this.phrases[node], above = below.parent; above && alike(above.node); [below, above] = [above, above.parent]) {
      const added = within[siblingOf(below).node];
      if (!free(above.node) || (added !== NEUTRAL && added !== sides[node])) break;
      const [start, end] = this.spans[above.node];
      if (this.shown[above.node] && end - start <= WIDEST) best = above.node;
    }
    return best;
  }
}

/** The whole sentence, unless it is neutral. */
function whole(sentence: Prediction): Phrase[] {
  const phrase = sentence.tree ?? new Phrase(sentence, 0, 0, sentence.words.length);
  return hasSide(phrase) ? [phrase] : [];
}

/** Whether a phrase has a label that is not neutral. */
function hasSide(phrase: Phrase): boolean {
  return phrase.label !== null && sideOf(phrase) !== NEUTRAL;
}

/** The distance of a phrase from neutral; without a sentiment scale, the probability of its class. */
function strengthOf({ polarity, scores }: Phrase): number {
  return polarity === null ? Math.max(...Object.values(scores!)) : Math.abs(polarity);
}

function together(one: number, other: number): number {
  if (one === NEUTRAL || one === other) return other;
  return other === NEUTRAL ? one : SEVERAL;
}
