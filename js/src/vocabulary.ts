/** Vocabularies: ids of words, stored as text files with one entry per line. */
import { cached } from "./cache.js";
import { BundleError } from "./errors.js";
import { plainLetters } from "./letters.js";
import { reading, unstretched } from "./readings.js";
import { plain } from "./treebank.js";
import { parts } from "./wordpiece.js";

const UNKNOWN = "[UNK]";
const LONGEST = 100; // characters of a part of a word
const LONGEST_WORD = 4096; // characters of a word that has pieces
const MOST_ENTRIES = 3_000_000;

/** The word inputs of a model, by name. */
export type Fields = Record<string, number[]>;

/** A vocabulary of words or pieces. */
export interface Vocabulary {
  /** The word inputs for these words. */
  fields(words: readonly string[]): Fields;
  /** Whether a word is known, as an entry or as entries joined by punctuation. */
  holds(word: string): boolean;
}

/** The line number of each entry, from 0. Throws BundleError for an invalid file. */
export function positions(text: string, source: string): Map<string, number> {
  if (!text) throw new BundleError(`${source}: expected one vocabulary entry per line, found an empty file`);
  const entries = text.replace(/\n$/, "").split("\n");
  if (entries.length > MOST_ENTRIES) {
    throw new BundleError(`${source}: ${entries.length} entries; expected at most ${MOST_ENTRIES}`);
  }
  const found = new Map<string, number>();
  entries.forEach((entry, number) => {
    if (!entry) throw new BundleError(`${source}: vocabulary entry ${number}: expected a word, found an empty line`);
    if (found.has(entry)) throw new BundleError(`${source}: vocabulary entry ${number}: ${JSON.stringify(entry)} occurs twice`);
    found.set(entry, number);
  });
  return found;
}

/** Word ids from 1; 0 is the unknown word. */
export class WordVocabulary implements Vocabulary {
  /** The id of a word, looked up unchanged, then in lower case, then without treebank escapes; 0 if unknown. */
  readonly lookup: (word: string) => number;

  constructor(text: string, source = "vocabulary.txt") {
    const known = positions(text, source);
    this.lookup = cached((word) => {
      const bare = plain(word);
      const letters = plainLetters(bare);
      const read = reading(letters);
      const first = read === letters ? read : read.split(" ").find(Boolean) ?? "";
      const forms = [word, bare, letters, first, unstretched(letters.toLowerCase(), known)].flatMap((form) => [form, form.toLowerCase()]);
      const form = forms.find((each) => known.has(each));
      return form === undefined ? 0 : known.get(form)! + 1;
    });
  }

  holds(word: string): boolean {
    return this.lookup(word) > 0;
  }

  fields(words: readonly string[]): Fields {
    return { token_ids: words.map(this.lookup) };
  }
}

/** Piece ids from 0, for any word, by BERT's uncased scheme (Devlin et al. 2019). */
export class WordpieceVocabulary implements Vocabulary {
  /** The ids of a word's pieces, at least one. */
  readonly piecesOf: (word: string) => readonly number[];
  private readonly known: ReadonlyMap<string, number>;
  private readonly unknown: number;
  private readonly continuing: ReadonlySet<number>;

  constructor(text: string, source = "vocabulary.txt") {
    this.known = positions(text, source);
    const unknown = this.known.get(UNKNOWN);
    if (unknown === undefined) {
      throw new BundleError(`${source}: the vocabulary of ${this.known.size} pieces lacks ${UNKNOWN}`);
    }
    this.unknown = unknown;
    this.continuing = new Set(Array.from(this.known).flatMap(([piece, id]) => (piece.startsWith("##") ? [id] : [])));
    this.piecesOf = cached((word) => {
      if (word.length > LONGEST_WORD && Array.from(word).length > LONGEST_WORD) return [unknown];
      const found = parts(reading(plainLetters(plain(word)))).flatMap((part) => this.longestMatches(part));
      return found.length ? found : [unknown];
    });
  }

  holds(word: string): boolean {
    return this.piecesOf(word).every((piece) => piece !== this.unknown && !this.continuing.has(piece));
  }

  fields(words: readonly string[]): Fields {
    const pieces = words.map(this.piecesOf);
    return { piece_ids: pieces.flat(), pieces_per_word: pieces.map(({ length }) => length) };
  }

  private longestMatches(part: string): number[] {
    if ([...part].length > LONGEST) return [this.unknown];
    const characters = [...unstretched(part, this.known)];
    const size = characters.length;
    const found: number[] = [];
    for (let start = 0, end = size; start < size; start = end, end = size) {
      const rest = (behind: number) => (start ? "##" : "") + characters.slice(start, behind).join("");
      while (end > start && !this.known.has(rest(end))) end--;
      if (end === start) return [this.unknown];
      found.push(this.known.get(rest(end))!);
    }
    return found;
  }
}
