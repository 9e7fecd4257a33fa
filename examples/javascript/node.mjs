import * as ort from "onnxruntime-node";

import { main } from "./main.mjs";

await main("onnxruntime-node", ort);
