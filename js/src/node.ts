/** The entry for Node.js, which uses onnxruntime-node. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Folder } from "./bundle.js";
import { InputError, MissingExtraError, reason } from "./errors.js";
import { type LoadOptions, type Predictor, loadFolder } from "./predictor.js";
import { remoteFolder } from "./remote.js";
import { type Runtime } from "./session.js";

export * from "./api.js";

// As in Python: for such small products, two threads are slower than one.
const OPTIONS = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  enableMemPattern: false,
};

/**
 * Loads a bundle from a folder or a URL (`http:`, `https:`, `file:`). Throws BundleError if a file is missing or damaged or the
 * schema is too new, InputError for options that the model does not support, DeviceError if the GPU cannot be used, and
 * MissingExtraError without onnxruntime-node.
 */
export async function load(location: string | URL, options: LoadOptions = {}): Promise<Predictor> {
  return loadFolder(folderAt(location), runtime, OPTIONS, options);
}

function folderAt(location: string | URL): Folder {
  try {
    const url = location instanceof URL || /^(https?|file):\/\//.test(location) ? new URL(location) : undefined;
    if (url && url.protocol !== "file:") return remoteFolder(url);
    const path = join(url ? fileURLToPath(url) : (location as string));
    const name = (file: string) => join(path, file);
    return { name, read: (file, most) => bytesOf(name(file), most) };
  } catch (error) {
    throw new InputError(`${location}: expected the path or the URL of a bundle: ${reason(error)}`);
  }
}

/** The bytes of a plain file. Reading a pipe could block. */
async function bytesOf(path: string, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const status = await stat(path);
  if (!status.isFile()) throw new Error("not a plain file");
  if (status.size > most) throw new Error(`${status.size} bytes; expected at most ${most}`);
  return new Uint8Array(await readFile(path));
}

async function runtime(): Promise<Runtime> {
  // Otherwise onnxruntime stores an identifier of the device and sends telemetry. It reads the variable on import.
  process.env.ORT_DISABLE_TELEMETRY ||= "1";
  try {
    return (await import("onnxruntime-node")) as unknown as Runtime;
  } catch (error) {
    throw new MissingExtraError(`onnxruntime-node cannot be imported (${reason(error)}): run npm install onnxruntime-node`, { cause: error });
  }
}
