/** Trees as one SVG image. docs/drawing.md has the rules, so that other languages draw the same. */
import { type Prediction } from "./prediction.js";
import { argmax } from "./scored.js";
import { textWidth } from "./textWidth.js";
import { REDUCE, SHIFT, leftChildren, spansOf } from "./transitions.js";
import { tonesOf } from "./views.js";

const MARGIN = 12;
const GAP = 14; // between words
const STEP = 36; // from one level to the next
const RADIUS = 12;
const WORDS = 28; // below the circles of words
const BETWEEN = 24; // sentences, and above the legend
const DROP = 5; // of a base line below the middle of a line of text
const LONGEST_WORD = 30; // characters
const LONGEST_PHRASE = 120;

const SIGNS = ["−−", "−", "0", "+", "++"];
const FILLS = ["#9a3b00", "#fbc999", "#e4e7ea", "#b3d6f7", "#0b559f"];
const INKS = ["#ffffff", "#3d1a00", "#2b3037", "#062848", "#ffffff"];
const PLAIN = 2;

const ESCAPES = new Map(Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }));
// Control characters, bidirectional embeddings and isolates, halves of surrogates, what XML cannot hold.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu;
// What Python takes for white space; `\s` has the byte order mark besides, and lacks some controls.
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;

interface Node {
  x: number;
  y: number;
}

