/** Views of a model's classes: five classes of sentiment as three or two, and no label where no class is probable enough. */
import { InputError } from "./errors.js";
import { type Scored } from "./scored.js";

const FIVE = ["very negative", "negative", "neutral", "positive", "very positive"];
const VIEWS = new Map([
  [3, { labels: ["negative", "neutral", "positive"], places: [0, 0, 1, 2, 2] }],
  [2, { labels: ["negative", "positive"], places: [0, 0, -1, 1, 1] }],
]);
/** Added to the mass of both sides, so that a phrase that is wholly neutral has even scores. */
const LEAST = 1e-30;
const TONES = new Map([
  [2, [1, 3]],
  [3, [1, 2, 3]],
  [5, [0, 1, 2, 3, 4]],
]);

/** What is shown of scores. */
export interface View {
  /** The classes that are shown. */
  labels: readonly string[];
  /** Where no class is as probable as this, there is no label. */
  abstain: number;
  /** The class that each of the model's adds to, -1 if it is left out; undefined where the model's own are shown. */
  places?: readonly number[];
}

/** The view of a model of these classes. Throws InputError for one that it does not have. */
export function chooseView(labels: readonly string[], classes?: number, abstain?: number): View {
  if (abstain !== undefined && !(abstain > 0 && abstain < 1)) {
    throw new InputError(`abstain: expected a probability between 0 and 1, found ${abstain}`);
  }
  const whole = { labels, abstain: abstain ?? 0 };
  if (classes === undefined) return whole;
  const view = VIEWS.get(classes);
  if (!view && classes !== FIVE.length) throw new InputError(`classes: expected 2, 3 or 5, found ${classes}`);
  const names = labels.map((label) => label.toLowerCase()).join();
  if (![FIVE.join(), "0,1,2,3,4"].includes(names)) {
    const expected = `expected a model of the five classes ${FIVE.join(", ")}`;
    throw new InputError(`classes: ${expected}; this one has ${labels.join(", ").slice(0, 200)}: leave classes out`);
  }
  return view ? { ...view, abstain: whole.abstain } : whole;
}

/** A sentence with the scores of the classes shown. */
export function shown({ labels, places }: View, scored: Scored): Scored {
  if (!places) return scored;
  const [least, leaves] = places.includes(-1) ? [LEAST, true] : [0, false];
  let total = 1;
  const scores = scored.scores.map((row) => {
    const masses = Float32Array.from(labels, () => least);
    places.forEach((place, label) => {
      if (place >= 0) masses[place] += row[label];
    });
    if (!leaves) return masses;
    total = masses.reduce((sum, mass) => sum + mass, 0);
    return masses.map((mass) => mass / total);
  });
  return { ...scored, scores, weight: leaves ? total : 1 };
}

/** The tone of each class, 0 (very negative) to 4 (very positive); undefined where the labels are no such scale. */
export function tonesOf(labels: readonly string[]): readonly number[] | undefined {
  const names = labels.map((label) => label.toLowerCase());
  const tones = TONES.get(names.length);
  if (!tones || !names[0].includes("negative") || !names[names.length - 1].includes("positive")) return undefined;
  const middle = names.length % 2 ? names[(names.length - 1) / 2] : "neutral";
  return middle.includes("neutral") ? tones : undefined;
}
