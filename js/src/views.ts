/** Views of a model's classes: five sentiment classes as three or two, and no label below a threshold. */
import { type ClassSets, type ModelConfig } from "./config.js";
import { InputError } from "./errors.js";
import { FIVE, NO_TERM, type Scale, merged, scaleOf } from "./scale.js";
import { type Scored } from "./scored.js";

/** Added to each class, so that an entirely neutral phrase gets equal scores. */
const LEAST = 1e-30;

/** How scores are shown. */
export interface View {
  /** The classes that are shown. */
  labels: readonly string[];
  /** The position of each class from -1 (negative) to 1 (positive); null without a sentiment scale. */
  polarities: readonly number[] | null;
  /** The minimum probability for a label. */
  abstain: number;
  /** The class to which each of the model's classes adds, or -1 for none; undefined to show the model's own. */
  places?: readonly number[];
  /** The weight of each class; undefined for equal weights. */
  weights?: readonly number[];
  /** The index of NO_TERM among the model's classes. It is hidden but decides which phrases are terms. Aspects models only. */
  noTerm?: number;
}

type Shown = Pick<ModelConfig, "labels" | "classSets" | "classWeights">;

/** The view with `classes` classes, by default the model's. Throws InputError if the model does not support it. */
export function chooseView({ labels, classSets, classWeights: weights }: Shown, classes?: number, abstain?: number): View {
  if ((classes ?? abstain) !== undefined) checkLabels(labels, classes === undefined ? "abstain" : "classes");
  if (abstain !== undefined && !(abstain > 0 && abstain < 1)) {
    throw new InputError(`abstain: expected a probability between 0 and 1, found ${abstain}`);
  }
  const noTerm = labels.indexOf(NO_TERM);
  if (noTerm >= 0) {
    const view = chooseView({ labels: labels.filter((label) => label !== NO_TERM) }, classes, abstain);
    const places = [...(view.places ?? view.labels.keys())];
    places.splice(noTerm, 0, -1);
    return { ...view, places, noTerm };
  }
  const scale = scaleOf(labels);
  const whole = { labels, polarities: scale?.polarity ?? null, abstain: abstain ?? 0 };
  if (classes === undefined) return classSets ? { ...ofSets(labels, classSets, scale), weights, abstain: whole.abstain } : whole;
  if (![2, 3, FIVE.length].includes(classes)) throw new InputError(`classes: expected 2, 3 or 5, found ${classes}`);
  if (scale && classes === labels.length && classes === new Set(scale.polarity).size) return whole;
  const view = scale && merged(scale, classes);
  if (!view) {
    const other = classes === FIVE.length ? "" : ", or another one from negative to positive";
    const expected = `expected a model with the five classes ${FIVE.join(", ")}${other}`;
    throw new InputError(`classes: ${expected}; this one has ${labels.join(", ").slice(0, 200)}: leave classes out`);
  }
  return { ...view, polarities: scaleOf(view.labels)!.polarity, abstain: whole.abstain };
}

/** Throws InputError, with the call or option that needs labels, if a model has none. */
export function checkLabels(labels: readonly string[], call: string): void {
  if (labels.length) return;
  throw new InputError(`${call}: this model gives vectors and no labels: load thinstack/bundle/bundled/sentiment`);
}

/** Labels that represent sets of classes. Each has the mean position of its classes. */
function ofSets(labels: readonly string[], sets: ClassSets, scale: Scale | undefined): Omit<View, "abstain"> {
  const all = [...sets.values()];
  const polarityOf = (label: string) => scale!.polarity[labels.indexOf(label)];
  const mean = (set: readonly string[]) => set.reduce((sum, label) => sum + polarityOf(label), 0) / set.length;
  const places = labels.map((label) => all.findIndex((set) => set.includes(label)));
  return { labels: [...sets.keys()], places, polarities: scale ? all.map(mean) : null };
}

/** A sentence with the scores of the view's classes. */
export function shown({ labels, places, weights, noTerm }: View, scored: Scored): Scored {
  if (!places) return scored;
  const leaves = places.includes(-1) || weights !== undefined;
  const least = leaves ? LEAST : 0;
  const terms = noTerm === undefined ? undefined : Float32Array.from(scored.scores, (row) => 1 - row[noTerm]);
  let total = 1;
  const scores = scored.scores.map((row) => {
    const masses = Float32Array.from(labels, () => least);
    places.forEach((place, label) => {
      if (place >= 0) masses[place] += row[label];
    });
    weights?.forEach((weight, place) => (masses[place] *= weight));
    if (!leaves) return masses;
    total = masses.reduce((sum, mass) => sum + mass, 0);
    return masses.map((mass) => mass / total);
  });
  return { ...scored, scores, weight: terms ? 1 : total, terms };
}
