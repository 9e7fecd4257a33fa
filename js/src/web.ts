/** The entry for browsers, which uses onnxruntime-web. */
import { type Folder } from "./bundle.js";
import { InputError, MissingExtraError, reason } from "./errors.js";
import { type LoadOptions, type Predictor, loadFolder } from "./predictor.js";
import { remoteFolder } from "./remote.js";
import { type Runtime } from "./session.js";

export * from "./api.js";

const OPTIONS = { executionProviders: ["wasm"], logSeverityLevel: 3, enableMemPattern: false };

/**
 * Loads a bundle from the URL of its folder, relative to the page, or from a `Map` of file names in the folder to `Blob`s. Throws
 * BundleError if a file is missing or damaged or the schema is too new, InputError for options that the model does not support,
 * DeviceError if the GPU cannot be used, and MissingExtraError without onnxruntime-web.
 */
export async function load(location: string | URL | ReadonlyMap<string, Blob>, options: LoadOptions = {}): Promise<Predictor> {
  if (location instanceof Map) return loadFolder(folderOf(location), runtime, OPTIONS, options);
  const base = typeof document === "undefined" ? globalThis.location?.href : document.baseURI;
  let url;
  try {
    url = new URL(location as string | URL, base);
  } catch {
    throw new InputError(`${location}: expected the URL of a bundle`);
  }
  return loadFolder(remoteFolder(url), runtime, OPTIONS, options);
}

function folderOf(files: ReadonlyMap<string, Blob>): Folder {
  const read = async (file: string, most: number) => {
    const found = files.get(file);
    if (!found) throw new Error("the chosen folder does not contain it");
    if (found.size > most) throw new Error(`${found.size} bytes; expected at most ${most}`);
    return new Uint8Array(await found.arrayBuffer());
  };
  return { name: (file) => file, read };
}

async function runtime(gpu: boolean): Promise<Runtime> {
  try {
    return (await (gpu ? import("onnxruntime-web/webgpu") : import("onnxruntime-web"))) as unknown as Runtime;
  } catch (error) {
    const problem = `onnxruntime-web cannot be imported (${reason(error)})`;
    throw new MissingExtraError(`${problem}: run npm install onnxruntime-web, or pass its module as the option runtime`, { cause: error });
  }
}
