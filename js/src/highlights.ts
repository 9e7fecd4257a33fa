/** The phrases that say most of a text, as `runtime/highlights.py` chooses them. */
import { type Span } from "./english.js";
import { InputError } from "./errors.js";
import { NEUTRAL, Phrase, siblingOf, sideOf } from "./phrase.js";
import { type Prediction } from "./prediction.js";
import { rules } from "./rules.js";
import { hasPhrases } from "./scored.js";
import { plain } from "./treebank.js";
import { checkLabels } from "./views.js";

/** A phrase is shown with what is around it, as long as that says at least this share as much. */
const CLIMB = 0.8;
/** The phrase beside one that is overruled says at least this share of what both say, or it only turns that one, as `not` does. */
const CONTRAST = 0.5;
/** Words of what a phrase is shown with, at most, itself included. */
const WIDEST = 10;
const SEVERAL = NaN;

/** Whether a word, as running text has it, is no mark of punctuation: it has a letter, a digit, or a character that is not ASCII. */
export function isWord(spelt: string): boolean {
  return /[a-z0-9]|[^\0-\x7f]/i.test(spelt);
}

/** The phrases of these sentences that say most, at most `n`, the strongest first. Throws InputError for an `n` that is no number. */
export function highlights(sentences: readonly Prediction[], n: number): Phrase[] {
  if (!Number.isInteger(n) || n < 0) throw new InputError(`highlights: expected a whole number of phrases, found ${n}`);
  for (const { labels } of sentences) checkLabels(labels, "highlights");
  const found = sentences.flatMap((sentence) => (hasPhrases(sentence) ? new Ranked(sentence).best(n) : whole(sentence)));
  return found.sort((one, other) => strengthOf(other) - strengthOf(one) || one.start - other.start).slice(0, n);
}

/** Where phrases of a sentence may begin and end, if they are to be read without the rest. */
export interface Edges {
  /** Its words in lower case, as running text has them. */
  spelt: string[];
  /** How many words before each, and before the end, say something by themselves. */
  content: number[];
  /** Whether words [start, end) begin and end with a whole word: `n't` is typed as the end of a word, and `and` is neither. */
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

/** The phrases of a sentence with their sides and strengths, by their nodes. */
class Ranked {
  private readonly phrases: readonly Phrase[];
  private readonly spans: readonly Span[];
  private readonly strengths: number[];
  private readonly sides: number[];
  /** Whether a phrase may be shown. */
  private readonly shown: boolean[];
  /** The side of the phrases in each that may be shown: NEUTRAL of none, SEVERAL of two. */
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

  /** The phrases that say most, the strongest first; none overlaps another. */
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

  /** Phrases are shown that have a side and are the sentence, or can be read by themselves and hold a content word. */
  private findShown(): boolean[] {
    const { sides, edges } = this;
    const shown = this.spans.map(([start, end], node) => sides[node] !== NEUTRAL && edges.whole(start, end) && this.hasContent(node));
    shown[shown.length - 1] = sides[shown.length - 1] !== NEUTRAL;
    return shown;
  }

  private hasContent(node: number): boolean {
    const [start, end] = this.spans[node];
    return this.edges.content[end] > this.edges.content[start];
  }

  /** Whether the words around a phrase turn it into its opposite, and do not speak for that by themselves. */
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

  /** The largest phrase around a node that says about as much, and nothing of another side. */
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
  return sideOf(phrase) === NEUTRAL ? [] : [phrase];
}

/** How far a phrase is from neutral, or how probable its class is where classes are no scale. */
function strengthOf({ polarity, scores }: Phrase): number {
  return polarity === null ? Math.max(...Object.values(scores!)) : Math.abs(polarity);
}

function together(one: number, other: number): number {
  if (one === NEUTRAL || one === other) return other;
  return other === NEUTRAL ? one : SEVERAL;
}
