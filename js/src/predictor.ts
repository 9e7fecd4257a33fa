/** `Predictor`: runs a bundle's model, from text to labels, scores and trees. */
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
import { checkContainer, checkOptions, checkStream, faultOf, kindOf } from "./texts.js";
import { type WithVector, checkModel, cover, dot, signOf, vectorOf, withVectors } from "./vectors.js";
import { type View, chooseView, shown } from "./views.js";

/** How the sentences of a text are combined: composed into one tree, or averaged. */
export type Aggregation = "tree" | "mean";

/** The options of `load`. */
export interface LoadOptions {
  /** Show the five sentiment classes as 3 (negative, neutral, positive) or 2 (without neutral). */
  classes?: 2 | 3 | 5;
  /** Return no label if the top probability is below this value. */
  abstain?: number;
  /** Split sentences with more words than this into parts (default 400). */
  maxWords?: number;
  /** How the sentences of a text are combined. Default: `tree` if the model supports it, otherwise `mean`. */
  aggregation?: Aggregation;
  /** Where the model runs: `cpu` (default), `webgpu`, or `auto` (WebGPU if the browser finds a real GPU). */
  device?: Device;
  /** The onnxruntime module to use, instead of importing it by name. */
  runtime?: Runtime;
}

/** The options of `predict` and `stream`. */
export interface PredictOptions {
  /** Where the trees come from. */
  source?: TreeSource;
  /** `false` treats each text as one sentence. */
  split?: boolean;
  /** Called with the index (from 0) and the error of each invalid text, which then gets an empty result. */
  onError?: (place: number, error: ThinstackError) => void;
}

/** The options of `encode`. */
export interface EncodeOptions extends PredictOptions {
  /** Whether to append a column for the polarity of the text. */
  sign?: boolean;
}

/** A loaded model, created by `load`. Calls may overlap. */
export class Predictor {
  /** The classes. */
  readonly labels: readonly string[];
  /** The position of each class from -1 (negative) to 1 (positive); null if the classes are not a sentiment scale. */
  readonly polarities: readonly number[] | null;
  /** How the sentences of a text are combined. */
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

  /** The bundle's manifest: figures, training data and files. */
  get manifest(): Manifest {
    return this.bundle.manifest;
  }

  /**
   * Scores an English text or each text of an array. Throws InputError for values that are not Unicode strings and for a source that
   * the model does not support, and BundleError if the model fails. Both give the index of the text, from 0.
   */
  async predict(text: string, options?: PredictOptions): Promise<Result>;
  async predict(texts: readonly string[], options?: PredictOptions): Promise<Result[]>;
  async predict(texts: string | readonly string[], options: PredictOptions = {}): Promise<Result | Result[]> {
    checkOptions("predict", options, ...PREDICT);
    checkReadsTexts(this.model);
    treesOf(this.bundle.config, [], options.source ?? "auto"); // an unknown source is an error without texts too
    if (!Array.isArray(texts)) {
      checkContainer(texts);
      return (await this.predict([texts as string], options))[0];
    }
    return this.each(texts, options, (result) => result);
  }

