/** What users write in TypeScript; compiled by `npm test`, never run. */
import { type Aspect, BundleError, type Device, DeviceError, type EncodeOptions, type NestedPhrase, type PairResult, Phrase, type PredictOptions, type Result, type Sentence, load, splitText } from "thinstack";

export async function depth(place: string | URL): Promise<number> {
  const model = await load(place, { classes: 3, abstain: 0.5, maxWords: 100, aggregation: "mean" });
  const one: Result = await model.predict("A good film.", { split: false });
  const many: Result[] = await model.predict(["A good film."], { source: "balanced" });
  const label: string | null = one.label;
  const share: number = one.scores[label ?? "neutral"] * (one.known ?? 0);
  const levels = (phrase: Phrase): number => 1 + Math.max(0, ...phrase.children.map(levels));
  const plainLevels = (phrase: NestedPhrase): number => 1 + Math.max(0, ...phrase.children.map(plainLevels));
  const sentences: Sentence[] = splitText("A good film.");
  const row: Float32Array = (await model.predictWords([sentences[0].words], { source: [[0]] }))[0].nodeScores[0];
  const tree: Phrase | null = many[0].sentences[0].tree;
  const nested = many[0].toNested().sentences[0].tree;
  for (const phrase of [...one.phrases, ...one.highlights(), ...one.sentences[0].highlights(1)]) {
    const polarity: number | null = phrase.polarity;
    const around: string = phrase.parent?.text ?? phrase.sentence.text;
    if (polarity === around.length) return phrase.start;
  }
  for (const aspect of [...one.aspects, ...one.about("film", "plot|story"), ...one.sentences[0].about()] satisfies Aspect[]) {
    const [decides, asked]: [Phrase | null, string | null] = [aspect.because, aspect.asked];
    if (decides?.label === asked) return aspect.probability + aspect.scores[aspect.label ?? "neutral"] + aspect.sentence.start;
  }
  // @ts-expect-error: terms are strings
  one.about(["film"]);
  // @ts-expect-error: there is no such source
  await model.predict("A good film.", { source: "upwards" });
  return tree && nested ? levels(tree) + plainLevels(nested) : share + row[0];
}

export async function scored(place: string, lines: AsyncIterable<string>): Promise<(number | null)[]> {
  const device: Device = "auto";
  const model = await load(place, { device });
  if (model.device === "webgpu") throw new DeviceError("a GPU");
  const options: PredictOptions = { onError: (line, { message }) => console.error(line, message) };
  const found: (number | null)[] = [];
  for await (const { polarity } of model.stream(lines, options)) found.push(polarity);
  for await (const { polarity } of model.stream(new Set(["A good film."]))) found.push(polarity);
  return found;
}

export async function alike(place: string, texts: string[]): Promise<number> {
  const model = await load(place);
  const how: EncodeOptions = { sign: true, split: false };
  const [row, rows]: [Float32Array, Float32Array[]] = [await model.encode("A good film."), await model.encode(texts, how)];
  const one: Result = await model.predict("A good film.");
  const vectors: (Float32Array | null)[] = [one.vector, one.sentences[0].vector, one.phrases[0].vector, rows[0]];
  // @ts-expect-error: one at a time
  await model.similarity(texts, texts);
  return (await model.similarity(row, one.phrases[0])) + (await model.similarity("Good.", one)) + vectors.length;
}

export async function rated(place: string, texts: string[]): Promise<number | null> {
  const model = await load(place);
  const results: PairResult[] = await model.pairs(texts, texts);
  // @ts-expect-error: a text has no partner
  await model.pairs("A good film.", texts);
  return (await model.pairs("A good film.", "A bad one.")).rating ?? results.length;
}

export const mended = (error: unknown): string => (error instanceof BundleError ? error.message : "");
