/** `Predictor`: a bundle's model, from text to labels, scores and trees. */
import { BATCH_TEXTS, batches } from "./batching.js";
import { type Bundle, type Folder, openBundle } from "./bundle.js";
import { type Span, splitText } from "./english.js";
import { DeviceError, InputError, ThinstackError, about } from "./errors.js";
import { BY_TEXT, type Sentences, type TreeSource, type Transitions, checkWords, joinedWords, treesOf } from "./givenTrees.js";
import { knownShare } from "./language.js";
import { MAX_WORDS, cutsOf } from "./longSentences.js";
import { type Manifest } from "./manifest.js";
import { type Pair, type PairResult, checkReadsTexts, pairsOf, scorePairs, wordsOf } from "./pairs.js";
import { Prediction } from "./prediction.js";
import { Result } from "./result.js";
import { type Scored } from "./scored.js";
import { type Model, type Runtime } from "./session.js";
import { type Device, asksGpu, startModel } from "./starting.js";
import { type Part, stretches, textOf } from "./stretches.js";
import { textBatches } from "./textBatches.js";
import { checkContainer, checkStream, faultOf, kindOf } from "./texts.js";
import { type WithVector, checkModel, cover, dot, signOf, vectorOf, withVectors } from "./vectors.js";
import { type View, chooseView, shown } from "./views.js";

/** How a text of several sentences is read: as one tree over their trees, or as the mean of what they say alone. */
export type Aggregation = "tree" | "mean";

/** What `load` takes. */
export interface LoadOptions {
  /** 3 or 2 shows the five classes of a model of sentiment as negative, (neutral) and positive. */
  classes?: 2 | 3 | 5;
  /** Where no class is as probable as this, there is no label. */
  abstain?: number;
  /** A sentence of more words (400) is read in parts. */
  maxWords?: number;
  /** How a text of several sentences is read: as one tree, which is the default of models that can, or as the mean of its sentences. */
  aggregation?: Aggregation;
  /** Where the model runs: `cpu`, which is the default, or `webgpu`, or `auto`: WebGPU where the browser has a real GPU. */
  device?: Device;
  /** The module of onnxruntime, where it is not to be imported by its name. */
  runtime?: Runtime;
}

/** What `predict` and `stream` take. */
export interface PredictOptions {
  /** Where the trees of words come from. */
  source?: TreeSource;
  /** False: a text is one sentence. */
  split?: boolean;
  /** Is told the place of a text that cannot be read, from 0, and its error; that text then has an empty result. */
  onError?: (place: number, error: ThinstackError) => void;
}

/** What `encode` takes. */
export interface EncodeOptions extends PredictOptions {
  /** Whether a row has one more column, for the polarity of the text. */
  sign?: boolean;
}

/** A bundle's model. May be asked again while it still answers. Made by `load`. */
export class Predictor {
  /** The classes that are shown. */
  readonly labels: readonly string[];
  /** Where each of them stands, from -1 (negative) to 1 (positive); null where they are no scale of sentiment. */
  readonly polarities: readonly number[] | null;
  /** How a text of several sentences is read. */
  readonly aggregation: Aggregation;
  private readonly known: (tokens: readonly string[]) => number | null;

  constructor(
    private readonly model: Model,
    private readonly bundle: Bundle,
    private readonly view: View,
    private readonly maxWords: number,
    aggregation: Aggregation | undefined,
  ) {
    const ways: Aggregation[] = model.joins ? ["tree", "mean"] : ["mean"];
    if (aggregation && !ways.includes(aggregation)) throw new InputError(`aggregation: expected ${ways.join(" or ")}, found ${aggregation}`);
    this.aggregation = aggregation ?? ways[0];
    this.known = knownShare(bundle.vocabulary);
    this.labels = view.labels;
    this.polarities = view.polarities;
  }

  /** What its makers say of it: what was measured, what it was trained on. */
  get manifest(): Manifest {
    return this.bundle.manifest;
  }

