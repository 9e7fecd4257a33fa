/** Stretches: sentences of one text that a model reads at once, as one tree over their trees. */
import { BATCH_NODES, BATCH_WORDS } from "./batching.js";
import { type Span } from "./english.js";
import { BundleError } from "./errors.js";
import { join } from "./longSentences.js";
import { type Scored, meanScores } from "./scored.js";
import { SHIFT, balanced, fault, over } from "./transitions.js";

/** Places of a stretch at most, or one sentence, where words are read in their context: sentences times the pieces of the widest. */
const MOST_PLACES = 1 << 12;

/** How much is read: words, their characters, parts, and the word pieces of the widest part, 0 where words have no context. */
export type Size = [words: number, characters: number, parts: number, width: number];

/** A sentence, or a part of one that is too long for the model, and its transitions where these are given. */
export interface Part {
  words: readonly string[];
  /** Its words [start, end) of the sentence. */
  span: Span;
  size: Size;
  steps?: number[];
}

/** What a model composes to one tree: parts of sentences, and the tree `top` over them. */
export interface Tree {
  parts: Part[];
  top: number[];
  size: Size;
}

/** Sentences of a text, by their parts, that are one tree; or one that is too long even for that, whose parts are trees of their own. */
export interface Stretch {
  sentences: Part[][];
  size: Size;
  trees: Tree[];
}

/**
 * The stretches of a text. `joins`: whether the model composes the parts of a sentence, and, where a text is read `whole`, its
 * sentences. If not, each part is a tree.
 */
export function stretches(sentences: readonly Part[][], joins: boolean, whole: boolean): Stretch[] {
  const groups: [sentences: Part[][], size: Size][] = [];
  for (const sentence of sentences) {
    const size = sentence.map((part) => part.size).reduce(sum);
    const last = groups.at(-1);
    const both = whole && last && sum(last[1], size);
    if (both && fits(both)) {
      last[0].push(sentence);
      last[1] = both;
    } else {
      groups.push([[sentence], size]);
    }
  }
  return groups.map(([own, size]) => {
    const parts = own.flat();
    const top = over(balanced(own.length), own.map(({ length }) => balanced(length)));
    const apart = parts.map((part): Tree => ({ parts: [part], top: [SHIFT], size: part.size }));
    return { sentences: own, size, trees: joins && fits(size) ? [{ parts, top, size }] : apart };
  });
}

/** The size of two together. */
export function sum([words, characters, parts, width]: Size, other: Size): Size {
  return [words + other[0], characters + other[1], parts + other[2], Math.max(width, other[3])];
}

function fits([words, characters, parts, width]: Size): boolean {
  return 2 * words <= BATCH_NODES && characters <= BATCH_WORDS && parts * width <= MOST_PLACES;
}

/**
 * The sentences of a text, from the scores of its trees, which are taken off the list. Of several sentences that are read as a
 * `whole`, what the tree over them says comes behind them. `phrases` is as for `join`.
 */
export function textOf(text: readonly Stretch[], scored: Scored[], phrases: boolean, whole: boolean): Scored[] {
  const roots: Float32Array[] = [];
  const found = text.flatMap(({ sentences, trees }) => {
    const parts = scored.splice(0, trees.length);
    const spans = sentences.map((own) => own.map(({ span }) => span));
    const { transitions, scores } = parts.length > 1 ? join(parts, spans[0], phrases) : parts[0];
    roots.push(scores.at(-1)!);
    let [node, next] = [0, 0];
    return balanced(sentences.length).flatMap((step): Scored[] => {
      if (step !== SHIFT) return (node++, []);
      const own = spans[next++];
      const words = own.at(-1)![1];
      const inside = [node, (node += 2 * words - 1)];
      const tree = transitions.slice(...inside);
      if (tree.length && fault(tree, words)) throw new BundleError("the model's parse does not keep to sentences");
      return [{ transitions: tree, scores: scores.slice(...inside), weight: 1, parts: own.length > 1 ? own : [] }];
    });
  });
  if (!whole || found.length < 2) return found;
  const root = meanScores(roots, text.map(({ size }) => size[0]));
  return [...found, { ...found[0], scores: [Float32Array.from(root)] }];
}
