/** `config.json`: the fields for running a model. */
import { BundleError } from "./errors.js";
import { checkSchema, keysOf, parsed } from "./manifest.js";

const SCHEMA_VERSION = 1;

/** The classes that each label represents, in order. */
export type ClassSets = ReadonlyMap<string, readonly string[]>;

/** The configuration of a model, for running it. */
export interface ModelConfig {
  /** The classes, in order; empty if the model only produces vectors. */
  labels: string[];
  /** Labels to show instead of the classes that they represent; undefined to show the classes. */
  classSets?: ClassSets;
  /** The weight of each of these labels; undefined for equal weights. */
  classWeights?: number[];
  embedding: "words" | "wordpieces";
  /** Whether phrases have vectors. */
  vectors: boolean;
  /** The input structure: `binary` trees, or `sequence`. */
  trees: string;
  /** The source of the trees for raw words. */
  treeSource: string;
  /** Whether the model has a parser. */
  parses: boolean;
}

type Json = Record<string, any>;

/** Parses a configuration. Throws BundleError if it is invalid or its schema is too new. */
export function parseConfig(text: string, source: string, producer?: unknown): ModelConfig {
  const raw: Json = parsed(text, source);
  checkSchema(raw, SCHEMA_VERSION, source, producer);
  const expect = (sound: boolean, what: string) => {
    if (!sound) throw new BundleError(`${source}: ${what}`);
  };
  const labels = raw.labels ?? [];
  const names = Array.isArray(labels) && labels.every((label) => typeof label === "string");
  expect(names && labels.length !== 1 && new Set(labels).size === labels.length, "labels: expected two or more different names, or none");
  const classSets = setsOf(raw.class_sets ?? {}, keysOf(text, "class_sets"));
  expect(areApart(classSets, labels), "class_sets: expected two or more labels, each with classes from labels, and no class twice");
  const weights: unknown = raw.class_weights ?? [];
  const fit = Array.isArray(weights) && (!weights.length || weights.length === classSets?.size) && weights.every((one) => one > 0 && one < Infinity);
  expect(fit, "class_weights: expected a number above 0 for each label in class_sets");
  const classWeights = (weights as number[]).length ? (weights as number[]) : undefined;
  const embedding = raw.embedding?.kind;
  expect(["words", "wordpieces"].includes(embedding), `embedding.kind: expected words or wordpieces, found ${embedding}`);
  const tracker = raw.encoder?.tracker;
  const parses = raw.parser != null || (tracker != null && tracker.parses !== false);
  const trees = raw.trees ?? "binary";
  const treeSource = raw.tree_source ?? (parses ? "self" : "balanced");
  expect(["balanced", "left", "right", "self"].includes(treeSource), `tree_source: unknown source ${treeSource}`);
  expect(treeSource !== "self" || parses, "tree_source: self needs a parser");
  const vectors = raw.vectors != null || !labels.length;
  return { labels, classSets, classWeights, embedding, vectors, trees, treeSource, parses };
}

function setsOf(raw: Json, keys: string[]): ClassSets | undefined {
  return JSON.stringify(raw) === "{}" ? undefined : new Map(keys.map((label) => [label, raw[label]]));
}

/** Whether there are no sets, or at least two non-empty, disjoint sets of the model's classes. */
function areApart(sets: ClassSets | undefined, labels: string[]): boolean {
  if (!sets) return true;
  const classes = [...sets.values()].flat();
  const whole = [...sets.values()].every((one) => Array.isArray(one) && one.length > 0);
  return sets.size > 1 && whole && classes.every((each) => labels.includes(each)) && new Set(classes).size === classes.length;
}
