/** The plain English words that a vocabulary looks up for emoji, emoticons, star ratings, masked and stretched words, hashtags, handles and links (`thinstack.data.words.readings` in Python). */
import { EMOJI } from "./generated.js";

/** The contents of `emoji.json`: characters by word, and patterns by word. */
export interface EmojiData {
  emoji: Record<string, string>;
  emoticons: Record<string, string>;
  hidden: { marks: string; alike: Record<string, string>; words: string[]; alone: Record<string, string>; endings: string };
}

const HANDLE = "someone";
const LINK = "link";
const ADDRESS = /^(?:https?:\/\/|ftp:\/\/|www\.)./i;
const STRETCHED = /([a-z])\1{2,}/g;
const FLAGS = "[\\u{1f1e6}-\\u{1f1ff}]{2}";
const MODIFIERS = "\\ufe0f\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}";
const JOINED = "\\u200d[\\u2600-\\u27bf\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}]";

// The word of the first character of an emoji.
const words = new Map(Object.entries(EMOJI.emoji).flatMap(([word, emoji]) => Array.from(emoji, (one) => [one, word] as const)));
const pictures = new RegExp(`(?:${FLAGS}|[${[...words.keys()].join("")}])(?:[${MODIFIERS}]|${JOINED})*`, "gu");

const { marks, alike, alone, endings } = EMOJI.hidden;
// Any letter may be hidden, but not all behind the first.
const forms = EMOJI.hidden.words.map((word) => {
  const [first, ...rest] = Array.from(word, (letter) => letter + letter.toUpperCase() + (alike[letter] ?? ""));
  return [word, `[${first}](?=[^a-zA-Z ]{0,9}[a-zA-Z])${rest.map((letters) => `[${letters}${marks}]`).join("")}`] as const;
});
const hidden = [...forms, ...Object.entries(alone)];
const emoticons = Object.entries(EMOJI.emoticons);
const meanings = [...emoticons, ...hidden].map(([word]) => word);
const groups = (patterns: (readonly [string, string])[]) => patterns.map(([, pattern]) => `(${pattern})`).join("|");
const signs = new RegExp(`^(?:${groups(emoticons)}|(?:${groups(hidden)})(?:${endings})?)$`, "u");

/** A pattern, without groups, for words that may be masked. It also matches the plain words. */
export const HIDDEN = `(?:${hidden.map(([, pattern]) => pattern).join("|")})(?:${endings})?`;

/** The words to look up for a word, separated by spaces; most words are unchanged. */
export function reading(word: string): string {
  if (/^\p{L}+$/u.test(word)) return word;
  if (ADDRESS.test(word)) return LINK;
  const sign = signs.exec(word);
  if (sign) {
    const group = sign.findIndex((form, number) => number > 0 && form !== undefined);
    return meanings[group - 1] + word.slice(sign[group].length);
  }
  const read = word.replace(pictures, (emoji) => ` ${words.get(String.fromCodePoint(emoji.codePointAt(0)!))} `);
  if (!/^[#@][A-Za-z_]/.test(read)) return read;
  return read[0] === "@" ? HANDLE : read.slice(1);
}

/** The entry for a lower-case word with stretched letters (`sooo goood`): three or more equal letters become two, or else one; the word itself if neither is an entry. */
export function unstretched(word: string, entries: ReadonlyMap<string, number>): string {
  if (entries.has(word)) return word;
  return ["$1$1", "$1"].map((letters) => word.replace(STRETCHED, letters)).find((form) => entries.has(form)) ?? word;
}
