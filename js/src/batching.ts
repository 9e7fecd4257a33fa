/** Many short sentences in batches, cut so that memory stays bounded. */

/** Nodes of a batch at most, or one sentence. */
const BATCH_NODES = 1 << 12;
/** Places of a batch at most, or one sentence, where words are read in their context: sentences times the pieces of the widest. */
const BATCH_PIECES = 384;
/** Characters of the words of a batch at most, or one sentence: each may be a word piece. */
const BATCH_WORDS = 1 << 15;
/** Texts whose sentences go to the model in one call. */
export const BATCH_TEXTS = 1 << 7;

/**
 * The positions of the sentences of each batch, shortest first; sentences of one batch are of like length, for the deepest tree
 * decides how many steps it takes. `lengths`: the words of each; `counts`: the units of these words; `widths`: the pieces of
 * each, where words are read in context.
 */
export function batches(lengths: readonly number[], counts: readonly number[], widths?: readonly number[]): number[][] {
  const sizes = widths ?? lengths;
  const order = [...lengths.keys()].sort((one, other) => sizes[one] - sizes[other]);
  const found: number[][] = [];
  let nodes = Infinity;
  let characters = 0;
  for (const position of order) {
    const more = 2 * lengths[position] - 1;
    const batch = found[found.length - 1];
    const wide = widths && batch ? (batch.length + 1) * widths[position] > BATCH_PIECES : false;
    if (nodes + more > BATCH_NODES || characters + counts[position] > BATCH_WORDS || wide) {
      found.push([position]);
      nodes = more;
      characters = counts[position];
    } else {
      batch.push(position);
      nodes += more;
      characters += counts[position];
    }
  }
  return found;
}
