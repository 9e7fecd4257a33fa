/** Unusual forms of letters (`thinstack.data.words.letters` in Python). */

// What NFKC turns into letters, digits or a single mark.
const OTHERS = [
  String.raw`\u0132\u0133\u017f\u01f1-\u01f3\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u1d78\u1d9b-\u1dbf\u2071\u207f`,
  String.raw`\u2090-\u209c\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2128\u212a-\u212d\u212f-\u2134\u2145-\u2149`,
  String.raw`\u2160-\u217f\u2460-\u2473\u24b6-\u24ea\u2c7c\u2c7d\ufb00-\ufb06\ufb13-\ufb17\ufb20-\ufb28\ufb50-\ufbb1`,
  String.raw`\ufe50-\ufe52\ufe54-\ufe66\ufe68-\ufe6b\ufe80-\ufefc\uff01-\uffdc\uffe0-\uffe2\uffe4-\uffe6`,
  String.raw`\u{1d400}-\u{1d7ff}\u{1f12b}-\u{1f12e}\u{1f130}-\u{1f149}`,
].join("");
const ACCENTS = String.raw`\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u3099\u309a\ufe20-\ufe2f`;
const NO_WIDTH = String.raw`\xad\u034f\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff\ufff9-\ufffb`;
// Inside an emoji or a keycap, these belong to it.
const OF_EMOJI = String.raw`\u200d\ufe0f\u20e3`;
const EMOJI = String.raw`\u2600-\u27bf\u{1f000}-\u{1faff}`;

/** A character class for patterns: texts without these characters stay unchanged. */
export const MARKED = OTHERS + ACCENTS + NO_WIDTH + OF_EMOJI;

const marked = new RegExp(`[${MARKED}]`, "u");
const changes = new RegExp(
  `([${OTHERS}][${ACCENTS}\\uff9e\\uff9f]*)|([^${OTHERS}${NO_WIDTH}][${ACCENTS}]+)|[${NO_WIDTH}]|\\u20e3` +
    `|(?<![${EMOJI}])\\ufe0f|\\u200d(?![${EMOJI}])|(?<![\\ufe0f${EMOJI}])\\u200d`,
  "gu",
);

/** Replaces ligatures, composes accents, and removes zero-width characters outside emoji. */
export function plainLetters(text: string): string {
  return marked.test(text) ? text.replace(changes, plain) : text;
}

/** The ranges [start, end) that `plainLetters` changes, in order, with the replacements. */
export function rewritten(text: string): [start: number, end: number, plain: string][] {
  return Array.from(text.matchAll(changes), (found): [number, number, string] => {
    let [typed] = found, start = found.index;
    let made = plain(typed, found[1], found[2]);
    // Unchanged letters and accents at either end keep their offsets.
    for (; made && made[0] === typed[0]; start++) (typed = typed.slice(1)), (made = made.slice(1));
    while (made && made.at(-1) === typed.at(-1)) (typed = typed.slice(0, -1)), (made = made.slice(0, -1));
    return [start, start + typed.length, made];
  }).filter(([start, end, made]) => made || start < end);
}

function plain(found: string, other?: string, accented?: string): string {
  if (other !== undefined) return found.normalize("NFKC");
  return accented === undefined ? "" : found.normalize("NFC");
}
