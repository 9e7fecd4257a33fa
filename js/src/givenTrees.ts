/** Sentences passed as words, and the sources of their trees. */
import { type ModelConfig } from "./config.js";
import { type Sentence } from "./english.js";
import { InputError } from "./errors.js";
import { kindOf } from "./texts.js";
import { balanced, fault, left, right } from "./transitions.js";

/** Where the trees come from. `auto`: whatever the model was trained on. `self`: the model's own parser. */
export type TreeSource = "auto" | "self" | "balanced" | "left" | "right";
export type Sentences = readonly (readonly string[])[];
export type Transitions = readonly ArrayLike<number>[];

const SHAPES = new Map(Object.entries({ balanced, left, right }));

/** Returns a function that builds the tree of a sentence; it returns undefined if the model parses or uses no trees. */
export function treesOf(
  config: ModelConfig,
  sentences: Sentences,
  source: TreeSource | Transitions,
): (words: readonly string[], place: number) => number[] | undefined {
  if (config.trees === "sequence") {
    if (source !== "auto") throw new InputError("this model reads plain sentences without trees: leave source out");
    return () => undefined;
  }
  if (typeof source !== "string") {
    const trees = Array.from(source, (steps) => Array.from(steps ?? []));
    checkTrees(sentences, trees);
    return (_, place) => trees[place];
  }
  const resolved = source === "auto" ? config.treeSource : source;
  if (resolved === "self" && config.parses) return () => undefined;
  const shape = SHAPES.get(resolved);
  if (shape) return (words) => shape(words.length);
  const known = [...SHAPES.keys(), ...(config.parses ? ["self"] : [])];
  const problem = resolved === "self" ? "no parser for the" : "unknown";
  throw new InputError(`${problem} tree source ${resolved}; this model has ${known.join(", ")}`);
}

/** Advice for a text that was passed instead of words. */
export const BY_TEXT = "split it first, or call predict, which reads texts";

/** Throws InputError with the index of the sentence unless it is a non-empty array of strings. */
export function checkWords(words: unknown, place: number): void {
  if (!Array.isArray(words)) throw new InputError(`sentence ${place}: expected its words, found ${kindOf(words)}: ${BY_TEXT}`);
  if (!words.length) throw new InputError(`sentence ${place} has no words: leave empty sentences out`);
  const odd = words.find((word) => typeof word !== "string");
  if (odd !== undefined) throw new InputError(`sentence ${place}: expected words that are strings, found ${kindOf(odd)}`);
}

function checkTrees(sentences: Sentences, trees: number[][]): void {
  if (sentences.length !== trees.length) {
    throw new InputError(`expected a tree for each of ${sentences.length} sentences, found ${trees.length}`);
  }
  sentences.forEach((words, place) => {
    const wrong = fault(trees[place], words.length);
    if (wrong) throw new InputError(`sentence ${place} has ${words.length} words: ${wrong}`);
  });
}

/** A sentence whose text is its words, joined by spaces. */
export function joinedWords(words: readonly string[]): Sentence {
  let end = -1;
  const offsets = words.map((word): [number, number] => [end + 1, (end += word.length + 1)]);
  return { text: words.join(" "), words: [...words], offsets, start: 0 };
}
