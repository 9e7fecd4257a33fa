/** Stretches: sentences of one text that a model composes into one tree. */
import { BATCH_NODES, BATCH_WORDS } from "./batching.js";
import { type Span } from "./english.js";
import { BundleError } from "./errors.js";
import { join } from "./longSentences.js";
import { type Scored, meanScores } from "./scored.js";
import { SHIFT, balanced, fault, over } from "./transitions.js";

/** For contextual models, the maximum of parts times the pieces of the widest in a stretch of several parts. */
const MOST_PLACES = 1 << 12;

/** Numbers of words, characters and parts, and of pieces in the widest part (0 without context). */
export type Size = [words: number, characters: number, parts: number, width: number];

/** A sentence, or a part of a split one, with its transitions if they were passed. */
export interface Part {
  words: readonly string[];
  /** Its word range [start, end) in the sentence. */
  span: Span;
  size: Size;
  steps?: number[];
}

/** Parts of sentences that a model composes with the tree `top`. */
export interface Tree {
  parts: Part[];
  top: number[];
  size: Size;
}

/** Sentences, as parts, in one tree; or a sentence that is too long even for that, whose parts are separate trees. */
export interface Stretch {
  sentences: Part[][];
  size: Size;
  trees: Tree[];
}

/**
 * The stretches of a text. `joins`: whether the model composes the parts of a sentence and, if the text is read as a `whole`, its
 * sentences. Otherwise, each part is a tree.
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

/** The combined size. */
export function sum([words, characters, parts, width]: Size, other: Size): Size {
  return [words + other[0], characters + other[1], parts + other[2], Math.max(width, other[3])];
}

function fits([words, characters, parts, width]: Size): boolean {
  return 2 * words <= BATCH_NODES && characters <= BATCH_WORDS && parts * width <= MOST_PLACES;
}

/**
 * The sentences of a text, from the scores of its trees, which are removed from `scored`. If several sentences are read as a `whole`, the
 * scores of the tree over them follow. `phrases` is as for `join`.
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
      if (tree.length && fault(tree, words)) throw new BundleError("the model's parse crosses sentence boundaries");
      return [{ transitions: tree, scores: scores.slice(...inside), weight: 1, parts: own.length > 1 ? own : [] }];
    });
  });
  if (!whole || found.length < 2) return found;
  const root = meanScores(roots, text.map(({ size }) => size[0]));
  return [...found, { ...found[0], scores: [Float32Array.from(root)] }];
}
