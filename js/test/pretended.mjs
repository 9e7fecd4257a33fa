import * as ort from "onnxruntime-node";

/**
 * onnxruntime whose GPU is the CPU, and what it was asked to start. `fails(run)` says what is thrown instead of a run on the GPU, by
 * its number from 1, or of its start, 0; nothing without an answer.
 */
export function pretended(fails = () => undefined) {
  const asked = [];
  let runs = 0;
  const create = async (model, { executionProviders: providers, ...options }) => {
    asked.push({ model, providers });
    const gpu = providers[0].name === "webgpu";
    const problem = gpu && fails(0);
    if (problem) throw new Error(problem);
    const session = await ort.InferenceSession.create(model, { ...options, executionProviders: ["cpu"] });
    if (!gpu) return session;
    const run = (...given) => {
      const lost = fails(++runs);
      if (lost) throw new Error(lost);
      return session.run(...given);
    };
    const { inputNames, outputNames, inputMetadata } = session;
    return { run, inputNames, outputNames, inputMetadata, release: () => session.release() };
  };
  return [{ InferenceSession: { create }, Tensor: ort.Tensor }, asked];
}