  /**
   * What the model says of an English text, or of each of an array of texts. Throws InputError for what is no text, for one that is
   * no Unicode and for a source that the model does not have, BundleError if the model fails; both name the place of the text, from 0.
   */
  async predict(text: string, options?: PredictOptions): Promise<Result>;
  async predict(texts: readonly string[], options?: PredictOptions): Promise<Result[]>;
  async predict(texts: string | readonly string[], options: PredictOptions = {}): Promise<Result | Result[]> {
    checkReadsTexts(this.bundle.config);
    treesOf(this.bundle.config, [], options.source ?? "auto"); // an unknown source is an error without texts too
    if (!Array.isArray(texts)) {
      checkContainer(texts);
      return (await this.predict([texts as string], options))[0];
    }
    return this.each(texts, options, (result) => result);
  }

  /**
   * The vector (D,) of an English text, of length 1, or of each of an array of texts, for models with vectors. With `sign`, one more
   * number tells the polarity: the inner product of two rows is then their cosine and 0.3 times the product of the signs of their
   * polarities times the roots of their sizes. A text without words is an error, as for `predict`; with `onError` its row is NaN.
   */
  async encode(text: string, options?: EncodeOptions): Promise<Float32Array>;
  async encode(texts: readonly string[], options?: EncodeOptions): Promise<Float32Array[]>;
  async encode(texts: string | readonly string[], options: EncodeOptions = {}): Promise<Float32Array | Float32Array[]> {
    const { sign = false, onError } = options;
    this.checkVectors("encode");
    if (sign && !this.polarities) throw new InputError(`encode: sign needs polarity, which this model does not give: ${VECTORS}, or leave sign out`);
    if (!Array.isArray(texts)) {
      checkContainer(texts);
      return (await this.encode([texts as string], options))[0];
    }
    const failed = new Set<number>();
    const fail = (place: number, error: ThinstackError) => {
      if (!onError) throw error;
      failed.add(place);
      onError(place, error);
    };
    return this.each(texts, { ...options, onError: onError && fail }, ({ vector, polarity }, place) => {
      if (vector) return sign ? Float32Array.of(...vector, signOf(polarity!)) : vector;
      if (!failed.has(place)) fail(place, new InputError(`text ${place}: expected words, found none: leave it out, or give onError`));
      return new Float32Array(this.model.width + Number(sign)).fill(NaN);
    });
  }

  /** The cosine of the vectors of two texts, phrases, sentences or results of this model, or of two vectors; for models with vectors. */
  async similarity(one: string | Float32Array | WithVector, other: string | Float32Array | WithVector): Promise<number> {
    this.checkVectors("similarity");
    const texts = [one, other].filter((value) => typeof value === "string");
    const rows = texts.length ? await this.encode(texts) : [];
    const [first, second] = [one, other].map((value) => (typeof value === "string" ? rows.shift()! : vectorOf(value, this.model.width, this.manifest.digest)));
    return dot(first, second);
  }

  /**
   * What the model says of each text of an iterable, such as a generator or the lines of a file, in order. Some 128 texts are read at
   * a time; one that comes alone is not kept waiting. Errors are those of `predict`, each behind the results before it.
   */
  stream(texts: AsyncIterable<string> | Iterable<string>, options: PredictOptions = {}): AsyncGenerator<Result, void> {
    checkReadsTexts(this.bundle.config);
    treesOf(this.bundle.config, [], options.source ?? "auto");
    checkStream(texts);
    return this.streamed(texts, options);
  }

  /**
   * What the model says of sentences of words, in treebank conventions. `source`: where their trees come from, or the transitions
   * of each. Throws InputError, naming the sentence (from 0), for one without words or with another tree.
   */
  async predictWords(sentences: Sentences, { source = "auto" }: { source?: TreeSource | Transitions } = {}): Promise<Prediction[]> {
    if (!Array.isArray(sentences)) throw new InputError(`expected an array of sentences of words, found ${kindOf(sentences)}: ${BY_TEXT}`);
    checkReadsTexts(this.bundle.config);
    sentences.forEach(checkWords);
    const scored = await this.scoreTexts(sentences.map((words) => [words]), source);
    return sentences.map((words, place) => new Prediction(joinedWords(words), scored[place][0], this.view));
  }

