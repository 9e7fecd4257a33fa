/** Trees with the labels that the reader corrected, in brackets, as treebanks have them. */

const corrections = new Map(); // of each sentence and its tree: nodes and their labels

const keyOf = ({ text, transitions }) => `${transitions.join("")} ${text}`;

/** The label that the reader gave a phrase; undefined where the model's own stands. */
export function correctionOf(sentence, node) {
  return corrections.get(keyOf(sentence))?.get(node);
}

/** The phrases of a sentence that have other labels than the model's. */
export function corrected(sentence) {
  return [...(corrections.get(keyOf(sentence))?.keys() ?? [])];
}

/** Gives a phrase a label; the model's own takes it back. */
export function correct(sentence, node, label) {
  const key = keyOf(sentence);
  if (!corrections.has(key)) corrections.set(key, new Map());
  if (label === sentence.nodes[node].label) corrections.get(key).delete(node);
  else corrections.get(key).set(node, label);
}

/** What was corrected belongs to the classes of one model. */
export function forget() {
  corrections.clear();
}

/** A tree with the number of each phrase's class, or `-` where it is uncertain. */
export function brackets(sentence) {
  const stack = [];
  let next = 0;
  sentence.transitions.forEach((step, node) => {
    const inner = step ? stack.splice(-2).join(" ") : safe(sentence.words[next++]);
    const label = correctionOf(sentence, node) ?? sentence.nodes[node].label;
    stack.push(`(${label < 0 ? "-" : label} ${inner})`);
  });
  return stack[0];
}

function safe(word) {
  return word.replace(/\(/g, "-LRB-").replace(/\)/g, "-RRB-").replace(/[ \t\r\n\f\v]/g, "_") || "_";
}

/** Has the browser save a text as a file. */
export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
