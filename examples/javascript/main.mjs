/** The command: check a bundle by its reference cases, then print the scores of the phrases of a sentence. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Wordpieces, largestDifference, phrases, run } from "./thinstack.mjs";

const SST = fileURLToPath(new URL("../../thinstack/bundle/bundled/sentiment", import.meta.url));

/** What a model takes and gives that reads wordpieces, makes its own trees and scores nodes. */
const NEEDED = ["piece_ids", "parse", "node_scores"];

/** Exit code 1: the outputs differ from the cases by more than their tolerance; 2: something could not be read or run. */
export async function main(runtime, ort) {
  const [folder = SST, ...words] = process.argv.slice(2);
  try {
    const session = await ort.InferenceSession.create(await readFile(join(folder, "onnx", "model.onnx")));
    const { cases, labels, tolerance } = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
    const difference = await largestDifference(ort, session, cases);
    console.log(`${runtime}: ${cases.length} cases, largest difference ${difference.toExponential(1)}, allowed ${tolerance}`);
    if (!(difference <= tolerance)) {
      process.exitCode = 1;
    } else if (NEEDED.every((name) => [...session.inputNames, ...session.outputNames].includes(name))) {
      const vocabulary = new Wordpieces(await readFile(join(folder, "vocabulary.txt"), "utf8"));
      const sentence = words.length ? words.join(" ") : "A wonderful film";
      await printPhrases(ort, session, vocabulary, labels, sentence.split(" ").filter(Boolean));
    } else {
      console.log("no phrases: for those the model must read wordpieces, make its own trees and score nodes");
    }
  } catch (error) {
    console.error(`${runtime}: ${error.message}`);
    process.exitCode = 2;
  }
}

async function printPhrases(ort, session, vocabulary, labels, words) {
  const found = await run(ort, session, { ...vocabulary.inputs(words), lengths: [words.length], transitions: [] });
  for (const { node, start, end, depth } of phrases(found.parse.data)) {
    const scores = [...found.node_scores.data.slice(node * labels.length, (node + 1) * labels.length)];
    const best = scores.indexOf(Math.max(...scores));
    const phrase = "  ".repeat(depth) + words.slice(start, end).join(" ");
    console.log(`${labels[best].padEnd(14)} ${scores[best].toFixed(3)}  ${phrase}`);
  }
}