  /**
   * What a model that was trained on pairs says of two texts, or of two arrays of texts of equal length: a rating, or a class. Each side is read as one
   * sentence. Throws InputError, naming the pair (from 0) and its side, for what is no text and for a text without words; and for other models.
   */
  async pairs(a: string, b: string): Promise<PairResult>;
  async pairs(a: readonly string[], b: readonly string[]): Promise<PairResult[]>;
  async pairs(a: string | readonly string[], b: string | readonly string[]): Promise<PairResult | PairResult[]> {
    const { config } = this.bundle;
    const pairs = pairsOf(config, a, b);
    const results: PairResult[] = [];
    for (let start = 0; start < pairs.length; start += BATCH_TEXTS >> 1) {
      const some: Pair[] = pairs.slice(start, start + (BATCH_TEXTS >> 1));
      const parts = this.partsOf(wordsOf(some, start), "auto", !(config.parses && this.model.joins));
      results.push(...(await scorePairs(this.model, config, this.view, some, parts)));
    }
    return typeof a === "string" ? results[0] : results;
  }

  /** Where the model runs. */
  get device(): "cpu" | "webgpu" {
    return this.model.device;
  }

  /** Frees the memory of the model, which cannot be asked any more. */
  release(): Promise<void> {
    return this.model.release();
  }

  /**
   * The vectors of spans of words [start, end) of a sentence that this model has read. A span that is no phrase of its tree has that of the largest phrases
   * inside, joined from left to right by the model: all such spans take one call of it. Throws InputError for a span that is not inside the sentence, and for
   * a sentence of another model.
   */
  async spanVectors(sentence: Prediction, spans: readonly Span[]): Promise<Float32Array[]> {
    this.checkVectors("spanVectors");
    checkModel(sentence?.model, this.manifest.digest, "spanVectors");
    const covers = spans.map((span) => cover(sentence, span));
    const apart = spans.flatMap((span, place) => (covers[place].nodes.length > 1 ? [{ ...covers[place], words: sentence.words.slice(...span) }] : []));
    const joined = await this.scoreTexts(apart.map(({ words }) => [words]), apart.map(({ steps }) => steps));
    return covers.map(({ nodes }) => (nodes.length > 1 ? joined.shift()![0].vectors!.at(-1)! : sentence.vectors![nodes[0]]));
  }

  private checkVectors(call: string): void {
    if (!this.model.width) throw new InputError(`${call}: this model gives no vectors: ${VECTORS}`);
  }

  /** What `take` makes of the result of each text. */
  private async each<Row>(texts: readonly unknown[], options: PredictOptions, take: (result: Result, place: number) => Row): Promise<Row[]> {
    const wrong = options.onError ? -1 : texts.findIndex(faultOf);
    if (wrong >= 0) throw new InputError(`text ${wrong}: ${faultOf(texts[wrong])}`); // before any is read
    const rows: Row[] = [];
    for (let start = 0; start < texts.length; start += BATCH_TEXTS) {
      for await (const results of this.results(texts.slice(start, start + BATCH_TEXTS), start, options)) {
        for (const result of results) rows.push(take(result, rows.length));
      }
    }
    return rows;
  }

  private async *streamed(texts: AsyncIterable<string> | Iterable<string>, options: PredictOptions): AsyncGenerator<Result, void> {
    let place = 0;
    for await (const batch of textBatches(texts)) {
      for await (const results of this.results(batch, place, options)) yield* results;
      place += batch.length;
    }
  }

