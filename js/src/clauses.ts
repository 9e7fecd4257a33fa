/** The clause of a sentence that says something of a term, and the phrase of it that decides. As `runtime/clauses.py`. */
import { type Edges, edgesOf, isWord } from "./highlights.js";
import { NEUTRAL, type Phrase, siblingOf, sideOf } from "./phrase.js";
import { type Prediction } from "./prediction.js";
import { rules } from "./rules.js";

/** What is said of a term: the phrase that says it, whether it says it `turned` round, and the phrase that decides. */
export interface Verdict {
  phrase: Phrase;
  turned: boolean;
  because: Phrase | null;
}

/**
 * The clauses of a sentence. Two phrases side by side are clauses apart if a word such as "but" or "except" stands where they meet, or
 * if they say the opposite and a comma or "and" does. The clause of a term is the largest phrase around it in which no two are apart.
 */
export class Clauses {
  private readonly edges: Edges;

  constructor(private readonly sentence: Prediction) {
    this.edges = edgesOf(sentence);
  }

  /**
   * What is said of the words [first, behind): by the largest phrase around them in their clause that is not neutral; or else by the
   * first one around the clause, or the sentence. It is turned round if the clause is neutral and stands behind "except" or "but",
   * and if what is good is only wished for.
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
   * What decides that words have a side, inside of the phrase `top`: in the smallest phrase around them of that side, what stands
   * beside them, if it is of that side, or else the phrase. It can be read by itself and says something beside the term.
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

  /** The smallest phrase around some words. */
  private smallest(first: number, behind: number): Phrase {
    const { phrases, spans } = this.sentence;
    return phrases[spans.findIndex(([start, end]) => start <= first && behind <= end)];
  }

  private firstShown(phrase: Phrase, first: number, behind: number): Phrase | null {
    let around: Phrase | null = phrase;
    while (around && !this.isShown(around, first, behind)) around = around.parent;
    return around;
  }

  /** Whether a phrase can be read by itself, and has a content word that is not of the term. */
  private isShown({ node, parent }: Phrase, first: number, behind: number): boolean {
    const [start, end] = this.sentence.spans[node];
    const { content, whole } = this.edges;
    const count = (from: number, to: number) => (from < to ? content[to] - content[from] : 0);
    const beside = count(start, Math.min(first, end)) + count(Math.max(behind, start), end);
    return beside > 0 && (!parent || whole(start, end));
  }

  /** Whether a phrase and the one beside it are clauses apart. */
  private isApart(phrase: Phrase): boolean {
    const { spans } = this.sentence;
    const beside = siblingOf(phrase);
    const [start, end] = spans[beside.node];
    const meet = Math.max(spans[phrase.node][0], start);
    const between = this.edges.spelt.slice(meet - 1, meet + 1);
    const { apart, joined } = rules().clauses;
    if (between.some((word) => apart.includes(word))) return true;
    return end - start > 1 && sideOf(phrase) * sideOf(beside) < 0 && between.some((word) => joined.includes(word));
  }

  /** Whether a word such as "except" or "but" stands between a phrase and the rest of the one around it, which says something. */
  private isExcepted(phrase: Phrase): boolean {
    const { opposite } = rules().clauses;
    const [start] = this.sentence.spans[phrase.node];
    const [first, behind] = this.sentence.spans[siblingOf(phrase).node];
    const between = this.edges.spelt.slice(start - Number(first < start), start + 1);
    const rest = this.edges.spelt.slice(first, behind);
    return between.some((word) => opposite.includes(word)) && rest.some((word) => isWord(word) && !opposite.includes(word));
  }

  private isUnreal(clause: Phrase, behind: number): boolean {
    return rules().unreal.test(this.edges.spelt.slice(this.sentence.spans[clause.node][0], behind).join(" "));
  }
}

/** For each class the one that stands opposite to it; null if they are no scale of sentiment, or one that lacks such a class. */
export function mirrorOf({ polarities }: Pick<Prediction, "polarities">): number[] | null {
  const mirror = polarities?.map((place) => polarities.findIndex((other) => other === -place));
  return mirror && !mirror.includes(-1) ? mirror : null;
}

/** The phrases of a side, each before those of that side that it is made of. */
function inside(phrases: readonly Phrase[], side: number): Phrase[] {
  return phrases.filter((phrase) => sideOf(phrase) === side).flatMap((phrase) => [phrase, ...inside(phrase.children, side)]);
}
