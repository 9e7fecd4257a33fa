/** Many short sentences in batches, cut so that memory stays bounded. */
import { type Size, sum } from "./stretches.js";

/** Nodes of a batch at most, or one tree. */
export const BATCH_NODES = 1 << 12;
/** Places of a batch at most, or one tree, where words are read in their context: sentences times the pieces of the widest. */
const BATCH_PIECES = 384;
/** Characters of the words of a batch at most, or one tree: each may be a word piece. */
export const BATCH_WORDS = 1 << 15;
/** Texts whose sentences go to the model in one call. */
export const BATCH_TEXTS = 1 << 7;

/**
 * The positions of the trees of each batch, the smallest first, from the size of each. Trees of one batch are of like size, for the
 * deepest decides how many steps it takes.
 */
export function batches(sizes: readonly Size[]): number[][] {
  const order = [...sizes.keys()].sort((one, other) => sizes[one][3] - sizes[other][3] || sizes[one][0] - sizes[other][0]);
  const found: number[][] = [];
  let size: Size = [0, 0, 0, 0];
  for (const position of order) {
    size = sum(size, sizes[position]);
    const [words, characters, parts, width] = size;
    if (!found.length || 2 * words - parts > BATCH_NODES || characters > BATCH_WORDS || parts * width > BATCH_PIECES) {
      found.push([]);
      size = sizes[position];
    }
    found.at(-1)!.push(position);
  }
  return found;
}
