/** The size of the download. Exits with 1 if the JavaScript of the package, without onnxruntime, is larger than MOST. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// It includes 5,000 bytes for vectors, 7,000 for contractions, encodings and masked words, 3,100 for finding terms, 4,300 for the clauses around them, 700 for unknown options and released models, and 2,700 for GPUs: joining the file, choosing the device, errors, and continuing on the CPU.
const MOST = 125_900;

const cwd = fileURLToPath(new URL(".", import.meta.url));
const [{ files, size }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd, encoding: "utf8" }));
const script = files.filter(({ path }) => path.endsWith(".js")).reduce((sum, file) => sum + file.size, 0);
console.log(`${script} bytes of JavaScript, at most ${MOST}; ${size} bytes packed, with types and README`);
if (!files.some(({ path }) => path === "dist/node.js") || script > MOST) process.exitCode = 1;
