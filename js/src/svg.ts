/** Trees as one SVG document, byte-identical to the output of `show/svg.py`. */
import { escaped, excerpt, percent, shorten, textWidth, visible } from "./drawnText.js";
import { TREE_STYLE } from "./generated.js";
import { LEVEL, MARGIN, NODE, type Place, places } from "./layout.js";
import { Marks } from "./marks.js";
import { type Prediction } from "./prediction.js";
import { bestOf } from "./scored.js";

const HEADING = 30; // the line above a tree
const WORDS = 20; // the line of words
const MAX_CLOSED = 40; // characters of a collapsed phrase
const MAX_NAME = 300; // characters of a phrase's accessible name

// No script element: pages leave those out that are put in later.
const TOGGLE =
  "const g=event.target.closest('[aria-expanded]');" +
  "if(g&amp;&amp;(event.type==='click'||event.key==='Enter'||event.key===' '))" +
  "{g.setAttribute('aria-expanded',g.getAttribute('aria-expanded')==='false');" +
  "event.preventDefault()}";

/** The trees of these sentences, stacked vertically. */
export function svg(predictions: readonly Prediction[]): string {
  const drawn: string[] = [];
  let [width, height] = [2 * MARGIN, MARGIN];
  for (const prediction of predictions) {
    const picture = new Picture(prediction);
    drawn.push(`<g role="tree" transform="translate(0 ${height})">\n`, ...picture.markup(), "</g>\n");
    width = Math.max(width, picture.width);
    height += picture.height;
  }
  const name = predictions.slice(0, 3).map(({ text }) => shorten(visible(text), MAX_NAME));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" class="thinstack-tree" width="${width}" ` +
    `height="${height}" viewBox="0 0 ${width} ${height}" role="group" ` +
    `aria-label="${escaped(name.join("; "))}" onclick="${TOGGLE}" onkeydown="${TOGGLE}">\n` +
    `<style>\n${TREE_STYLE}</style>\n<rect width="${width}" height="${height}" fill="#fff"/>\n` +
    `${drawn.join("")}</svg>\n`
  );
}

/** One tree and its heading. */
class Picture {
  readonly width: number;
  readonly height: number;
  private readonly heading: string;
  private readonly marks: Marks;
  private readonly places: Place[];
  private readonly spans;

  constructor(private readonly prediction: Prediction) {
    this.marks = new Marks(prediction);
    this.spans = prediction.spans;
    this.places = places(prediction, this.marks.signs);
    const { names } = this.marks;
    const row = prediction.nodeScores[prediction.nodeScores.length - 1];
    const best = row[bestOf(row, prediction.polarities)];
    this.heading = names[names.length - 1] + (best === 1 ? "" : ` ${percent(best)}`);
    const ends = this.places.map(({ x, width, text }) => x + Math.floor(Math.max(width, textWidth(text)) / 2));
    this.width = Math.max(Math.max(...ends) + MARGIN, textWidth(this.heading) + 3 * MARGIN);
    this.height = HEADING + Math.max(...this.places.map(({ y }) => y)) + NODE + WORDS + MARGIN;
  }

  markup(): string[] {
    const found = [`<text class="heading" x="${MARGIN}" y="${MARGIN}">${escaped(this.heading)}</text>\n`];
    const ends: number[] = []; // the number of remaining parts of each open group
    for (const place of this.places) {
      found.push(this.phrase(place));
      if (place.parts.length) {
        ends.push(place.parts.length);
        continue;
      }
      found.push("</g>\n");
      while (ends.length && --ends[ends.length - 1] === 0) {
        ends.pop();
        found.push("</g></g>\n");
      }
    }
    return found;
  }

  /** The start of a phrase's group. Its parts follow. */
  private phrase({ node, x, y: below, width, text, parts }: Place): string {
    const { names, signs, tones } = this.marks;
    const y = below + HEADING;
    const [foot, [start, end]] = [y + NODE, this.spans[node]];
    const whole = escaped(excerpt(this.prediction, start, end, MAX_NAME));
    const state = parts.length ? ' tabindex="0" aria-expanded="true"' : "";
    const opening =
      `<g class="${tones[node]}" role="treeitem" data-node="${node}"${state} aria-label="${escaped(names[node])}: ${whole}">\n` +
      `<title>${whole}\n${escaped(this.marks.scores(node))}</title>\n` +
      `<rect x="${x - Math.floor(width / 2)}" y="${y}" width="${width}" height="${NODE}" rx="6"/>` +
      `<text class="sign" x="${x}" y="${y + 16}">${escaped(signs[node])}</text>\n`;
    if (!parts.length) return `${opening}<text x="${x}" y="${foot + 16}">${escaped(text)}</text>`;
    const closed = escaped(excerpt(this.prediction, start, end, MAX_CLOSED));
    // Slanted for one level, then straight down: no other node stands there.
    const line = (part: Place) => `M${x} ${foot}L${part.x} ${y + LEVEL}V${part.y + HEADING}`;
    const lines = parts.map((part) => line(this.places[part])).join("");
    return `${opening}<text class="closed" x="${x}" y="${foot + 16}">${closed}</text>\n<g role="group"><path d="${lines}"/>\n`;
  }
}
