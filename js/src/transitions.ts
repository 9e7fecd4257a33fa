/** Shift-reduce transitions of binary trees: 2n - 1 for n words, 0 SHIFT (a word), 1 REDUCE (joins the last two phrases). */
import { type Span } from "./english.js";

export const SHIFT = 0;
export const REDUCE = 1;

/** ((w1 w2) w3) ... over n >= 1 words. */
export function left(words: number): number[] {
  return Array.from({ length: 2 * words - 1 }, (_, place) => (place > 0 && place % 2 === 0 ? REDUCE : SHIFT));
}

/** w1 (w2 (w3 ...)) over n >= 1 words. */
export function right(words: number): number[] {
  return Array.from({ length: 2 * words - 1 }, (_, place) => (place < words ? SHIFT : REDUCE));
}

/** The balanced tree over n >= 1 words. With an odd number, the left half is longer. */
export function balanced(words: number): number[] {
  if (words === 1) return [SHIFT];
  const half = Math.floor(words / 2);
  return [...balanced(words - half), ...balanced(half), REDUCE];
}

/** The tree `top` with its words replaced by trees, in order. */
export function over(top: readonly number[], trees: readonly (readonly number[])[]): number[] {
  let next = 0;
  return top.flatMap((step) => (step === SHIFT ? trees[next++] : step));
}

/** The breaks from which a model builds the tree `top` over the sentences of a text: from 1, and 0 after the last. */
export function breaksOf(top: readonly number[]): number[] {
  const spans = spansOf(top);
  const breaks: number[] = top.filter((step) => step === SHIFT).fill(0);
  let rank = 0;
  top.forEach((step, node) => {
    if (step === REDUCE) breaks[spans[node - 1][0] - 1] = ++rank;
  });
  return breaks;
}

/** The word range [start, end) of each node of a complete tree. */
export function spansOf(transitions: readonly number[]): Span[] {
  const stack: Span[] = [];
  let words = 0;
  return transitions.map((step) => {
    let span: Span = [words, words + 1];
    if (step === SHIFT) {
      words++;
    } else {
      const [, end] = stack.pop()!;
      span = [stack.pop()![0], end];
    }
    stack.push(span);
    return span;
  });
}

/** The left child of each node of a complete tree; -1 for a word. The right child is the preceding node. */
export function leftChildren(transitions: readonly number[]): number[] {
  const stack: number[] = [];
  return transitions.map((step, node) => {
    if (step === REDUCE) stack.pop();
    const found = step === REDUCE ? stack.pop()! : -1;
    stack.push(node);
    return found;
  });
}

/** Why transitions are not a single binary tree over `words` words; undefined if they are. */
export function fault(transitions: readonly number[], words: number): string | undefined {
  const expected = 2 * words - 1;
  if (transitions.length !== expected) return `its tree has ${expected} transitions; found ${transitions.length}`;
  let height = 0;
  for (const [place, step] of transitions.entries()) {
    if (step !== SHIFT && step !== REDUCE) return `transition ${place} is ${step}; expected 0 (SHIFT) or 1 (REDUCE)`;
    height += step === SHIFT ? 1 : -1;
    if (height < 1) return `transition ${place} is a REDUCE, but the stack has fewer than two nodes`;
  }
  // As many words as there are make one root of 2n - 1 transitions.
  return height === 1 ? undefined : `the last transition leaves ${height} nodes on the stack; expected 1, the root`;
}
