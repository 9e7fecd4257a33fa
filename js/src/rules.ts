/** The rules for splitting English text, from `english.json`, with compiled patterns. */
import { cached } from "./cache.js";
import { ENGLISH } from "./generated.js";
import { Typed, type TypedData } from "./plainText.js";
import { HIDDEN } from "./readings.js";

/** A kind of token and its effect on words and sentences (`Token` in Python's english.py). */
export interface Token {
  pattern: string;
  /** `plain`: unchanged; `word`; `single`, `double`: a quotation mark; `stop`: may end a sentence; `break`: ends one. */
  role?: string;
  spelled?: string;
  ends?: string;
  abbreviates?: boolean;
}

interface AbbreviationData {
  ends: string;
  words?: string[];
  pattern?: string;
  when?: string;
  first?: boolean;
  splits?: boolean;
}

/** Endings of singulars and plurals, words that only look like plurals, and second words of names such as "set up". */
export interface PluralsData {
  endings: [one: string, many: string][];
  none: string[];
  particles: string[];
}

/** The contents of `english.json`; docs/text.md explains them. */
export interface RulesData {
  classes: Record<string, string>;
  tokens: Token[];
  spelled: Record<string, string>;
  quotes: Record<string, string[]>;
  open_after: string[];
  function_words: string[];
  other_words: string[];
  plurals: PluralsData;
  scripts: string;
  /** Words with which highlights neither begin nor end. */
  dangling: { first: string[]; last: string[] };
  /** Words that separate clauses (see `Clauses` in `english.py`). */
  clauses: { apart: string[]; joined: string[]; opposite: string[]; unreal: string };
  followed: string;
  abbreviations: AbbreviationData[];
  closers: string;
  text_ends: string;
  ends: Record<string, string>;
  closed_ends: Record<string, string>;
  first_ends: Record<string, string>;
  starters: string[];
  typed: TypedData;
}

/** A kind of word to which a full stop may belong. */
export interface Abbreviation {
  ends: string;
  fits: (word: string) => boolean;
  /** A sticky pattern for what follows the full stop. */
  when: RegExp;
  /** Only as the first word of a sentence. */
  first: boolean;
  /** The full stop is still a separate word. */
  splits: boolean;
}

/** The rules with compiled patterns. Group i of `scan` is `tokens[i]`. All patterns except `scan` are sticky. */
export class Rules {
  readonly tokens: (Token | undefined)[];
  readonly scan: RegExp;
  readonly plain: number;
  readonly quotes: ReadonlyMap<string, string[]>;
  readonly openAfter: ReadonlySet<string>;
  /** Function words, in lower case. */
  readonly functionWords: ReadonlySet<string>;
  /** Function words of other languages that are not English words. */
  readonly otherWords: ReadonlySet<string>;
  /** Endings of names in the singular and plural. */
  readonly plurals: PluralsData;
  /** A non-Latin letter. */
  readonly scripts: RegExp;
  readonly dangling: RulesData["dangling"];
  readonly clauses: RulesData["clauses"];
  /** Words after which something good is only wished for. */
  readonly unreal: RegExp;
  readonly followed: RegExp;
  readonly closers: RegExp;
  readonly textEnds: RegExp;
  readonly ends: ReadonlyMap<string, RegExp>;
  readonly closedEnds: ReadonlyMap<string, string>;
  readonly firstEnds: ReadonlyMap<string, string>;
  /** The kinds of abbreviation that a word may be. */
  readonly abbreviations: (word: string) => Abbreviation[];
  /** The rules for typed text. */
  readonly typed: Typed;
  private readonly classes = new Map<string, string>();
  private readonly spelled: ReadonlyMap<string, string>;
  private readonly special: RegExp;

  constructor(data: RulesData) {
    const { starters, typed } = data;
    this.classes.set("starters", starters.join("|"));
    this.classes.set("shouted", starters.join("|").toUpperCase());
    for (const name of ["verbs", "shortened", "subjects"] as const) this.classes.set(name, cased(typed[name]).join("|"));
    this.classes.set("hidden", HIDDEN);
    for (const [name, pattern] of Object.entries(data.classes)) this.classes.set(name, this.expanded(pattern));
    this.tokens = [undefined, ...data.tokens];
    const groups = data.tokens.map(({ pattern }) => `(${pattern})`).join("|");
    this.scan = new RegExp(this.expanded(` ?(?:${groups})`), "gu");
    this.plain = this.tokens.findIndex((token) => token?.role === "plain");
    this.spelled = new Map(Object.entries(data.spelled));
    this.special = new RegExp(`[${[...this.spelled.keys()].map((mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`).join("")}]`, "gu");
    this.quotes = new Map(Object.entries(data.quotes));
    this.openAfter = new Set(data.open_after);
    this.functionWords = new Set(data.function_words);
    this.otherWords = new Set(data.other_words);
    this.plurals = data.plurals;
    this.scripts = new RegExp(data.scripts, "u");
    this.dangling = data.dangling;
    this.clauses = data.clauses;
    this.unreal = new RegExp(data.clauses.unreal, "u");
    this.followed = this.sticky(data.followed);
    this.closers = this.sticky(data.closers);
    this.textEnds = this.sticky(data.text_ends);
    this.ends = new Map(Object.entries(data.ends).map(([name, pattern]) => [name, this.sticky(pattern)]));
    this.closedEnds = new Map(Object.entries(data.closed_ends));
    this.firstEnds = new Map(Object.entries(data.first_ends));
    this.classes.set("slip", this.expanded(typed.slip));
    this.typed = new Typed(typed, (pattern) => this.expanded(pattern));
    const kinds = data.abbreviations.map((kind) => this.abbreviation(kind));
    this.abbreviations = cached((word) => kinds.filter((kind) => kind.fits(word)), 4096);
  }

  /** The treebank spelling of a token, character by character. */
  spell(token: string): string {
    return token.replace(this.special, (mark) => this.spelled.get(mark)!);
  }

  private expanded(pattern: string): string {
    return pattern.replace(/<([a-z]+)>/g, (_, name: string) => this.classes.get(name)!);
  }

  private sticky(pattern: string): RegExp {
    return new RegExp(this.expanded(pattern), "uy");
  }

  private abbreviation(kind: AbbreviationData): Abbreviation {
    const words = new Set(cased(kind.words ?? []));
    const whole = new RegExp(`^(?:${this.expanded(kind.pattern ?? "(?!)")})$`, "u");
    return {
      ends: kind.ends,
      fits: (word) => words.has(word) || whole.test(word),
      when: this.sticky(kind.when ?? ""),
      first: kind.first ?? false,
      splits: kind.splits ?? false,
    };
  }
}

/** The listed words, also capitalized and in capitals. */
function cased(words: readonly string[]): string[] {
  return words.flatMap((word) => [word, word[0].toUpperCase() + word.slice(1), word.toUpperCase()]);
}

/** The end of a sticky pattern's match at `place`; -1 without a match. */
export function matchEnd(pattern: RegExp, text: string, place: number): number {
  pattern.lastIndex = place;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

let english: Rules | undefined;

/** The rules for English, compiled once. */
export function rules(): Rules {
  return (english ??= new Rules(ENGLISH));
}
