/** What users download: exit code 1 where the JavaScript of the package, without onnxruntime, is larger than MOST. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// Of it 5,000 bytes are vectors, 7,000 read contractions, wrong decodings and hidden letters, 3,100 find terms, 3,500 read the clauses around them, and 2,700 are what a GPU needs: joining its file, choosing the device, its errors, going on on the CPU.
const MOST = 124_200;

const cwd = fileURLToPath(new URL(".", import.meta.url));
const [{ files, size }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd, encoding: "utf8" }));
const script = files.filter(({ path }) => path.endsWith(".js")).reduce((sum, file) => sum + file.size, 0);
console.log(`${script} bytes of JavaScript, at most ${MOST}; ${size} bytes packed, with types and README`);
if (!files.some(({ path }) => path === "dist/node.js") || script > MOST) process.exitCode = 1;
