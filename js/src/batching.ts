/** Many short sentences in batches, cut so that memory stays bounded. */
import { type Size } from "./stretches.js";

/** Nodes of a batch at most, or one tree. */
const BATCH_NODES = 1 << 12;
/** Places of a batch at most, or one tree, where words are read in their context: sentences times the pieces of the widest. */
const BATCH_PIECES = 384;
/** Characters of the words of a batch at most, or one tree: each may be a word piece. */
const BATCH_WORDS = 1 << 15;
/** Texts whose sentences go to the model in one call. */
export const BATCH_TEXTS = 1 << 7;

/**
 * The positions of the trees of each batch, the smallest first, from the size of each. Trees of one batch are of like size, for the
 * deepest decides how many steps it takes.
 */
export function batches(sizes: readonly Size[]): number[][] {
  const order = [...sizes.keys()].sort((one, other) => sizes[one][3] - sizes[other][3] || sizes[one][0] - sizes[other][0]);
  const found: number[][] = [];
  let [nodes, characters, rows] = [Infinity, 0, 0];
  for (const position of order) {
    const [words, more, parts, width] = sizes[position];
    const own = 2 * words - 1;
    if (nodes + own > BATCH_NODES || characters + more > BATCH_WORDS || (rows + parts) * width > BATCH_PIECES) {
      found.push([]);
      [nodes, characters, rows] = [0, 0, 0];
    }
    found[found.length - 1].push(position);
    nodes += own;
    characters += more;
    rows += parts;
  }
  return found;
}
