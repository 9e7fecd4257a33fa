/** Trees of raw words by syntactic distance, by a table that bundles of version 0.1.0 bring along. */
import { cached } from "./cache.js";
import { BundleError, reason } from "./errors.js";
import { REDUCE, SHIFT } from "./transitions.js";

const SCHEMA_VERSION = 1;
/** Words read on either side of a gap. */
const WINDOW = 3;
// 2**32 over the golden ratio: its multiples are spread evenly modulo 2**32.
const SCRAMBLE = 0x9e3779b9;
const ENDINGS = "ing ed ly ness tion ity ment able ous ful ive al ic est er s y".split(" ");
// What Python's isdigit takes: decimal digits, and digits in circles and the like.
const DIGIT = new RegExp(
  "^[\\p{Nd}\\xb2\\xb3\\xb9\\u1369-\\u1371\\u19da\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468\\u2474-\\u247c\\u2488-\\u2490" +
    "\\u24ea\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788\\u278a-\\u2792\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}" +
    "\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}]",
  "u",
);

/** The transitions of the binary tree that cuts every span at its greatest distance; equal ones rank by a scrambled place. */
export function transitionsOf(distances: readonly number[]): number[] {
  const steps = [SHIFT];
  const open: [distance: number, place: number][] = [];
  distances.forEach((distance, index) => {
    const place = Math.imul(index + 1, SCRAMBLE) >>> 0;
    while (open.length) {
      const [other, before] = open[open.length - 1];
      if (!(other < distance || (other === distance && before < place))) break;
      open.pop();
      steps.push(REDUCE);
    }
    open.push([distance, place]);
    steps.push(SHIFT);
  });
  return [...steps, ...open.map(() => REDUCE)];
}

/** The distance of a gap: a sum of weights, one for each of the words around it. */
export class DistanceTable {
  private readonly feature: (word: string) => number;
  private readonly weights: readonly number[][];

  /** Throws BundleError for a text that holds no such table. */
  constructor(text: string, source = "distances.json") {
    try {
      const { words, weights } = tableOf(text);
      const features = new Map([...words, ...forms()].map((name, number): [string, number] => [name, number + 1]));
      const sound = (row: unknown) => Array.isArray(row) && row.length === features.size + 1 && row.every(Number.isFinite);
      if (weights.length !== 2 * WINDOW || !weights.every(sound)) {
        throw new Error(`expected ${2 * WINDOW} rows of ${features.size + 1} finite weights`);
      }
      this.weights = weights;
      this.feature = cached((word) => features.get(word.toLowerCase()) ?? features.get(formOf(word))!);
    } catch (error) {
      throw new BundleError(`${source}: not a table of syntactic distances: ${reason(error)}`);
    }
  }

  /** The transitions of the tree over n >= 1 words. */
  transitions(words: readonly string[]): number[] {
    const beyond = Array<number>(WINDOW).fill(0);
    const ids = [...beyond, ...words.map(this.feature), ...beyond];
    const distances = words.slice(1).map((_, gap) =>
      // Added in float32 as Python does, so that ties are the same.
      this.weights.reduce((sum, row, place) => Math.fround(sum + Math.fround(row[ids[place + 1 + gap]])), 0),
    );
    return transitionsOf(distances);
  }
}

function tableOf(text: string): { words: string[]; weights: number[][] } {
  const { schema_version: schema, window, words, weights } = JSON.parse(text);
  if (schema !== SCHEMA_VERSION || window !== WINDOW) {
    throw new Error(`schema ${schema}, window ${window}; a newer thinstack is needed`);
  }
  if (!Array.isArray(words) || !Array.isArray(weights)) throw new Error("expected lists of words and weights");
  return { words, weights };
}

/** The forms that words without weights of their own have. */
function forms(): string[] {
  const endings = [...ENDINGS, ""];
  return ["<number>", "<compound>", ...["", "Capital "].flatMap((cased) => endings.map((ending) => `<${cased}${ending}>`))];
}

function formOf(word: string): string {
  if (DIGIT.test(word)) return "<number>";
  if (word.includes("-")) return "<compound>";
  const lower = word.toLowerCase();
  const ending = ENDINGS.find((each) => lower.endsWith(each)) ?? "";
  return `<${/^\p{Uppercase}/u.test(word) ? "Capital " : ""}${ending}>`;
}
