/** `config.json`: what is needed of it to run a model. */
import { BundleError } from "./errors.js";
import { checkSchema, parsed } from "./manifest.js";

const SCHEMA_VERSION = 1;

/** What a model is, as far as running it goes. */
export interface ModelConfig {
  /** The classes, in order. */
  labels: string[];
  embedding: "words" | "wordpieces";
  /** The registered name of the task head. */
  head: string;
  /** What sentences come as: `binary` trees, or `sequence`. */
  trees: string;
  /** What makes the trees of raw words. */
  treeSource: string;
  /** Whether the model makes trees of its own. */
  parses: boolean;
}

type Json = Record<string, any>;

/** The configuration in a text. Throws BundleError for anything else or a newer schema. */
export function parseConfig(text: string, source: string, producer?: unknown): ModelConfig {
  const raw: Json = parsed(text, source);
  checkSchema(raw, SCHEMA_VERSION, source, producer);
  const expect = (sound: boolean, what: string) => {
    if (!sound) throw new BundleError(`${source}: ${what}`);
  };
  const { labels } = raw;
  const names = Array.isArray(labels) && labels.every((label) => typeof label === "string");
  expect(names && labels.length > 1 && new Set(labels).size === labels.length, "labels: expected two or more different names");
  const embedding = raw.embedding?.kind;
  expect(["words", "wordpieces"].includes(embedding), `embedding.kind: expected words or wordpieces, found ${embedding}`);
  const head = raw.head?.name;
  expect(typeof head === "string", "head.name: expected the name of a task head");
  const tracker = raw.encoder?.tracker;
  const parses = raw.parser != null || (tracker != null && tracker.parses !== false);
  const trees = raw.trees ?? "binary";
  const treeSource = raw.tree_source ?? (parses ? "self" : "balanced");
  expect(["balanced", "left", "right", "distances", "self"].includes(treeSource), `tree_source: unknown, ${treeSource}`);
  expect(treeSource !== "self" || parses, "tree_source: self needs a parser");
  return { labels, embedding, head, trees, treeSource, parses };
}
