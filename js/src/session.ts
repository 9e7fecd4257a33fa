/** A bundle's model in onnxruntime: runs it, and checks that its inputs and outputs match the bundle. */
import { type Bundle } from "./bundle.js";
import { BundleError, DeviceError, InputError, shortReason } from "./errors.js";
import { MEND } from "./manifest.js";
import { metadataOf } from "./metadata.js";
import { type Scored } from "./scored.js";
import { type Tree } from "./stretches.js";
import { breaksOf, fault, over } from "./transitions.js";
import { type Fields } from "./vocabulary.js";

/** An onnxruntime module, for Node.js or the web. */
export interface Runtime {
  InferenceSession: { create(model: Uint8Array, options?: object): Promise<any> };
  Tensor: new (...arguments_: any[]) => any;
}

// The inputs that tell the trees of models that are run (one that parses: both).
const TREES = new Map([
  ["binary", ["transitions"]],
  ["sequence", ["lengths"]],
]);
const WORD_FIELDS = { words: ["token_ids"], wordpieces: ["piece_ids", "pieces_per_word"] };
const PARSE = "parse";

/** The end of device errors. */
export const ANYWHERE = 'device "cpu" runs anywhere';

/** A session of a bundle's model, created by `startModel`. */
export class Model {
  /** Whether it scores phrases, not only sentences. */
  readonly phrases: boolean;
  /** Whether it reads pairs of texts, and gives ratings of them. */
  readonly readsPairs: boolean;
  readonly ratesPairs: boolean;
  /** The maximum number of pieces per sentence; undefined without a limit. */
  readonly mostPieces: number | undefined;
  /** Whether it composes the sentences of a text into one tree. */
  readonly joins: boolean;
  /** The length of vectors; 0 if the model has none. */
  readonly width: number;
  private readonly outputs: string[];
  private queue: Promise<unknown> = Promise.resolve();
  private released: Promise<void> | undefined;

  constructor(
    private readonly runtime: Runtime,
    private session: any,
    private readonly bundle: Bundle,
    /** Where the session runs. */
    public device: "cpu" | "webgpu" = "cpu",
    /** Starts a CPU session to continue with if the GPU fails, if allowed. */
    private readonly onCpu?: () => Promise<any>,
  ) {
    const { config, source } = bundle;
    const metadata = metadataOf(bundle.gpuModel ?? bundle.model, source);
    const reads = metadata.get("reads") ?? "nodes";
    [this.readsPairs, this.ratesPairs] = [reads === "pairs", metadata.has("rates")];
    this.phrases = config.trees !== "sequence" && reads !== "roots" && !this.readsPairs;
    const of = this.phrases ? "node" : "root";
    this.outputs = [...(config.labels.length ? [`${of}_scores`] : []), ...(config.vectors ? [`${of}_vectors`] : [])];
    if (this.readsPairs) this.outputs = ["pair_scores"];
    this.joins = (this.phrases || this.readsPairs) && session.inputNames.includes("breaks");
    this.checkInterface();
    checkMetadata(metadata, bundle);
    this.mostPieces = mostPieces(metadata, bundle);
    this.width = this.readsPairs ? 0 : vectorSize(metadata, bundle);
  }

  /** The trees and scores of a batch. Runs of one session are queued. */
  run(trees: readonly Tree[]): Promise<Scored[]> {
    this.checkOpen();
    const found = this.queue.then(() => this.runNow(trees));
    this.queue = found.catch(() => undefined);
    return found;
  }

  /** Frees the session after the queued runs, once. */
  release(): Promise<void> {
    return (this.released ??= this.queue.then(() => this.session.release()));
  }

  /** Throws InputError if it has been released. */
  checkOpen(): void {
    if (this.released) throw new InputError("this model has been released: load it again");
  }

  private async runNow(trees: readonly Tree[]): Promise<Scored[]> {
    const feeds: Record<string, unknown> = {};
    const parts = trees.flatMap((tree) => tree.parts);
    const transitions = trees.flatMap(({ parts: own, top }) => (own[0].steps ? over(top, own.map(({ steps }) => steps!)) : []));
    const inputs: Fields = {
      ...this.bundle.vocabulary.fields(parts.flatMap(({ words }) => words)),
      lengths: parts.map(({ words }) => words.length),
      breaks: trees.flatMap(({ top }) => breaksOf(top)),
      transitions,
    };
    for (const { name, type } of this.session.inputMetadata) {
      const values = inputs[name];
      const data = type === "int64" ? BigInt64Array.from(values, BigInt) : Int32Array.from(values);
      feeds[name] = new this.runtime.Tensor(type, data, [data.length]);
    }
    const parses = this.bundle.config.parses && !transitions.length;
    let outputs;
    try {
      outputs = await this.session.run(feeds, parses ? [...this.outputs, PARSE] : this.outputs);
    } catch (error) {
      const problem = `failed on ${parts.length} sentences: ${shortReason(error)}`;
      if (this.device === "cpu") throw new BundleError(`${this.bundle.source}: the model ${problem}`, { cause: error });
      if (!this.onCpu) throw new DeviceError(`WebGPU ${problem}. Start the page or process again; ${ANYWHERE}`, { cause: error });
      this.session = await this.onCpu();
      this.device = "cpu";
      return this.runNow(trees);
    }
    const rows = this.rowsOf(outputs, trees);
    const steps = parses ? Array.from(outputs[PARSE].data, Number) : transitions;
    return this.apart(rows, steps, trees, parses);
  }

