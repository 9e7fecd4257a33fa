/** Stretches: sentences of one text that a model reads at once, as one tree over their trees. */
import { type Span } from "./english.js";
import { join } from "./longSentences.js";
import { type Scored, meanScores } from "./scored.js";
import { SHIFT, balanced, blocks, over } from "./transitions.js";

// Nodes of the tree of a stretch at most, or one sentence; characters of its words; places where words are read in their context.
const MOST_NODES = 1 << 12;
const MOST_CHARACTERS = 1 << 15;
const MOST_PLACES = 1 << 12;

/** How much is read: words, their characters, parts, and the word pieces of the widest part, 0 where words have no context. */
export type Size = [words: number, characters: number, parts: number, width: number];

/** A sentence, or a part of one that is too long for the model, and its transitions where these are given. */
export interface Part {
  words: readonly string[];
  size: Size;
  steps?: number[];
}

/** A sentence, and the words [start, end) of each of its parts. */
export interface Cut {
  parts: Part[];
  spans: Span[];
}

/** What a model composes to one tree: parts of sentences, and the tree `top` over them. */
export interface Tree {
  parts: Part[];
  top: number[];
  size: Size;
}

/** Sentences of a text that are one tree; or one that is too long even for that, whose parts are trees of their own. */
export interface Stretch {
  sentences: Cut[];
  size: Size;
  trees: Tree[];
}

/** The sentences of a text as a model scores them, and what the tree over them says; nothing of fewer than two. */
export interface ScoredText {
  sentences: Scored[];
  root?: Scored;
}

/**
 * The stretches of a text. `joins`: whether the model composes the parts of a sentence, and, where a text is read `whole`, its
 * sentences. If not, each part is a tree.
 */
export function stretches(sentences: readonly Cut[], joins: boolean, whole: boolean): Stretch[] {
  const found: Stretch[] = [];
  for (const sentence of sentences) {
    const size = sentence.parts.map((part) => part.size).reduce(sum);
    const last = found[found.length - 1];
    const both = whole && last && sum(last.size, size);
    if (both && fits(both)) {
      last.sentences.push(sentence);
      last.size = both;
    } else {
      found.push({ sentences: [sentence], size, trees: [] });
    }
  }
  for (const stretch of found) {
    const { sentences: own, size } = stretch;
    const parts = own.flatMap((sentence) => sentence.parts);
    const tops = own.map(({ spans }) => balanced(spans.length));
    const one = { parts, top: over(balanced(tops.length), tops), size };
    stretch.trees = joins && fits(size) ? [one] : parts.map((part) => ({ parts: [part], top: [SHIFT], size: part.size }));
  }
  return found;
}

function sum(one: Size, other: Size): Size {
  return [one[0] + other[0], one[1] + other[1], one[2] + other[2], Math.max(one[3], other[3])];
}

function fits([words, characters, parts, width]: Size): boolean {
  return 2 * words <= MOST_NODES && characters <= MOST_CHARACTERS && parts * width <= MOST_PLACES;
}

/** A text, from the scores of its trees, which are taken off the list. `phrases` is as for `join`. */
export function textOf(text: readonly Stretch[], scored: Scored[], phrases: boolean): ScoredText {
  const roots: Float32Array[] = [];
  const sentences = text.flatMap(({ sentences: own, trees }) => {
    const parts = scored.splice(0, trees.length);
    const { transitions, scores } = parts.length > 1 ? join(parts, own[0].spans, phrases) : parts[0];
    roots.push(scores[scores.length - 1]);
    const top = balanced(own.length);
    const nodes = blocks(top, own.map(({ spans }) => spans[spans.length - 1][1])).filter((_, node) => top[node] === SHIFT);
    return own.map(({ spans }, place) => {
      const inside = own.length > 1 ? nodes[place] : [];
      return { transitions: transitions.slice(...inside), scores: scores.slice(...inside), weight: 1, parts: spans.length > 1 ? spans : [] };
    });
  });
  if (sentences.length < 2) return { sentences };
  const row = Float32Array.from(meanScores(roots, text.map(({ size }) => size[0])));
  return { sentences, root: { transitions: [], scores: [row], weight: 1, parts: [] } };
}
