import * as ort from "onnxruntime-web";

import { main } from "./main.mjs";

await main("onnxruntime-web", ort);