  private apart(rows: Float32Array[], steps: number[], trees: readonly Tree[], parsed: boolean): Scored[] {
    let node = 0;
    return trees.map(({ size }, place) => {
      const start = node;
      node += 2 * size[0] - 1;
      const transitions = steps.slice(start, node);
      const wrong = parsed ? fault(transitions, size[0]) : undefined;
      if (wrong) throw new BundleError(`${this.bundle.source}: the model's parse is not a tree: ${wrong}`);
      const row = this.readsPairs ? place >> 1 : place;
      const scores = this.phrases ? rows.slice(start, node) : rows.slice(row, row + 1);
      return { transitions, scores, weight: 1, parts: [] };
    });
  }

  /** The scores of each row, followed by its vector. */
  private rowsOf(outputs: Record<string, { data: Float32Array; dims: readonly number[] }>, trees: readonly Tree[]): Float32Array[] {
    const nodes = trees.reduce((sum, { size }) => sum + 2 * size[0] - 1, 0);
    const { config } = this.bundle;
    const [count, labels] = [this.phrases ? nodes : this.readsPairs ? trees.length / 2 : trees.length, config.labels.length];
    this.outputs.forEach((name) => {
      const { data, dims } = outputs[name];
      const columns = name.endsWith("scores") ? labels : this.width;
      if (dims.length === 2 && dims[0] === count && dims[1] === columns && data.every(Number.isFinite)) return;
      const expected = `expected finite ${name} of ${count} rows and ${columns} columns`;
      throw new BundleError(`${this.bundle.source}: ${expected}; found shape ${dims.join(" x ")}`);
    });
    return Array.from({ length: count }, (_, row) => {
      const values = new Float32Array(labels + this.width);
      let place = 0;
      for (const name of this.outputs) {
        const columns = outputs[name].dims[1];
        values.set(outputs[name].data.subarray(row * columns, (row + 1) * columns), place);
        place += columns;
      }
      return values;
    });
  }

  private checkInterface(): void {
    const { config, source } = this.bundle;
    const { inputNames, outputNames, inputMetadata } = this.session;
    const trees = config.parses ? ["lengths", "transitions"] : TREES.get(config.trees);
    if (!trees || !this.outputs.every((name) => outputNames.includes(name))) {
      const found = `it reads ${config.trees} trees and has ${outputNames.join(", ")}`;
      throw new BundleError(`${source}: expected a model of binary trees or plain sentences with the outputs ${this.outputs.join(" and ")}; ${found}`);
    }
    const expected = new Set([...WORD_FIELDS[config.embedding], ...trees]);
    // For words in their context; a parser's lengths are for its trees.
    if (inputNames.includes("lengths") && !outputNames.includes(PARSE)) expected.add("lengths");
    // Older files have none, nor have those of some parsers.
    if (config.parses && inputNames.includes("breaks")) expected.add("breaks");
    const kinds = inputMetadata.every(({ type }: { type: string }) => type === "int32" || type === "int64");
    if ([...inputNames].sort().join() !== [...expected].sort().join() || !kinds) {
      throw new BundleError(`${source}: expected the int32 or int64 inputs ${[...expected].join(", ")}; found ${inputNames.join(", ")}`);
    }
    if (config.parses && !outputNames.includes(PARSE)) {
      throw new BundleError(`${source}: the configuration declares a parser, but the model has no output ${PARSE}; ${MEND}`);
    }
  }
}

/** With a different vocabulary or different labels, ids or names would be wrong. */
function checkMetadata(metadata: Map<string, string>, { config, vocabularyDigest, source }: Bundle): void {
  const own = {
    vocabulary_digest: vocabularyDigest,
    labels: `[${config.labels.map((label) => JSON.stringify(label)).join(", ")}]`, // as Python writes it
    embedding: config.embedding,
    parses: String(config.parses),
  };
  for (const [key, value] of Object.entries(own)) {
    const found = metadata.get(key) ?? value;
    if (found !== value) {
      const exported = `exported with ${key} ${found.slice(0, 80)}, but the bundle has ${value.slice(0, 80)}`;
      throw new BundleError(`${source}: ${exported}; ${MEND}`);
    }
  }
}

function mostPieces(metadata: Map<string, string>, { config, source }: Bundle): number | undefined {
  const most = numberOf(metadata, "max_pieces", source);
  if (most && config.embedding !== "wordpieces") throw new BundleError(`${source}: max_pieces needs a model of word pieces, found ${most}; ${MEND}`);
  return most;
}

function vectorSize(metadata: Map<string, string>, { config, source }: Bundle): number {
  const size = numberOf(metadata, "vector_size", source) ?? 0;
  if (size > 0 === config.vectors) return size;
  throw new BundleError(`${source}: expected ${config.vectors ? "a" : "no"} vector_size, as in the configuration, found ${size}; ${MEND}`);
}

/** A positive number in the metadata. */
function numberOf(metadata: Map<string, string>, key: string, source: string): number | undefined {
  const value = metadata.get(key);
  if (value === undefined) return undefined;
  if (!/^[1-9][0-9]{0,8}$/.test(value)) throw new BundleError(`${source}: expected a number as ${key}, found ${value.slice(0, 40)}; ${MEND}`);
  return Number(value);
}