  /**
   * The vector (D,), of unit norm, of an English text or each text of an array, from a model with vectors. `sign` appends the number
   * `sqrt(0.3) * s`, where `s` is the square root of `|p|` with the sign of the polarity `p`, so the inner product of two rows is their
   * cosine plus `0.3 * s1 * s2`. Errors are those of `predict`; a text without words also throws InputError. With `onError`, its row is NaN.
   */
  async encode(text: string, options?: EncodeOptions): Promise<Float32Array>;
  async encode(texts: readonly string[], options?: EncodeOptions): Promise<Float32Array[]>;
  async encode(texts: string | readonly string[], options: EncodeOptions = {}): Promise<Float32Array | Float32Array[]> {
    checkOptions("encode", options, ...PREDICT, "sign");
    const { sign = false, onError } = options;
    this.checkVectors("encode");
    if (sign && !this.polarities) throw new InputError(`encode: sign needs a model with polarity: ${VECTORS}, or leave sign out`);
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
      if (!failed.has(place)) fail(place, new InputError(`text ${place}: expected words, found none: leave it out, or pass onError`));
      return new Float32Array(this.model.width + Number(sign)).fill(NaN);
    });
  }

  /** The cosine similarity of two texts, vectors, or phrases, sentences or results of this model, which must have vectors. */
  async similarity(one: string | Float32Array | WithVector, other: string | Float32Array | WithVector): Promise<number> {
    this.checkVectors("similarity");
    const texts = [one, other].filter((value) => typeof value === "string");
    const rows = texts.length ? await this.encode(texts) : [];
    const [first, second] = [one, other].map((value) => (typeof value === "string" ? rows.shift()! : vectorOf(value, this.model.width, this.manifest.digest)));
    return dot(first, second);
  }

  /**
   * Scores the texts of an iterable, such as a generator or the lines of a file, in order and in bounded memory. Up to about 128 texts
   * are scored at once; a single text does not wait for others. Errors are those of `predict`, thrown after the preceding results.
   */
  stream(texts: AsyncIterable<string> | Iterable<string>, options: PredictOptions = {}): AsyncGenerator<Result, void> {
    checkOptions("stream", options, ...PREDICT);
    checkReadsTexts(this.model);
    treesOf(this.bundle.config, [], options.source ?? "auto");
    checkStream(texts);
    return this.streamed(texts, options);
  }

  /**
   * Scores sentences that are already split into treebank words. `source`: where the trees come from, or the transitions of each
   * sentence. Throws InputError with the index of the sentence (from 0) if it has no words or its tree does not fit.
   */
  async predictWords(sentences: Sentences, options: { source?: TreeSource | Transitions } = {}): Promise<Prediction[]> {
    checkOptions("predictWords", options, "source");
    if (!Array.isArray(sentences)) throw new InputError(`expected an array of sentences of words, found ${kindOf(sentences)}: ${BY_TEXT}`);
    checkReadsTexts(this.model);
    sentences.forEach(checkWords);
    const scored = await this.scoreTexts(sentences.map((words) => [words]), options.source ?? "auto");
    return sentences.map((words, place) => new Prediction(joinedWords(words), scored[place][0], this.view));
  }

  /**
   * Rates or classifies two texts, or two arrays of texts of equal length, with a model trained on pairs. Each text is read as one
   * sentence. Throws InputError with the index of the pair (from 0) for an invalid text or one without words, and for other models.
   */
  async pairs(a: string, b: string): Promise<PairResult>;
  async pairs(a: readonly string[], b: readonly string[]): Promise<PairResult[]>;
  async pairs(a: string | readonly string[], b: string | readonly string[]): Promise<PairResult | PairResult[]> {
    const pairs = pairsOf(this.model, a, b);
    const results: PairResult[] = [];
    for (let start = 0; start < pairs.length; start += BATCH_TEXTS >> 1) {
      const some: Pair[] = pairs.slice(start, start + (BATCH_TEXTS >> 1));
      const parts = this.partsOf(wordsOf(some, start), "auto", !(this.bundle.config.parses && this.model.joins));
      results.push(...(await scorePairs(this.model, this.view, some, parts)));
    }
    return typeof a === "string" ? results[0] : results;
  }

  /** Where the model runs. */
  get device(): "cpu" | "webgpu" {
    return this.model.device;
  }

  /** Frees the memory of the model after the calls in progress. Texts that are scored later throw InputError. */
  release(): Promise<void> {
    return this.model.release();
  }

  /**
   * The vectors of spans of words [start, end) in a sentence that this model has scored. For a span that is not a phrase of the tree, the
   * model joins the largest phrases inside it from left to right, in one call for all such spans. Throws InputError for a span outside
   * the sentence, and for a sentence from another model.
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

  /** The value of `take` for each result. */
  private async each<Row>(texts: readonly unknown[], options: PredictOptions, take: (result: Result, place: number) => Row): Promise<Row[]> {
    const wrong = options.onError ? -1 : texts.findIndex(faultOf);
    if (wrong >= 0) throw new InputError(`text ${wrong}: ${faultOf(texts[wrong])}`); // before any text is scored
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

  /** The results of a batch that starts at index `place`, in order. If the batch fails, it is halved until the invalid text is alone. */
  private async *results(texts: readonly unknown[], place: number, options: PredictOptions): AsyncGenerator<Result[], void> {
    this.model.checkOpen();
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

  /** The scored sentences of each text, followed by the tree over them if there are several and `aggregation` is `tree`. */
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

  /** The parts of each sentence with their trees; a single part if sentences stay `whole`. */
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

/** Loads the bundle in a folder. Throws the errors of `openBundle`, and InputError for options that the model does not support. */
export async function loadFolder(
  folder: Folder,
  runtime: (gpu: boolean) => Promise<Runtime>,
  sessionOptions: object,
  options: LoadOptions,
): Promise<Predictor> {
  checkOptions("load", options, "classes", "abstain", "maxWords", "aggregation", "device", "runtime");
  const { classes, abstain, maxWords = MAX_WORDS, aggregation, device = "cpu", runtime: own } = options;
  if (!Number.isInteger(maxWords) || maxWords < 2) {
    throw new InputError(`maxWords is ${maxWords}; expected a whole number, at least 2`);
  }
  const gpu = await asksGpu(device);
  const bundle = await openBundle(folder, gpu);
  const view = chooseView(bundle.config, classes, abstain);
  const model = await startModel(own ? async () => own : runtime, bundle, sessionOptions, gpu && device);
  return new Predictor(model, bundle, view, maxWords, aggregation);
}

const PREDICT = ["source", "split", "onError"];
const VECTORS = "load one that does, such as models/thinstack-vectors";
