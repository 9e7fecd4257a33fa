/** What users write in TypeScript; compiled by `npm test`, never run. */
import { BundleError, type Phrase, type Sentence, type TextPrediction, load, splitText } from "thinstack";

export async function depth(place: string | URL): Promise<number> {
  const model = await load(place, { classes: 3, abstain: 0.5, maxWords: 100 });
  const one: TextPrediction = await model.predict("A good film.", { split: false });
  const many: TextPrediction[] = await model.predict(["A good film."], { source: "balanced" });
  const label: string | null = one.label;
  const share: number = one.scores[label ?? "neutral"];
  const levels = (phrase: Phrase): number => 1 + Math.max(0, ...phrase.children.map(levels));
  const sentences: Sentence[] = splitText("A good film.");
  const row: Float32Array = (await model.predictWords([sentences[0].words], { source: [[0]] }))[0].nodeScores[0];
  const tree = many[0].sentences[0].tree;
  // @ts-expect-error: there is no such source
  await model.predict("A good film.", { source: "upwards" });
  return tree ? levels(tree) : share + row[0];
}

export const mended = (error: unknown): string => (error instanceof BundleError ? error.message : "");
