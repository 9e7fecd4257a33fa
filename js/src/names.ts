/** Patterns for names in texts: singular and plural, with a hyphen, a space or nothing between parts. Mirrors `text/names.py`. */
import { plainLetters } from "./letters.js";
import { rules } from "./rules.js";
import { splitText } from "./english.js";
import { unescaped } from "./treebank.js";

const LETTERS = /^[\p{L}\p{N}]+$/u;

/** Treebank words without escapes, and in plain letters if they were passed, not typed. None contains a space. */
export function plainWords(words: readonly string[]): readonly string[] {
  if (!/[^\0-\x7f]|[\\ ]|B-/.test(words.join(""))) return words;
  return words.map((word) => unescaped(rules().spell(plainLetters(word))).replace(/ /g, "-"));
}

/** The parts of a name between spaces and hyphens, read like the words of a text, without the sign of a hashtag. */
export function partsOf(name: string): string[] {
  const words = plainWords(splitText(name, { split: false }).flatMap((sentence) => sentence.words));
  return words.join(" ").split(/[ -]+/).filter(Boolean).map((part) => part.replace(/^#+/, "") || part);
}

/** The words of which a name may be the plural. */
function singulars(name: string): string[] {
  const { endings, none } = rules().plurals;
  const lowered = name.toLowerCase();
  if (lowered.endsWith("ss") || none.includes(lowered) || isFunctionWord(name)) return [];
  const found = endings.filter(([, many]) => lowered.endsWith(many)).map(([one, many]) => name.slice(0, -many.length) + one);
  return found.filter((each) => [...each].length > 1 && !isFunctionWord(each));
}

/** The word, its singulars, and the plurals of all these. */
function formsOf(word: string): string[] {
  const { endings, none } = rules().plurals;
  const bases = [word, ...singulars(word)];
  const plurals = (base: string) =>
    endings.filter(([one]) => base.toLowerCase().endsWith(one)).map(([one, many]) => base.slice(0, base.length - one.length) + many);
  const forms = /\p{L}$/u.test(word) ? bases.flatMap(plurals).filter((form) => !/ss$/i.test(form) && !none.includes(form.toLowerCase())) : [];
  return [...new Set([...bases, ...forms])].filter((form) => form === word || !isFunctionWord(form));
}

/** A regular expression for a name with these parts, in words joined by spaces. */
export function patternOf(parts: readonly string[]): string {
  const last = formsOf(parts.at(-1)!).sort((one, other) => other.length - one.length);
  return [...parts.slice(0, -1).map(spaced), `(?:${last.map(spaced).join("|")})`].join("[ -]{0,2}");
}

/** An expression for a part of a name, with what may occur between its characters. */
function spaced(part: string): string {
  const characters = [...part];
  const spelt = characters.map((character, place) => {
    const [before, behind] = [characters.slice(0, place), characters.slice(place)];
    const hyphen = LETTERS.test(before.slice(-1) + character) ? "(?:- ?)?" : " ?";
    const gap = mayBeTwo(before, behind) ? "[ -]{0,2}" : hyphen;
    return (place ? gap : "") + character.replace(/[\\^$.*+?()[\]{}|\/]/, "\\$&");
  });
  return spelt.join("");
}

/** Whether a text may split a name into these two words: "wi fi" for "wifi", but not "are a" for "area". */
function mayBeTwo(first: readonly string[], second: readonly string[]): boolean {
  const [one, other] = [first.join(""), second.join("")];
  const particle = rules().plurals.particles.includes(other.toLowerCase());
  const long = first.length > 1 && second.length > 1 && LETTERS.test(one + other);
  return long && !isFunctionWord(one) && (particle || !isFunctionWord(other));
}

function isFunctionWord(word: string): boolean {
  return rules().functionWords.has(word.toLowerCase());
}
