/** Text with colored phrases, byte-identical to the output of `show/heat.py`. */
import { escaped, inline } from "./drawnText.js";
import { HEAT_STYLE } from "./generated.js";
import { Marks } from "./marks.js";
import { type Prediction } from "./prediction.js";
import { hasPhrases } from "./scored.js";
import { leftChildren } from "./transitions.js";

const MAX_DEPTH = 100; // browsers give up on deep nesting

/**
 * The sentences as running text in one `<div>`. A phrase is marked with its sign and color if its label is not neutral and differs from
 * that of the marked phrase around it.
 */
export function heat(predictions: readonly Prediction[]): string {
  const sentences = predictions.map((prediction) => `<p>${sentence(prediction)}</p>\n`);
  return `<div class="thinstack-text">\n<style>\n${HEAT_STYLE}</style>\n${sentences.join("")}</div>\n`;
}

function sentence(prediction: Prediction): string {
  const marks = new Marks(prediction);
  const { text, spans, offsets } = prediction;
  const plain = (start: number, end?: number) => escaped(inline(text.slice(start, end)));
  const found: string[] = [];
  const ends: number[] = [];
  let place = 0;
  const close = (before: number) => {
    while (ends.length && ends.at(-1)! <= before) {
      found.push(plain(place, ends.at(-1)!), "</span>");
      place = ends.pop()!;
    }
  };
  for (const node of marked(prediction, marks)) {
    const [first, behind] = [offsets[spans[node][0]][0], offsets[spans[node][1] - 1][1]];
    close(first);
    found.push(plain(place, first), `<span class="${marks.tones[node]}" data-node="${node}" data-sign="${escaped(marks.signs[node])}" `);
    found.push(`title="${escaped(marks.scores(node))}">`);
    place = first;
    ends.push(behind);
  }
  close(Infinity);
  return found.join("") + plain(place);
}

/** The marked phrases in reading order, parents before children. */
function marked(prediction: Prediction, { names, neutral }: Marks): number[] {
  if (!hasPhrases(prediction)) return [0];
  const { transitions, spans } = prediction;
  const lefts = leftChildren(transitions);
  const around: { name: string; depth: number }[] = [];
  around[transitions.length - 1] = { name: neutral, depth: 0 };
  const found: number[] = [];
  for (let node = transitions.length - 1; node >= 0; node--) {
    let { name, depth } = around[node]; // of the phrase above it
    if (names[node] !== name && names[node] !== neutral && depth < MAX_DEPTH) {
      found.push(node);
      [name, depth] = [names[node], depth + 1];
    }
    if (lefts[node] >= 0) around[lefts[node]] = around[node - 1] = { name, depth };
  }
  return found.sort((one, other) => spans[one][0] - spans[other][0] || spans[other][1] - spans[one][1] || other - one);
}
