/** Sentiment scales: which class names form one, and the position of each class. Mirrors `core/scale.py`. */

export const FIVE = ["very negative", "negative", "neutral", "positive", "very positive"];
/** In an aspects model, the class of phrases that are not terms. Its other classes are sentiment classes. */
export const NO_TERM = "no term";
const NUMBERS = "0,1,2,3,4";
const SIDES = new Map([["negative", -1], ["neg", -1], ["neutral", 0], ["neu", 0], ["mixed", 0], ["positive", 1], ["pos", 1]]);
const NOT = ["not", "non", "no"];
const DEGREES = new Map([
  ...["slightly", "somewhat", "weakly", "mildly", "moderately"].map((word) => [word, 0] as const),
  ...["very", "strongly", "extremely", "highly", "strong"].map((word) => [word, 2] as const),
]);
const NEUTRAL_TONE = 2;
/** By number of classes: their names, and the one to which a negative, neutral and positive class adds. */
const VIEWS = new Map([
  [3, { labels: ["negative", "neutral", "positive"], places: [0, 1, 2] }],
  [2, { labels: ["negative", "positive"], places: [0, -1, 1] }],
]);

/** The positions of sentiment classes. */
export interface Scale {
  /** -1 for a negative class, 0 for a neutral one, 1 for a positive one. */
  sides: readonly number[];
  /** The position of each class from -1 (most negative) to 1. */
  polarity: readonly number[];
  /** The same in five steps, for colors and signs: 0 (very negative) to 4. */
  tones: readonly number[];
}

interface Place {
  side: number;
  degree: number;
}

/** The scale of these classes, in any order; undefined if they do not express sentiment. */
export function scaleOf(labels: readonly string[]): Scale | undefined {
  const numbers = [...labels].sort().join() === NUMBERS;
  const places = labels.map((label) => placeOf(numbers ? FIVE[Number(label)] : label)).filter((place) => place !== undefined);
  const sides = places.map(({ side }) => side);
  if (places.length < labels.length || !sides.includes(-1) || !sides.includes(1)) return undefined;
  return scaleAt(places.map((place) => polarityOf(place, places)));
}

/** The scale of classes with these positions from -1 to 1. */
export function scaleAt(polarity: readonly number[]): Scale {
  return { sides: polarity.map(Math.sign), polarity, tones: polarity.map((one) => toneOf(one, polarity)) };
}

/** The names of 3 or 2 classes, and the one to which each class adds, or -1 for none; undefined if the scale cannot be reduced. */
export function merged({ sides }: Scale, classes: number): { labels: string[]; places: number[] } | undefined {
  const view = VIEWS.get(classes);
  if (!view || (classes === 3 && !sides.includes(0))) return undefined;
  return { labels: view.labels, places: sides.map((side) => view.places[side + 1]) };
}

function placeOf(name: string): Place | undefined {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z]+/g) ?? [];
  const named = words.join(" ") === "so so" ? [0] : words.flatMap((word) => SIDES.get(word) ?? []);
  if (new Set(named).size !== 1 || words.some((word) => NOT.includes(word))) return undefined;
  const degrees = words.flatMap((word) => DEGREES.get(word) ?? []);
  return { side: named[0], degree: degrees[0] ?? 1 };
}

function polarityOf({ side, degree }: Place, places: readonly Place[]): number {
  const degrees = [...new Set(places.filter((other) => other.side === side).map((other) => other.degree))].sort();
  return side && (side * (degrees.indexOf(degree) + 1)) / degrees.length;
}

function toneOf(polarity: number, all: readonly number[]): number {
  const several = new Set(all.filter((one) => one * polarity > 0)).size > 1;
  return NEUTRAL_TONE + Math.sign(polarity) * (several && Math.abs(polarity) > 0.5 ? 2 : 1);
}
