/** Batches of sentences, of bounded memory. */
import { type Size, sum } from "./stretches.js";

/** The maximum number of nodes in a batch of several trees. */
export const BATCH_NODES = 1 << 12;
/** For contextual models, the maximum of sentences times the pieces of the widest in a batch of several trees. */
const BATCH_PIECES = 384;
/** The maximum number of characters in a batch of several trees, because each may be a piece. */
export const BATCH_WORDS = 1 << 15;
/** The maximum number of texts per batch of sentences. */
export const BATCH_TEXTS = 1 << 7;

/**
 * The positions of the trees in each batch, smallest first, from their sizes. Trees in a batch have similar sizes, because the deepest one
 * decides how many steps the batch takes.
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
