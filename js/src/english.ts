/** Splits English text into sentences of treebank words by the rules in `english.json` (docs/text.md). */
import { type PlainText, typedSpan } from "./plainText.js";
import { type Rules, type Token, matchEnd, rules } from "./rules.js";

/** A range [start, end). */
export type Span = [start: number, end: number];

/** A sentence of a text. */
export interface Sentence {
  /** Its part of the text. */
  text: string;
  /** Its treebank words, at least one. */
  words: string[];
  /** The range [start, end) of each word in the sentence, in UTF-16 units. */
  offsets: Span[];
  /** Where it starts in the whole text, in UTF-16 units. */
  start: number;
}

/** Splits an English text into sentences; a text without words has none. `split: false` treats it as one sentence. */
export function splitText(text: string, { split = true }: { split?: boolean } = {}): Sentence[] {
  const known = rules();
  const plain = known.typed.plain(text);
  return new Reader(text, plain, plain?.text ?? text, known).read(split);
}

// The maximum length of a word that may have many pieces. Longer ones are split.
const LONGEST = 500;

/** Reads one text token by token, as `typed` or in its `plain` form. All fields after `found` belong to the current sentence. */
class Reader {
  private readonly found: Sentence[] = [];
  private words: string[] = [];
  private places: Span[] = [];
  /** Whether a double quote is open. */
  private quoted = false;
  /** Where the sentence ends, once a stop has ended it. */
  private end = Infinity;

  constructor(
    private readonly typed: string,
    private readonly plain: PlainText | undefined,
    private readonly text: string,
    private readonly rules: Rules,
  ) {}

  read(split: boolean): Sentence[] {
    const { scan, plain } = this.rules;
    for (const match of this.text.matchAll(scan)) {
      let number = 1;
      while (match[number] === undefined) number++;
      const token = match[number];
      const end = match.index + match[0].length;
      const start = end - token.length;
      if (split && start >= this.end) this.finish();
      if (number === plain) this.add(token, start, end);
      else this.take(this.rules.tokens[number]!, ...this.shortened(number, token, start, end));
    }
    if (this.words.length) this.finish();
    return this.found;
  }

  private take(kind: Token, token: string, start: number, end: number): void {
    if (kind.role === "break") {
      this.end = this.words.length ? start : Infinity;
    } else if (kind.role !== "stop") {
      this.add(this.word(kind, token, start, end), start, end);
      const ends = kind.ends && this.words.length > 1 && this.rules.ends.get(kind.ends);
      if (ends && matchEnd(ends, this.text, end) >= 0) this.end = end;
    } else if (this.joins(kind, start, end)) {
      this.words[this.words.length - 1] += token;
      this.places[this.places.length - 1][1] = end;
    } else {
      this.add(kind.spelled || token, start, end);
    }
  }

  /** The last part of a long token, after adding the preceding parts as words; other tokens unchanged. */
  private shortened(number: number, token: string, start: number, end: number): [token: string, start: number, end: number] {
    if (token.length <= LONGEST || this.rules.tokens[number]!.spelled || /^[a-z0-9]+$/i.test(token)) return [token, start, end];
    const characters = Array.from(token);
    let rest = token;
    for (let place = 0; place < characters.length - LONGEST; place += LONGEST) {
      const part = characters.slice(place, place + LONGEST).join("");
      this.add(this.rules.spell(part), start, start + part.length);
      start += part.length;
      rest = rest.slice(part.length);
    }
    return [rest, start, end];
  }

  private add(word: string, start: number, end: number): void {
    this.words.push(word);
    this.places.push([start, end]);
  }

  private finish(): void {
    const { plain } = this;
    const places = plain ? this.places.map((place) => typedSpan(plain, place)) : this.places;
    const first = places[0][0];
    const last = places.at(-1)![1];
    const offsets = places.map(([start, end]): Span => [start - first, end - first]);
    this.found.push({ text: this.typed.slice(first, last), words: this.words, offsets, start: first });
    this.words = [];
    this.places = [];
    this.quoted = false;
    this.end = Infinity;
  }

  /** Whether a word of the sentence ends where a token starts. */
  private touches(start: number): boolean {
    return this.places.length > 0 && this.places[this.places.length - 1][1] === start;
  }

  /** The treebank spelling of a token. */
  private word(kind: Token, token: string, start: number, end: number): string {
    const { rules } = this;
    const quotes = kind.role === undefined ? undefined : rules.quotes.get(kind.role);
    if (quotes === undefined) return kind.spelled || rules.spell(token);
    const [opening, closing] = quotes;
    const opens = !this.touches(start) || rules.openAfter.has(this.words[this.words.length - 1]);
    const followed = matchEnd(rules.followed, this.text, end) >= 0;
    if (kind.role === "single") return opens && followed ? opening : closing;
    this.quoted = opens === followed ? opens : !this.quoted;
    return this.quoted ? opening : closing;
  }

  /** Whether a stop belongs to the preceding word. Sets the end of the sentence if it ends here. */
  private joins(kind: Token, start: number, end: number): boolean {
    const { rules, text } = this;
    let ends = kind.ends!;
    let joins = false;
    if (kind.abbreviates && this.touches(start)) {
      const one = rules
        .abbreviations(this.words[this.words.length - 1])
        .find(({ when, first }) => matchEnd(when, text, end) >= 0 && (this.words.length === 1 || !first));
      if (one) [ends, joins] = [one.ends, !one.splits];
    }
    const after = Math.max(matchEnd(rules.closers, text, end), end);
    if (after > end) ends = rules.closedEnds.get(ends) ?? ends;
    if (!this.words.length) ends = rules.firstEnds.get(ends) ?? ends;
    if (matchEnd(rules.textEnds, text, after) >= 0 || matchEnd(rules.ends.get(ends)!, text, after) >= 0) this.end = after;
    return joins;
  }
}
