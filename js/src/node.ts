/** The entry of Node.js: onnxruntime-node. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Folder } from "./bundle.js";
import { InputError, MissingExtraError, reason } from "./errors.js";
import { type LoadOptions, type Predictor, loadFolder } from "./predictor.js";
import { remoteFolder } from "./remote.js";
import { type Runtime } from "./session.js";

export * from "./api.js";

// As in Python: two threads that wait for each other in every small product take longer than one.
const OPTIONS = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  enableMemPattern: false,
};

/**
 * Loads a bundle by the path of its folder, or by a URL (`http:`, `https:`, `file:`). Throws BundleError if anything that is needed
 * is missing, damaged or of a newer schema, InputError for options that the model does not have, DeviceError for
 * a GPU that cannot be used, MissingExtraError without onnxruntime-node.
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

/** The bytes of a plain file: reading a pipe would wait. */
async function bytesOf(path: string, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const status = await stat(path);
  if (!status.isFile()) throw new Error("not a plain file");
  if (status.size > most) throw new Error(`${status.size} bytes; expected at most ${most}`);
  return new Uint8Array(await readFile(path));
}

async function runtime(): Promise<Runtime> {
  // Else it notes an identifier of the device, and tells its maker what runs. It asks when it is imported.
  process.env.ORT_DISABLE_TELEMETRY ||= "1";
  try {
    return (await import("onnxruntime-node")) as unknown as Runtime;
  } catch (error) {
    throw new MissingExtraError(`onnxruntime-node cannot be imported (${reason(error)}): npm install onnxruntime-node`, { cause: error });
  }
}
