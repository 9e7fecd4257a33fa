/** What users download: exit code 1 where the JavaScript of the package, without onnxruntime, is larger than 101.5 kB. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const MOST = 101_500;

const cwd = fileURLToPath(new URL(".", import.meta.url));
const [{ files, size }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd, encoding: "utf8" }));
const script = files.filter(({ path }) => path.endsWith(".js")).reduce((sum, file) => sum + file.size, 0);
console.log(`${script} bytes of JavaScript, at most ${MOST}; ${size} bytes packed, with types and README`);
if (!files.some(({ path }) => path === "dist/node.js") || script > MOST) process.exitCode = 1;
