/** The rules that make sentences and words of English text: `english.json`, with its patterns compiled. */
import { cached } from "./cache.js";
import { ENGLISH } from "./generated.js";
import { Typed, type TypedData } from "./plainText.js";
import { HIDDEN } from "./readings.js";

/** A kind of token: what it says of words and sentences (`Token` in Python's english.py). */
export interface Token {
  pattern: string;
  /** `plain`: stands as it is; `word`; `single`, `double`: a quotation mark; `stop`: may end a sentence; `break`: ends one. */
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

/** Ends of singulars and of their plurals, words that look like plurals and are none, and second words of names such as "set up". */
export interface PluralsData {
  endings: [one: string, many: string][];
  none: string[];
  particles: string[];
}

/** What `english.json` holds; docs/text.md explains it. */
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
  /** Words that no phrase is shown to begin with, and to end with. */
  dangling: { first: string[]; last: string[] };
  /** Words that tell clauses; `Clauses` of `english.py` describes them. */
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

/** A kind of words that a full stop may belong to. */
export interface Abbreviation {
  ends: string;
  fits: (word: string) => boolean;
  /** What follows the full stop; sticky. */
  when: RegExp;
  /** Only as the first word of a sentence. */
  first: boolean;
  /** The full stop is a word of its own all the same. */
  splits: boolean;
}

/** The rules with patterns compiled. Group i of `scan` is `tokens[i]`. All patterns but `scan` are sticky. */
export class Rules {
  readonly tokens: (Token | undefined)[];
  readonly scan: RegExp;
  readonly plain: number;
  readonly quotes: ReadonlyMap<string, string[]>;
  readonly openAfter: ReadonlySet<string>;
  /** Words that say nothing by themselves, in lower case. */
  readonly functionWords: ReadonlySet<string>;
  /** Function words of other languages that are no words of English. */
  readonly otherWords: ReadonlySet<string>;
  /** How names end in the singular and the plural. */
  readonly plurals: PluralsData;
  /** A letter that is not Latin. */
  readonly scripts: RegExp;
  readonly dangling: RulesData["dangling"];
  readonly clauses: RulesData["clauses"];
  /** What is good behind it is wished for. */
  readonly unreal: RegExp;
  readonly followed: RegExp;
  readonly closers: RegExp;
  readonly textEnds: RegExp;
  readonly ends: ReadonlyMap<string, RegExp>;
  readonly closedEnds: ReadonlyMap<string, string>;
  readonly firstEnds: ReadonlyMap<string, string>;
  /** The kinds of abbreviations that a word may be. */
  readonly abbreviations: (word: string) => Abbreviation[];
  /** What is read of a typed text. */
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

  /** A token as the treebank spells it, character by character. */
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

/** The words as they are listed, with a capital, and in capitals. */
function cased(words: readonly string[]): string[] {
  return words.flatMap((word) => [word, word[0].toUpperCase() + word.slice(1), word.toUpperCase()]);
}

/** Where a sticky pattern that fits at `place` of a text ends; -1 where it does not. */
export function matchEnd(pattern: RegExp, text: string, place: number): number {
  pattern.lastIndex = place;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

let english: Rules | undefined;

/** The rules of English, compiled once. */
export function rules(): Rules {
  return (english ??= new Rules(ENGLISH));
}
