/** How drawings show phrases: names, signs, tones, probabilities. Mirrors `show/marks.py`. */
import { percent, visible } from "./drawnText.js";
import { type Prediction } from "./prediction.js";
import { scaleAt } from "./scale.js";
import { bestOf } from "./scored.js";
import { checkLabels } from "./views.js";

const SIGNS = ["−−", "−", "0", "+", "++"];

/** Indexed by the row of scores of a phrase. */
export class Marks {
  /** Its label, or "uncertain". */
  readonly names: string[];
  /** Its sign on a sentiment scale, "?" if uncertain; otherwise its name. */
  readonly signs: string[];
  /** Its class in style sheets: "t0" (very negative) to "t4", or "plain". */
  readonly tones: string[];
  /** The name of the neutral class; "" without one. */
  readonly neutral: string = "";
  private readonly labels: string[];

  constructor(private readonly prediction: Prediction) {
    checkLabels(prediction.labels, "a picture");
    this.labels = prediction.labels.map(visible);
    const best = prediction.nodeScores.map((row) => (prediction.labelOf(row) === null ? -1 : bestOf(row, prediction.polarities)));
    this.names = best.map((label) => (label < 0 ? "uncertain" : this.labels[label]));
    this.signs = this.names;
    this.tones = best.map(() => "plain");
    if (prediction.polarities) {
      const { tones } = scaleAt(prediction.polarities);
      this.signs = best.map((label) => (label < 0 ? "?" : SIGNS[tones[label]]));
      this.tones = best.map((label) => (label < 0 ? "plain" : `t${tones[label]}`));
      this.neutral = tones.includes(2) ? this.labels[tones.indexOf(2)] : "";
    }
  }

  /** The probability of every class. */
  scores(node: number): string {
    const row = this.prediction.nodeScores[node];
    return this.labels.map((label, place) => `${label} ${percent(row[place])}`).join(", ");
  }
}
