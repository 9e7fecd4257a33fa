/** What a vocabulary looks up for an emoji, an emoticon, a hashtag or a handle: plain English words (`thinstack.data.words.readings` in Python). */
import { EMOJI } from "./generated.js";

/** What `emoji.json` holds: characters by word, and patterns by word. */
export interface EmojiData {
  emoji: Record<string, string>;
  emoticons: Record<string, string>;
}

const HANDLE = "someone";
const FLAGS = "[\\u{1f1e6}-\\u{1f1ff}]{2}";
const MODIFIERS = "\\ufe0f\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}";
const JOINED = "\\u200d[\\u2600-\\u27bf\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}]";

// The word of the first character of an emoji.
const words = new Map(Object.entries(EMOJI.emoji).flatMap(([word, emoji]) => Array.from(emoji, (one) => [one, word] as const)));
const pictures = new RegExp(`(?:${FLAGS}|[${[...words.keys()].join("")}])(?:[${MODIFIERS}]|${JOINED})*`, "gu");
const emoticons = Object.entries(EMOJI.emoticons).map(([word, pattern]) => [new RegExp(`^(?:${pattern})$`, "u"), word] as const);

/** The words that are looked up for a word, between spaces; most words as they stand. */
export function reading(word: string): string {
  const read = word.replace(pictures, (emoji) => ` ${words.get(String.fromCodePoint(emoji.codePointAt(0)!))} `);
  if (/^[:;=<^-]/.test(read)) return emoticons.find(([pattern]) => pattern.test(read))?.[1] ?? read;
  if (!/^[#@][A-Za-z_]/.test(read)) return read;
  return read[0] === "@" ? HANDLE : read.slice(1);
}
