import { main } from "./main.mjs";

process.env.ORT_DISABLE_TELEMETRY ||= "1"; // before it is imported
const ort = await import("onnxruntime-node");

await main("onnxruntime-node", ort);
