/** Penn Treebank escapes (`thinstack.data.words.ptb` in Python). */

const UNESCAPES = new Map([
  ["-LRB-", "("],
  ["-RRB-", ")"],
  ["-LSB-", "["],
  ["-RSB-", "]"],
  ["-LCB-", "{"],
  ["-RCB-", "}"],
  ["\\/", "/"],
  ["\\*", "*"],
]);
// With `u`, letters fold as in Python's IGNORECASE: the long s is an S.
const ESCAPED = /-[LR][RSC]B-|\\[/*]/giu;

/** The word without escapes, with `"` for two backticks or two apostrophes. */
export function plain(word: string): string {
  return word === "``" || word === "''" ? '"' : unescaped(word);
}

/** The word without escapes. */
export function unescaped(word: string): string {
  if (!word.includes("\\") && !word.includes("-")) return word;
  return word.replace(ESCAPED, (escape) => UNESCAPES.get(escape.toUpperCase())!);
}