/** The trees of these sentences, one below the other. */
export function drawing(sentences: readonly Prediction[]): string {
  const parts: string[] = [];
  let [width, bottom] = [0, MARGIN];
  for (const sentence of sentences) {
    if (parts.length) bottom += BETWEEN;
    const drawn = sentenceDrawing(sentence, bottom);
    parts.push(drawn.text);
    width = Math.max(width, drawn.width);
    bottom = drawn.bottom;
  }
  const legend = sentences.length && !tonesOf(sentences[0].labels) ? sentences[0].labels : [];
  if (legend.length) {
    const text = visible(legend.map((label, place) => `${place + 1} ${label}`).join(", "));
    width = Math.max(width, textWidth(text));
    parts.push(`<text x="${MARGIN}" y="${bottom + BETWEEN}" text-anchor="start" fill="currentColor">${escaped(text)}</text>\n`);
    bottom += BETWEEN + DROP;
  }
  const [w, h] = [width + 2 * MARGIN, bottom + MARGIN];
  const name = sentences.length === 1 ? "The tree of a sentence" : `The trees of ${sentences.length} sentences`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="group" aria-label="${name}"` +
    ` font-family="sans-serif" font-size="15" text-anchor="middle">\n${parts.join("")}</svg>\n`
  );
}

/** One sentence, its highest circle at `top`; and its width and where it ends. */
function sentenceDrawing(sentence: Prediction, top: number): { text: string; width: number; bottom: number } {
  const words = sentence.offsets.map(([start, end]) => elided(visible(sentence.text.slice(start, end)), LONGEST_WORD));
  const { centres, width } = columns(words);
  const tree = sentence.transitions.length > 0;
  const { nodes, edges, base } = tree ? placed(sentence.transitions, centres, top) : alone(centres, top);
  const text = centres.map((x, place) => `<text x="${x}" y="${base + WORDS}">${escaped(words[place])}</text>\n`).join("");
  const label = sentence.label ?? "uncertain";
  return {
    text:
      `<g role="group" aria-label="${escaped(`${visible(label)}: ${elided(visible(sentence.text), LONGEST_PHRASE)}`)}">\n` +
      (edges && `<path d="${edges}" fill="none" stroke="currentColor" stroke-opacity="0.5"/>\n`) +
      inReadingOrder(sentence, nodes).join("") +
      `<g fill="currentColor" aria-hidden="true">\n${text}</g>\n</g>\n`,
    width,
    bottom: base + WORDS + RADIUS,
  };
}

/** The middle of each word, side by side. */
function columns(words: readonly string[]): { centres: number[]; width: number } {
  let place = MARGIN;
  const centres = words.map((word) => {
    const width = Math.max(textWidth(word), 2 * RADIUS);
    const centre = place + Math.floor(width / 2);
    place += width + GAP;
    return centre;
  });
  return { centres, width: place - GAP - MARGIN };
}

/** The nodes of a tree, words on one line and each phrase above the higher of its parts, between them; and lines to the parts. */
function placed(transitions: readonly number[], centres: readonly number[], top: number) {
  const lefts = leftChildren(transitions);
  const levels: number[] = [];
  transitions.forEach((step, node) => levels.push(step === SHIFT ? 0 : 1 + Math.max(levels[lefts[node]], levels[node - 1])));
  const base = top + RADIUS + STEP * levels[levels.length - 1];
  const nodes: Node[] = [];
  let edges = "";
  let word = 0;
  transitions.forEach((step, node) => {
    const [left, right] = [nodes[lefts[node]], nodes[node - 1]];
    const x = step === REDUCE ? Math.floor((left.x + right.x) / 2) : centres[word++];
    nodes.push({ x, y: base - STEP * levels[node] });
    const y = nodes[node].y;
    // Slanted for one level only, then straight down: no other circle stands there.
    if (step === REDUCE) edges += `M${left.x} ${left.y}V${y + STEP}L${x} ${y}L${right.x} ${y + STEP}V${right.y}`;
  });
  return { nodes, edges, base };
}

/** A plain sentence: one circle above the middle of its words. */
function alone(centres: readonly number[], top: number) {
  const x = Math.floor((centres[0] + centres[centres.length - 1]) / 2);
  return { nodes: [{ x, y: top + RADIUS }], edges: "", base: top + RADIUS };
}

/** The circles, each phrase before its parts, as screen readers should read them. */
function inReadingOrder(sentence: Prediction, nodes: readonly Node[]): string[] {
  const spans = sentence.transitions.length ? spansOf(sentence.transitions) : sentence.spans;
  const order = [...nodes.keys()].sort((one, other) => spans[one][0] - spans[other][0] || other - one);
  return order.map((node) => {
    const { x, y } = nodes[node];
    const row = sentence.transitions.length ? sentence.scoresAt(node) : sentence.nodeScores[0];
    if (!row) return `<circle cx="${x}" cy="${y}" r="3" fill="currentColor"/>\n`;
    const [start, end] = spans[node];
    const text = sentence.text.slice(sentence.offsets[start][0], sentence.offsets[end - 1][1]);
    return circle(sentence, x, y, text, row);
  });
}

/** A phrase that has scores: a circle with the sign of its class, and all of its probabilities as its title. */
function circle(sentence: Prediction, x: number, y: number, text: string, row: Float32Array): string {
  const tones = tonesOf(sentence.labels);
  const best = argmax(row);
  const label = sentence.labelOf(row);
  const tone = tones && label !== null ? tones[best] : PLAIN;
  const sign = label === null ? "?" : tones ? SIGNS[tone] : String(best + 1);
  const shares = sentence.labels.map((name, place) => `${visible(name)} ${Math.floor(100 * row[place] + 0.5)}%`).join(", ");
  const title = `${label === null ? "uncertain" : visible(label)}: ${elided(visible(text), LONGEST_PHRASE)} (${shares})`;
  return (
    `<g role="img"><title>${escaped(title)}</title><circle cx="${x}" cy="${y}" r="${RADIUS}" fill="${FILLS[tone]}" stroke="#5a626d"/>` +
    `<text x="${x}" y="${y + DROP}" fill="${INKS[tone]}">${sign}</text></g>\n`
  );
}

/** Text on one line: white space is one space, other control characters are escaped as in Python. */
function visible(text: string): string {
  const line = text.replace(SPACE, " ").replace(/^ | $/g, "");
  return line.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  });
}

function elided(text: string, most: number): string {
  const characters = text.length > most ? [...text] : [];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => ESCAPES.get(mark)!);
}
