/** The clause that expresses the opinion about a term, and the phrase in it that decides. Mirrors `runtime/clauses.py`. */
import { type Span } from "./english.js";
import { type Edges, edgesOf, isWord } from "./highlights.js";
import { NEUTRAL, type Phrase, siblingOf, sideOf } from "./phrase.js";
import { type Prediction } from "./prediction.js";
import { rules } from "./rules.js";

/** The opinion about a term: its phrase, whether it is reversed (`turned`), and the phrase that decides. */
export interface Verdict {
  phrase: Phrase;
  turned: boolean;
  because: Phrase | null;
}

/**
 * The clauses of a sentence. Two adjacent phrases are separate clauses if a word such as "but" or "except" joins them, or if they have
 * opposite polarities and a comma or "and" joins them. The clause of a term is the largest phrase around it without separate clauses.
 */
export class Clauses {
  private readonly edges: Edges;
  readonly spans: readonly Span[];
  /** The phrase of each word. */
  private readonly words: readonly Phrase[];
  /** The number of matches of `unreal` that begin before each word. */
  private readonly wishes = [0];

  constructor(private readonly sentence: Prediction) {
    this.edges = edgesOf(sentence);
    this.spans = sentence.spans;
    this.words = sentence.phrases.filter(({ node }) => this.spans[node][1] - this.spans[node][0] === 1);
    const { spelt } = this.edges;
    spelt.forEach((word, place) => {
      // A match depends on at most two words and the space after them.
      const start = spelt.slice(place, place + 3).join(" ").search(rules().unreal);
      this.wishes.push(this.wishes[place] + Number(start >= 0 && start < word.length));
    });
  }

  /**
   * The opinion about the words [first, behind): that of the largest phrase around them in their clause that is not neutral, or else of
   * the first one around the clause, or the sentence. It is reversed if the clause is neutral and follows "except" or "but", and if
   * something good is only wished for.
   */
  verdict(first: number, behind: number): Verdict {
    let clause = this.smallest(first, behind);
    let phrase = clause;
    while (clause.parent && !this.isApart(clause)) {
      clause = clause.parent;
      if (sideOf(clause) !== NEUTRAL) phrase = clause;
    }
    let turned = false;
    if (sideOf(phrase) === NEUTRAL) phrase = clause;
    while (sideOf(phrase) === NEUTRAL && phrase.parent) {
      turned ||= this.isExcepted(phrase);
      phrase = phrase.parent;
    }
    turned ||= sideOf(phrase) > 0 && this.isUnreal(clause, behind);
    turned &&= sideOf(phrase) !== NEUTRAL && mirrorOf(this.sentence) !== null;
    return { phrase, turned, because: turned ? this.firstShown(phrase, first, behind) : this.because(first, behind, sideOf(phrase), phrase) };
  }

  /**
   * The phrase that decides the polarity of the words, inside `top`: in the smallest phrase around them with that polarity, their sibling
   * if it has that polarity, or else the phrase. It makes sense on its own and has content besides the term.
   */
  because(first: number, behind: number, side: number, top: Phrase): Phrase | null {
    if (side === NEUTRAL) return null;
    let beside: Phrase[] = [];
    for (let phrase: Phrase | null = this.smallest(first, behind); phrase; phrase = phrase.parent) {
      const around = phrase;
      if (sideOf(around) === side) {
        const shown = [...inside(beside, side), around].find((each) => this.isShown(each, first, behind));
        if (shown) return shown;
      }
      if (around.node === top.node) break;
      beside = around.parent ? [siblingOf(around)] : [];
    }
    return null;
  }

  /** The smallest phrase around these words. */
  smallest(first: number, behind: number): Phrase {
    let phrase = this.words[first];
    while (this.spans[phrase.node][1] < behind) phrase = phrase.parent!;
    return phrase;
  }

  private firstShown(phrase: Phrase, first: number, behind: number): Phrase | null {
    let around: Phrase | null = phrase;
    while (around && !this.isShown(around, first, behind)) around = around.parent;
    return around;
  }

  /** Whether a phrase makes sense on its own and has a content word outside the term. */
  private isShown({ node, parent }: Phrase, first: number, behind: number): boolean {
    const [start, end] = this.spans[node];
    const { content, whole } = this.edges;
    const count = (from: number, to: number) => (from < to ? content[to] - content[from] : 0);
    const beside = count(start, Math.min(first, end)) + count(Math.max(behind, start), end);
    return beside > 0 && (!parent || whole(start, end));
  }

  /** Whether a phrase and its sibling are separate clauses. */
  private isApart(phrase: Phrase): boolean {
    const { spans } = this;
    const beside = siblingOf(phrase);
    const [start, end] = spans[beside.node];
    const meet = Math.max(spans[phrase.node][0], start);
    const { spelt } = this.edges;
    const between = [meet - 1, meet].filter((place) => spelt[place] !== "yet" || spelt[place + 1] !== "to").map((place) => spelt[place]);
    const { apart, joined } = rules().clauses;
    if (between.some((word) => apart.includes(word))) return true;
    return end - start > 1 && sideOf(phrase) * sideOf(beside) < 0 && between.some((word) => joined.includes(word));
  }

  /** Whether a word such as "except" or "but" joins a phrase to its sibling, and the sibling is not neutral. */
  private isExcepted(phrase: Phrase): boolean {
    const { opposite } = rules().clauses;
    const [start] = this.spans[phrase.node];
    const [first, behind] = this.spans[siblingOf(phrase).node];
    const between = this.edges.spelt.slice(start - Number(first < start), start + 1);
    const rest = this.edges.spelt.slice(first, behind);
    return between.some((word) => opposite.includes(word)) && rest.some((word) => isWord(word) && !opposite.includes(word));
  }

  private isUnreal(clause: Phrase, behind: number): boolean {
    const [first] = this.spans[clause.node];
    const last = Math.max(first, behind - 2);
    return this.wishes[last] > this.wishes[first] || rules().unreal.test(this.edges.spelt.slice(last, behind).join(" "));
  }
}

/** The opposite of each class; null without a sentiment scale, or if a class has no opposite. */
export function mirrorOf({ polarities }: Pick<Prediction, "polarities">): number[] | null {
  const mirror = polarities?.map((place) => polarities.findIndex((other) => other === -place));
  return mirror && !mirror.includes(-1) ? mirror : null;
}

/** The phrases with a polarity, parents before children. */
function inside(phrases: readonly Phrase[], side: number): Phrase[] {
  return phrases.filter((phrase) => sideOf(phrase) === side).flatMap((phrase) => [phrase, ...inside(phrase.children, side)]);
}
