/** Starts a bundle's model on the requested device. */
import { type Bundle } from "./bundle.js";
import { BundleError, DeviceError, InputError, shortReason } from "./errors.js";
import { metadataOf } from "./metadata.js";
import { ANYWHERE, Model, type Runtime } from "./session.js";

/** Where to run a model: on the CPU, on a GPU through WebGPU, or on a GPU if the browser finds a real one. */
export type Device = "cpu" | "webgpu" | "auto";

/** Whether to try a GPU; for `auto`, only an adapter that is not a software GPU. Throws InputError for an unknown device. */
export async function asksGpu(device: Device): Promise<boolean> {
  if (!["cpu", "webgpu", "auto"].includes(device)) throw new InputError(`device: expected cpu, webgpu or auto, found ${device}`);
  if (device !== "auto") return device === "webgpu";
  // Node.js and older browsers lack parts of it.
  const adapter = await (globalThis.navigator as any)?.gpu?.requestAdapter();
  return !!adapter && !adapter.info?.isFallbackAdapter;
}

/**
 * Starts a session of a bundle's model. `runtime` imports onnxruntime, with or without GPU support; `gpu`: the device, or false. Throws
 * BundleError if the model cannot run or does not match the bundle, and DeviceError if the GPU cannot be used. `auto` then uses the CPU.
 */
export async function startModel(
  runtime: (gpu: boolean) => Promise<Runtime>,
  bundle: Bundle,
  options: object,
  gpu: false | Device,
): Promise<Model> {
  if (gpu) {
    try {
      const found = await runtime(true);
      const session = await sessionOf(found, bundle, options, true);
      return new Model(found, session, bundle, "webgpu", gpu === "auto" ? () => sessionOf(found, bundle, options) : undefined);
    } catch (error) {
      if (gpu !== "auto" || error instanceof BundleError) throw error;
    }
  }
  const found = await runtime(false);
  return new Model(found, await sessionOf(found, bundle, options), bundle);
}

async function sessionOf(runtime: Runtime, { model, gpuModel = model, source }: Bundle, options: object, gpu = false): Promise<any> {
  const names = gpu && metadataOf(gpuModel, source).get("host_nodes")?.split("\n");
  const own = gpu ? { ...options, executionProviders: [{ name: "webgpu", ...(names && { forceCpuNodeNames: names }) }] } : options;
  try {
    return await runtime.InferenceSession.create(gpu ? gpuModel : model, own);
  } catch (error) {
    const said = shortReason(error);
    if (!gpu) throw new BundleError(`${source}: onnxruntime cannot load it: ${said}`, { cause: error });
    const needs = "It needs a GPU and a build of onnxruntime with WebGPU (in a page onnxruntime-web/webgpu)";
    throw new DeviceError(`device webgpu does not work here: ${said}. ${needs}; ${ANYWHERE}`, { cause: error });
  }
}
