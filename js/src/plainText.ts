/** Normalizes typed text (`thinstack.text.plain_text` in Python; docs/text.md). */
import { type Span } from "./english.js";
import { MARKED, plainLetters, rewritten } from "./letters.js";

/** The key `typed` of `english.json`. */
export interface TypedData {
  tags: { pattern: string }[];
  pairs: { pattern: string }[];
  blocks: string[];
  inline: string[];
  entity: string;
  entities: Record<string, string>;
  hashtag: string;
  humps: string;
  signs: string[][];
  verbs: string[];
  shortened: string[];
  subjects: string[];
  bytes: string;
  misread: (string | null)[][];
  clitic: string;
  negation: string;
  slip: string;
}

/** A normalized text. `starts` and `ends` map each of its units to a range of the typed text. */
export interface PlainText {
  text: string;
  starts: number[];
  ends: number[];
}

type Change = [start: number, end: number, plain: string];

const END = "\u2029";
// A misspelt `n't` ends so.
const hint = /[nN'\u2019;",.:?\xa8\ufffd ][tT](?![a-zA-Z0-9])/;
const SIGNS = String.raw`<&\\*_~\[\]#>\n%=<tick>`;

/** The rules for typed text. */
export class Typed {
  private readonly signs: RegExp;
  private readonly marked: RegExp;
  private readonly tag: RegExp;
  private readonly pairs: RegExp[];
  private readonly entity: RegExp;
  private readonly hashtag: RegExp;
  private readonly hump: RegExp;
  private readonly signed: [RegExp, string][];
  private readonly negation: RegExp;
  private readonly clitic: RegExp;
  private readonly misreadings: RegExp;
  private readonly originals: (string | null)[];
  private readonly bytes: string;
  private readonly tags: ReadonlyMap<string, string>;
  private readonly entities: ReadonlyMap<string, string>;

  constructor(data: TypedData, expanded: (pattern: string) => string) {
    const compiled = (pattern: string, flags: string) => new RegExp(expanded(pattern), flags);
    this.signs = compiled(`[${SIGNS}]`, "gu");
    this.marked = compiled(`[${SIGNS}${MARKED}]`, "u");
    this.tag = compiled(data.tags.map(({ pattern }) => pattern).join("|"), "uy");
    this.pairs = data.pairs.map(({ pattern }) => compiled(pattern, "duy"));
    this.entity = compiled(data.entity, "uy");
    this.hashtag = compiled(data.hashtag, "gu");
    this.hump = compiled(data.humps, "gu");
    this.signed = data.signs.map(([pattern, plain]) => [compiled(pattern, "uy"), plain]);
    this.negation = compiled(data.negation, "dgu");
    this.clitic = compiled(data.clitic, "dgu");
    this.misreadings = compiled(data.misread.map(([pattern]) => pattern).join("|"), "dgu");
    this.originals = data.misread.map(([, plain]) => plain);
    this.bytes = data.bytes;
    this.tags = new Map([...data.inline.map((name) => [name, ""] as const), ...data.blocks.map((name) => [name, END] as const)]);
    this.entities = new Map(Object.entries(data.entities));
  }

  /** The normalized text; undefined if it does not change. */
  plain(text: string): PlainText | undefined {
    let plain: PlainText | undefined;
    const read = (changes: (text: string) => Change[]) => {
      const now = plain?.text ?? text;
      plain = then(plain, changed(now, changes(now)));
    };
    const misread = (text: string) => this.misread(text);
    // Misread twice is common; and entities and escapes may be misread too.
    read(misread);
    read(misread);
    read((text) => (this.marked.test(text) ? this.markup(text) : []));
    read(misread);
    read((text) => (text.includes("#") ? this.humps(text) : []));
    read((text) => (hint.test(text) ? this.misspelt(text) : []));
    read((text) => grouped(text, this.clitic, (_, rest) => "'" + rest));
    return plain;
  }

  /** Repairs characters that were decoded with the wrong encoding. */
  private misread(text: string): Change[] {
    if (/^[\0-\x7f]*$/.test(text)) return [];
    return grouped(text, this.misreadings, (group, run) => this.originals[group - 1] ?? this.decoded(run));
  }

  /** The character whose bytes were decoded one by one as cp1252 or Latin-1. */
  private decoded(run: string): string {
    if (run.length === 1) return this.bytes[run.charCodeAt(0) - 0x80];
    const codes = Array.from(run, (char) => {
      const place = this.bytes.indexOf(char);
      return place < 0 ? char.charCodeAt(0) : 0x80 + place;
    });
    return decodeURIComponent(codes.map((code) => "%" + code.toString(16)).join(""));
  }

  /** Inserts spaces between the words of a hashtag, at capitals, digits and `_`. */
  private humps(text: string): Change[] {
    return Array.from(text.matchAll(this.hashtag), ({ 0: tag, index }) =>
      Array.from(tag.matchAll(this.hump), ({ 0: hump, index: place }): Change => {
        const start = index + place;
        return [start, start + hump.length, hump.replace(/_/g, "") + " "];
      }),
    ).flat();
  }

  private misspelt(text: string): Change[] {
    return grouped(text, this.negation, (_, typed) => (typed.includes("T") ? "N'T" : "n't"));
  }

  private markup(text: string): Change[] {
    const changes: Change[] = [];
    const closers = new Map<number, number>();
    let place = 0;
    for (const { index } of text.matchAll(this.signs)) {
      const change = index < place ? undefined : this.change(text, index, closers);
      if (!change) continue;
      addLetters(changes, text, place, index);
      changes.push([index, ...change]);
      place = change[0];
    }
    addLetters(changes, text, place, text.length);
    return changes;
  }

  /** Where markup that starts with a sign ends, and its replacement. `closers`: the ranges of the second markers of open pairs. */
  private change(text: string, start: number, closers: Map<number, number>): [end: number, plain: string] | undefined {
    if (closers.has(start)) return [closers.get(start)!, ""];
    if (!"<&]%".includes(text[start])) {
      for (const pair of this.pairs) {
        const span = fit(pair, text, start)?.indices!.at(-1);
        if (!span) continue;
        closers.set(span[1], pair.lastIndex);
        return [span[0], ""];
      }
    }
    const sign = this.signed.find(([pattern]) => fit(pattern, text, start));
    if (sign) return [sign[0].lastIndex, sign[1]];
    const tag = fit(this.tag, text, start);
    if (tag) {
      const name = tag.find((group, number) => number && group !== undefined);
      const plain = name === undefined ? "" : this.tags.get(name.toLowerCase());
      if (plain !== undefined) return [start + tag[0].length, plain];
    }
    const entity = fit(this.entity, text, start);
    const meant = entity && this.meant(entity[1], /[;>]$/.test(entity[0]));
    return meant === undefined ? undefined : [start + entity![0].length, plainLetters(meant)];
  }

  private meant(name: string, closed: boolean): string | undefined {
    const named = this.entities.get(name);
    if (/[a-z]/i.test(name[0])) {
      if (closed) return named ?? this.entities.get(name.toLowerCase());
      // HTML needs no semicolon behind these names. `&not` is more often the word.
      return named && (named <= "\xff" || "\u2018\u2019".includes(named)) && name !== "not" ? named : undefined;
    }
    if (name[1] === "u") return JSON.parse(`"\\${name.slice(1).replace("\\\\", "\\")}"`) as string;
    if (named) return named;
    const code = /[xU]/i.test(name[1]) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined;
  }
}

/** Replaces the only group of each match (of a pattern with the flag d). */
function grouped(text: string, pattern: RegExp, plain: (group: number, typed: string) => string): Change[] {
  return Array.from(text.matchAll(pattern), (found) => {
    const group = found.findIndex((part, number) => number > 0 && part !== undefined);
    return [...found.indices![group]!, plain(group, found[group])] as Change;
  });
}

/** Converts a range of the normalized text to one of the typed text. */
export function typedSpan({ starts, ends }: PlainText, [start, end]: Span): Span {
  return [starts[start], ends[end - 1]];
}

function fit(pattern: RegExp, text: string, place: number): RegExpExecArray | undefined {
  pattern.lastIndex = place;
  return pattern.exec(text) ?? undefined;
}

function addLetters(changes: Change[], text: string, start: number, end: number): void {
  const part = text.slice(start, end);
  for (const [first, behind, plain] of rewritten(part)) changes.push([start + first, start + behind, plain]);
}

/** Combines two successive changes of a text. */
function then(plain: PlainText | undefined, further: PlainText | undefined): PlainText | undefined {
  if (!plain || !further) return further ?? plain;
  const { text, starts, ends } = further;
  return { text, starts: starts.map((place) => plain.starts[place]), ends: ends.map((place) => plain.ends[place - 1]) };
}

function changed(text: string, changes: Change[]): PlainText | undefined {
  if (!changes.length) return undefined;
  const found: PlainText = { text: "", starts: [], ends: [] };
  const parts: string[] = [];
  let place = 0;
  for (const [start, end, plain] of [...changes, [text.length, text.length, ""] as Change]) {
    parts.push(text.slice(place, start), plain);
    for (let unit = place; unit < start; unit++) {
      found.starts.push(unit);
      found.ends.push(unit + 1);
    }
    for (let unit = 0; unit < plain.length; unit++) {
      found.starts.push(start);
      found.ends.push(end);
    }
    place = end;
  }
  found.text = parts.join("");
  return found;
}
