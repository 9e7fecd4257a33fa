/** Bundles: a model as a folder of plain files. Every file is checked against the manifest. */
import { type ModelConfig, parseConfig } from "./config.js";
import { BundleError, reason } from "./errors.js";
import { type Manifest, MANIFEST_BYTES, MEND, decoded, parseManifest, sha256 } from "./manifest.js";
import { joined } from "./metadata.js";
import { type Vocabulary, WordVocabulary, WordpieceVocabulary } from "./vocabulary.js";

const CONFIG_FILE = "config.json";
const VOCABULARY_FILE = "vocabulary.txt";
const ONNX_FILE = "onnx/model.onnx";
const GPU_FILE = "onnx/model.gpu.onnx";
const LIMITS = new Map([
  [CONFIG_FILE, 2 ** 18],
  [VOCABULARY_FILE, 2 ** 25],
  [ONNX_FILE, 2 ** 31 - 1],
  [GPU_FILE, 2 ** 26],
]);

/** A bundle's location: names its files in messages and reads them, up to a maximum size. */
export interface Folder {
  name(file: string): string;
  /** Throws if the file is missing, unreadable or larger than `most` bytes. */
  read(file: string, most: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** A bundle whose files for running it match the manifest. */
export interface Bundle {
  manifest: Manifest;
  config: ModelConfig;
  vocabulary: Vocabulary;
  /** The SHA-256 of the vocabulary file. */
  vocabularyDigest: string;
  model: Uint8Array<ArrayBuffer>;
  /** The graph for GPUs with the model's weights, if requested and present. */
  gpuModel?: Uint8Array<ArrayBuffer>;
  /** The name of the model file. */
  source: string;
}

/** Reads a bundle, with its graph for GPUs if `gpu`. Throws BundleError if a file is missing or damaged or the schema is too new. */
export async function openBundle(folder: Folder, gpu: boolean): Promise<Bundle> {
  const source = folder.name("manifest.json");
  const told = await readOr(folder, "manifest.json", MANIFEST_BYTES, "expected the folder of a bundle");
  const manifest = await parseManifest(told, source);
  const needed = [CONFIG_FILE, VOCABULARY_FILE, ONNX_FILE];
  const optional = (file: string) => (manifest.files.has(file) ? checked(folder, manifest, file) : undefined);
  const [gpuModel, config, vocabulary, model] = await Promise.all([
    gpu ? optional(GPU_FILE) : undefined,
    ...needed.map((file) => checked(folder, manifest, file)),
  ]);
  const text = (file: string, content: Uint8Array<ArrayBuffer>) => [decoded(content, folder.name(file)), folder.name(file)] as const;
  const known = parseConfig(...text(CONFIG_FILE, config), manifest.producer);
  const Kind = known.embedding === "words" ? WordVocabulary : WordpieceVocabulary;
  return {
    manifest,
    config: known,
    vocabulary: new Kind(...text(VOCABULARY_FILE, vocabulary)),
    vocabularyDigest: manifest.files.get(VOCABULARY_FILE)!.sha256,
    model,
    gpuModel: gpuModel && (await joined(gpuModel, model, folder.name(GPU_FILE), manifest.files.get(ONNX_FILE)!.sha256)),
    source: folder.name(ONNX_FILE),
  };
}

/** Reads a file. Throws BundleError with advice. */
async function readOr(folder: Folder, file: string, most: number, advice: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await folder.read(file, most);
  } catch (error) {
    throw new BundleError(`${folder.name(file)}: cannot be read: ${reason(error)}; ${advice}`, { cause: error });
  }
}

async function checked(folder: Folder, manifest: Manifest, file: string): Promise<Uint8Array<ArrayBuffer>> {
  const record = manifest.files.get(file);
  const name = folder.name(file);
  if (!record) {
    const found = [...manifest.files.keys()].sort().join(", ") || "no files";
    throw new BundleError(`${name}: this bundle has no ${file}; it has ${found}`);
  }
  const most = LIMITS.get(file)!;
  if (record.size > most) throw new BundleError(`${name}: ${record.size} bytes; expected at most ${most}`);
  const content = await readOr(folder, file, most, MEND);
  if (content.length !== record.size) {
    throw new BundleError(`${name}: ${content.length} bytes, but the manifest says ${record.size}; ${MEND}`);
  }
  if ((await sha256(content)) !== record.sha256) {
    throw new BundleError(`${name}: its SHA-256 is not the one in the manifest, so the file is damaged; ${MEND}`);
  }
  return content;
}