  /** The results of some texts, the first of which stands at a place, in order. Texts that fail are halved until it is known which. */
  private async *results(texts: readonly unknown[], place: number, options: PredictOptions): AsyncGenerator<Result[], void> {
    let results;
    try {
      for (const fault of texts.map(faultOf)) if (fault) throw new InputError(fault);
      results = await this.resultsOf(texts as string[], options);
    } catch (error) {
      if (!(error instanceof ThinstackError) || error instanceof DeviceError) throw error; // a device fails for all texts
      const half = texts.length >> 1;
      if (half) {
        yield* this.results(texts.slice(0, half), place, options);
        yield* this.results(texts.slice(half), place + half, options);
        return;
      }
      const named = about(`text ${place}`, error);
      if (!options.onError) throw named;
      options.onError(place, named);
      results = [new Result(typeof texts[0] === "string" ? texts[0] : "", [], this.view)];
    }
    yield results;
  }

  private async resultsOf(texts: readonly string[], { source = "auto", split = true }: PredictOptions): Promise<Result[]> {
    const cut = texts.map((text) => splitText(text, { split }));
    const scored = await this.scoreTexts(cut.map((sentences) => sentences.map(({ words }) => words)), source);
    return cut.map((sentences, row) => {
      const predictions = sentences.map((sentence, place) => new Prediction(sentence, scored[row][place], this.view));
      return new Result(texts[row], predictions, this.view, this.known(sentences.flatMap(({ words }) => words)), scored[row][sentences.length]);
    });
  }

  /** The scored sentences of each text; behind them what the tree over them says, where texts are read so and it has several. */
  private async scoreTexts(texts: readonly Sentences[], source: TreeSource | Transitions): Promise<Scored[][]> {
    const { joins, phrases, width } = this.model;
    const parts = this.partsOf(texts.flat(), source, typeof source !== "string");
    const whole = this.aggregation === "tree";
    const plan = texts.map(({ length }) => stretches(parts.splice(0, length), joins, whole));
    const units = plan.flat().flatMap((stretch) => stretch.trees);
    const scored: Scored[] = [];
    for (const positions of batches(units.map(({ size }) => size))) {
      const found = await this.model.run(positions.map((place) => units[place]));
      positions.forEach((place, row) => (scored[place] = found[row]));
    }
    return plan.map((text) => textOf(text, scored, phrases, whole).map((each) => shown(this.view, withVectors(width, each, this.manifest.digest))));
  }

  /** The parts of sentences, each with its tree; one part of each that is to stay `whole`. */
  private partsOf(sentences: Sentences, source: TreeSource | Transitions, whole: boolean): Part[][] {
    const { vocabulary, config } = this.bundle;
    const { mostPieces } = this.model;
    const count = (words: readonly string[]) => vocabulary.fields(words).pieces_per_word;
    const treeOf = treesOf(config, sentences, source);
    return cutsOf(sentences, { words: this.maxWords, pieces: mostPieces, count }, whole).map((spans, place) =>
      spans.map((span): Part => {
        const words = sentences[place].slice(...span);
        const widest = mostPieces ? vocabulary.fields(words).piece_ids.length : 0;
        return { words, span, steps: treeOf(words, place), size: [words.length, [...words.join("")].length, 1, widest] };
      }),
    );
  }
}

/** Loads the bundle of a folder; `Folder` and the errors of `openBundle`, InputError for a view that the model does not have. */
export async function loadFolder(
  folder: Folder,
  runtime: (gpu: boolean) => Promise<Runtime>,
  sessionOptions: object,
  { classes, abstain, maxWords = MAX_WORDS, aggregation, device = "cpu", runtime: own }: LoadOptions,
): Promise<Predictor> {
  if (!Number.isInteger(maxWords) || maxWords < 2) {
    throw new InputError(`maxWords is ${maxWords}; expected a whole number, at least 2`);
  }
  const gpu = await asksGpu(device);
  const bundle = await openBundle(folder, gpu);
  const view = chooseView(bundle.config, classes, abstain);
  const model = await startModel(own ? async () => own : runtime, bundle, sessionOptions, gpu && device);
  return new Predictor(model, bundle, view, maxWords, aggregation);
}

const VECTORS = "load the model vectors, that of models/thinstack-vectors";
