/** The positions of phrases in a drawing, in whole pixels. Mirrors `show/layout.py`. */
import { excerpt, textWidth } from "./drawnText.js";
import { type Prediction } from "./prediction.js";
import { hasPhrases } from "./scored.js";
import { leftChildren } from "./transitions.js";

export const LEVEL = 44; // from one level to the next
export const NODE = 22; // the height of a node
export const MARGIN = 16; // around all
const GAP = 14; // between two words

const MAX_PHRASES = 1023; // drawn per tree: all phrases of up to 512 words
const MAX_DEPTH = 100; // browsers fail on deeper nesting
const MAX_TEXT = 24; // characters of a word, or of a phrase whose parts are not drawn
const MAX_ALONE = 80; // of a sentence whose phrases have no scores

/** A phrase in the drawing: the center and width of its node, its text if no parts are drawn, and the indices of its parts. */
export interface Place {
  node: number;
  x: number;
  y: number;
  width: number;
  text: string;
  parts: number[];
}

interface Row {
  node: number;
  depth: number;
  /** The number of phrases inside it that are not drawn. */
  hidden: number;
}

/** The phrases in reading order, parents before children. `signs`: the text in each node. */
export function places(prediction: Prediction, signs: readonly string[]): Place[] {
  const spans = prediction.spans;
  const rows = hasPhrases(prediction) ? outline(prediction) : [{ node: 0, depth: 0, hidden: 0 }];
  const parts = partsOf(rows);
  const levels: number[] = Array(rows.length).fill(0);
  for (let place = rows.length - 1; place >= 0; place--) {
    for (const part of parts[place]) levels[place] = Math.max(levels[place], levels[part] + 1);
  }
  const texts = rows.map(({ node, hidden }, place) => {
    if (parts[place].length) return "";
    const more = hidden ? ` (+${hidden.toLocaleString("en-US")})` : "";
    return excerpt(prediction, ...spans[node], hasPhrases(prediction) ? MAX_TEXT : MAX_ALONE) + more;
  });
  const widths = rows.map(({ node }) => Math.max(NODE, textWidth(signs[node]) + 10));
  const xs = middles(texts, widths, parts);
  const y = (place: number) => (levels[0] - levels[place]) * LEVEL;
  return rows.map(({ node }, place) => ({ node, x: xs[place], y: y(place), width: widths[place], text: texts[place], parts: parts[place] }));
}

/** The top of the tree, level by level and in whole pairs, in reading order with parents before children. */
function outline({ transitions, spans }: Prediction): Row[] {
  const lefts = leftChildren(transitions);
  const depths: number[] = Array(transitions.length).fill(0);
  for (let node = transitions.length - 1; node >= 0; node--) {
    if (lefts[node] >= 0) depths[lefts[node]] = depths[node - 1] = depths[node] + 1;
  }
  const before = (one: number, other: number) => spans[one][0] - spans[other][0];
  const level = (one: number, other: number) => depths[one] - depths[other];
  const order = [...transitions.keys()].filter((node) => depths[node] <= MAX_DEPTH);
  const drawn = order.sort((one, other) => level(one, other) || before(one, other)).slice(0, MAX_PHRASES);
  const shown = new Set(drawn);
  drawn.sort((one, other) => before(one, other) || level(one, other));
  return drawn.map((node) => {
    const inside = lefts[node] < 0 || shown.has(node - 1) ? 0 : 2 * (spans[node][1] - spans[node][0]) - 2;
    return { node, depth: depths[node], hidden: inside };
  });
}

/** The rows one level below each row, up to the next row that is not inside it. */
function partsOf(rows: readonly Row[]): number[][] {
  const parts: number[][] = rows.map(() => []);
  const above: number[] = [];
  rows.forEach(({ depth }, place) => {
    above.length = depth;
    if (depth) parts[above[depth - 1]].push(place);
    above.push(place);
  });
  return parts;
}

/** The centers: words next to each other, and other phrases above the middle of their parts. */
function middles(texts: readonly string[], widths: readonly number[], parts: readonly number[][]): number[] {
  const found: number[] = [];
  let right = MARGIN;
  texts.forEach((text, place) => {
    if (parts[place].length) return;
    const column = Math.max(textWidth(text), widths[place]);
    found[place] = right + Math.floor(column / 2);
    right += column + GAP;
  });
  for (let place = texts.length - 1; place >= 0; place--) {
    const [left, other] = parts[place];
    if (parts[place].length) found[place] = Math.floor((found[left] + found[other]) / 2);
  }
  return found;
}
