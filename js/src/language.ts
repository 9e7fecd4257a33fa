/** The share of words that a model knows (`thinstack.text.language` in Python; docs/text.md). */
import { cached } from "./cache.js";
import { plainLetters } from "./letters.js";
import { reading } from "./readings.js";
import { rules } from "./rules.js";
import { plain } from "./treebank.js";
import { type Vocabulary } from "./vocabulary.js";

const ENGLISH = ["the", "and", "of", "is"];

/** The share of a text's words in the vocabulary, from 0 to 1, ignoring punctuation; null without words. */
export function knownShare(vocabulary: Vocabulary): (tokens: readonly string[]) => number | null {
  const { scripts, otherWords } = rules();
  const english = ENGLISH.every((word) => vocabulary.holds(word));
  const knows = cached((token: string): boolean | null => {
    if (!/[\p{L}\p{N}]|[^\0-\x7f\p{P}]/u.test(reading(plain(token)))) return null;
    if (scripts.test(plainLetters(token)) || (english && otherWords.has(token.toLowerCase()))) return false;
    return vocabulary.holds(token);
  });
  return (tokens) => {
    const known = tokens.map(knows).filter((each) => each !== null);
    return known.length ? known.filter(Boolean).length / known.length : null;
  };
}
