/** Starts a bundle's model on the device that is asked for. */
import { type Bundle } from "./bundle.js";
import { BundleError, DeviceError, InputError, shortReason } from "./errors.js";
import { metadataOf } from "./metadata.js";
import { ANYWHERE, Model, type Runtime } from "./session.js";

/** Where a model is to run: on the CPU, on a GPU by WebGPU, or on a GPU if the browser has a real one. */
export type Device = "cpu" | "webgpu" | "auto";

/** Whether a GPU is to be tried; for `auto`, an adapter that is no program on the CPU. Throws InputError for an unknown device. */
export async function asksGpu(device: Device): Promise<boolean> {
  if (!["cpu", "webgpu", "auto"].includes(device)) throw new InputError(`device: expected cpu, webgpu or auto, found ${device}`);
  if (device !== "auto") return device === "webgpu";
  // Node.js and older browsers lack parts of it.
  const adapter = await (globalThis.navigator as any)?.gpu?.requestAdapter();
  return !!adapter && !adapter.info?.isFallbackAdapter;
}

/**
 * Starts a session of a bundle's model. `runtime` imports onnxruntime, for a GPU or not; `gpu`: the device, if a GPU is to be tried.
 * Throws BundleError if the model cannot be run, or does not fit the bundle, and DeviceError if the GPU cannot be used; for `auto` the
 * CPU takes its place.
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
