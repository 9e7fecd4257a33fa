/** Running the model of a bundle, given onnxruntime (`ort`), node's or the web's. Nothing here needs node. */

/** The outputs of a run, tensors by name. `inputs`: arrays of integers by name; without `transitions` the model parses, and without
 * `breaks` every sentence is a tree. */
export async function run(ort, session, inputs) {
  const given = session.outputNames.includes("parse") ? { transitions: [], ...inputs } : { ...inputs };
  if (session.inputNames.includes("breaks")) given.breaks ??= inputs.lengths.map(() => 0);
  const expected = [...session.inputNames].sort().join(", ");
  const found = Object.keys(given).sort().join(", ");
  if (found !== expected) throw new Error(`expected the inputs ${expected}; found ${found}`);
  const feeds = {};
  for (const { name, type } of session.inputMetadata) {
    const values = type === "int64" ? BigInt64Array.from(given[name], BigInt) : Int32Array.from(given[name]);
    feeds[name] = new ort.Tensor(type, values, [values.length]);
  }
  return session.run(feeds);
}

/** The largest difference of an output from the one in the cases, relative where that exceeds 1; or Infinity. */
export async function largestDifference(ort, session, cases) {
  let largest = 0;
  for (const { inputs, outputs } of cases) {
    const found = await run(ort, session, inputs);
    for (const [name, rows] of Object.entries(outputs)) {
      const wanted = rows.flat();
      const { data, dims } = found[name] ?? { data: [], dims: [] };
      if (dims[0] !== rows.length || data.length !== wanted.length) return Infinity;
      wanted.forEach((value, i) => {
        // Math.max keeps a NaN, which no tolerance allows.
        largest = Math.max(largest, Math.abs(Number(data[i]) - value) / Math.max(1, Math.abs(value)));
      });
    }
  }
  return largest;
}

/**
 * The phrases of one sentence from its transitions, 0 SHIFT and 1 REDUCE, in the order in which their brackets open: the
 * node of each (its row of `node_scores`), its words [start, end), and `depth`, the number of phrases around it.
 */
export function phrases(transitions) {
  const stack = [];
  let words = 0;
  const found = Array.from(transitions, (transition, node) => {
    const right = Number(transition) ? stack.pop() : undefined;
    const phrase = right ? { node, start: stack.pop().start, end: right.end } : { node, start: words, end: ++words };
    stack.push(phrase);
    return phrase;
  });
  return found
    .sort((one, other) => one.start - other.start || other.end - one.end)
    .map((phrase, i, all) => ({ ...phrase, depth: all.slice(0, i).filter(({ end }) => end >= phrase.end).length }));
}

const IDEOGRAPHS = new RegExp(
  "[\\u4E00-\\u9FFF\\u3400-\\u4DBF\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2B73F}\\u{2B740}-\\u{2B81F}" +
    "\\u{2B920}-\\u{2CEAF}\\uF900-\\uFAFF\\u{2F800}-\\u{2FA1F}]",
  "gu",
);

/** The pieces of words, BERT's uncased scheme; `text` is vocabulary.txt. Treebank escapes such as -LRB- are not undone. */
export class Wordpieces {
  constructor(text) {
    this.ids = new Map(text.replace(/\n$/, "").split("\n").map((piece, id) => [piece, id]));
  }

  /** The inputs of a model for these words. */
  inputs(words) {
    const pieces = words.map((word) => this.pieces(word));
    return { piece_ids: pieces.flat(), pieces_per_word: pieces.map((found) => found.length) };
  }

  /** The ids of one word's pieces, at least one. */
  pieces(word) {
    const found = parts(word).flatMap((part) => this.longestMatches([...part]));
    return found.length ? found : [this.ids.get("[UNK]")];
  }

  longestMatches(characters) {
    const found = [];
    for (let rest = characters; rest.length; ) {
      const candidate = (length) => (found.length ? "##" : "") + rest.slice(0, length).join("");
      let length = rest.length;
      while (length && !this.ids.has(candidate(length))) length--;
      if (!length || characters.length > 100) return [this.ids.get("[UNK]")];
      const id = this.ids.get(candidate(length));
      rest = rest.slice(length);
      found.push(id);
    }
    return found;
  }
}

/** Lower-case words without accents, and single punctuation marks. */
function parts(word) {
  const cleaned = word
    .replace(/[\p{Z}\t\n\r]/gu, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, "")
    .replace(IDEOGRAPHS, " $& ");
  // Lower-cased one by one: the final sigma of a Greek word is no special case.
  const lower = [...cleaned.normalize("NFD").replace(/\p{Mn}/gu, "")].map((character) => character.toLowerCase());
  const isolated = lower.map((character) => (/^[\p{P}$+<=>^`|~]/u.test(character) ? ` ${character} ` : character));
  return isolated.join("").split(" ").filter(Boolean);
}
