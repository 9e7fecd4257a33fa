/** Text in drawings: how it is escaped, measured and shortened. Mirrors `show/marks.py`. */
import { ENGLISH } from "./generated.js";
import { type Prediction } from "./prediction.js";

const DOTS = " … ";
const WIDTHS = new Map<string, number>();
for (const [width, characters] of [
  [5, "fijlrtI.,:;'!|()[]-` "],
  [10, "ABCDEFGHJKLNOPQRSTUVXYZ"],
  [14, "mwMW@%"],
] as const) {
  for (const character of characters) WIDTHS.set(character, width);
}

const ESCAPES = new Map(Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" }));
// What can act on a page or cannot be seen, as `escaped` of Python's `errors.py` has it; joiners of emoji stay.
const UNSAFE = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff" +
    "\\u{e0000}-\\u{e007f}]|\\p{Cs}|(?<![^\\u0000-\\u007f])[\\u200c\\u200d]|[\\u200c\\u200d](?![^\\u0000-\\u007f])",
  "gu",
);
/** White space as in Python. Unlike `\s`, it excludes the byte order mark and includes some controls. */
export const SPACE = new RegExp(`[${ENGLISH.classes.space}]+`, "gu");

/** The estimated width of a text at 14 pixels: wider than in common fonts, and the same everywhere. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += WIDTHS.get(character) ?? otherWidth(character.codePointAt(0)!);
  return width;
}

function otherWidth(code: number): number {
  if (code < 0x80) return 8;
  const nothing = (code >= 0x300 && code < 0x370) || (code >= 0x200b && code < 0x2010) || (code >= 0xfe00 && code < 0xfe10);
  if (nothing) return 0;
  return (code >= 0x1100 && code < 0x1160) || (code >= 0x2600 && code < 0x27c0) || code >= 0x2e80 ? 15 : 10;
}

/** Text on one line, with its outer spaces: runs of white space become one space, and other controls are escaped as in Python. */
export function inline(text: string): string {
  return text.replace(SPACE, " ").replace(UNSAFE, (character) => {
    const code = character.codePointAt(0)!;
    const [mark, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${mark}${code.toString(16).padStart(digits, "0")}`;
  });
}

/** Text on one line. */
export function visible(text: string): string {
  return inline(text).replace(/^ | $/g, "");
}

/** Shortens a text to `most` >= 24 code points by replacing words in the middle with dots. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  if (characters.length <= most) return text;
  const room = most - DOTS.length;
  const half = room - Math.floor(room / 2);
  let head = characters.slice(0, half);
  const space = head.lastIndexOf(" ");
  if (space >= 0 && characters[half] !== " ") head = head.slice(0, space);
  while (head.at(-1) === " ") head.pop();
  const start = characters.length - (room - head.length);
  let tail = characters.slice(start);
  if (tail.includes(" ") && characters[start - 1] !== " ") tail = tail.slice(tail.indexOf(" ") + 1);
  return head.join("") + DOTS + tail.join("").replace(/^ +/, "");
}

/** Words [start, end) as typed, made visible and shortened. */
export function excerpt({ text, offsets }: Prediction, start: number, end: number, most: number): string {
  const cut = (first: number, behind: number) => visible(text.slice(offsets[first][0], offsets[behind - 1][1]));
  if (end - start <= 2 * most) return shorten(cut(start, end), most);
  return shorten(`${cut(start, start + most)} ${cut(end - most, end)}`, most);
}

/** A probability as a whole percentage, rounding halves up. */
export function percent(share: number): string {
  return `${Math.floor(100 * share + 0.5)}%`;
}

/** Text escaped for elements and attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => ESCAPES.get(mark)!);
}
