/** Builds dist/: the rules of English and style sheets as a module, then JavaScript without comments and white space, and types with comments. */
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const { about, version: _, ...rules } = JSON.parse(readFileSync(at("../thinstack/text/english.json"), "utf8"));
for (const hint of ["misread_hint", "clitics"]) delete rules.typed[hint]; // Only Python is faster with them.
for (const kind of [...rules.tokens, ...rules.abbreviations, ...rules.typed.tags, ...rules.typed.pairs]) delete kind.name;
/** Data as code, its lists of words as one string each, which is shorter. */
const code = (data) => JSON.stringify(data).replace(/\["([^" \\]+(?:","[^" \\]+){4,})"\]/g, (_, words) => `"${words.replaceAll('","', " ")}".split(" ")`);
const { about: __, ...emoji } = JSON.parse(readFileSync(at("../thinstack/data/words/emoji.json"), "utf8"));
const style = (name) => JSON.stringify(readFileSync(at(`../thinstack/integrations/show/${name}.css`), "utf8"));
const { version } = JSON.parse(readFileSync(at("package.json"), "utf8"));
writeFileSync(
  at("src/generated.ts"),
  `import type { EmojiData } from "./readings.js";\nimport type { RulesData } from "./rules.js";\n\n/** ${about} */\n` +
    `export const ENGLISH: RulesData = ${code(rules)};\n\n/** Of this package. */\nexport const VERSION = "${version}";\n` +
    `\n/** What emoji and emoticons are looked up as. */\nexport const EMOJI: EmojiData = ${code(emoji)};\n` +
    `\n/** Of drawings; as in Python. */\nexport const TREE_STYLE = ${style("tree")};\nexport const HEAT_STYLE = ${style("heat")};\n`,
);
copyFileSync(at("../LICENSE"), at("LICENSE"));
rmSync(at("dist"), { recursive: true, force: true });
// Types are checked first: esbuild only leaves them out.
execFileSync(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", at("tsconfig.json")], { stdio: "inherit" });
await build({
  absWorkingDir: at("."),
  entryPoints: ["src/node.ts", "src/web.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: ["node:*", "onnxruntime-node", "onnxruntime-web"],
  minifyWhitespace: true,
  minifySyntax: true,
  charset: "utf8",
});
