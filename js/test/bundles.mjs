import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const SST = at("thinstack/bundle/bundled/sentiment");
export const GOLDEN = at("tests/golden/schema-1/words");

/** A copy of a bundle, by default of a small one, which goes away with the test `t`. */
export async function copied(t, bundle = GOLDEN) {
  const folder = await mkdtemp(join(tmpdir(), "thinstack-"));
  t.after(() => rm(folder, { recursive: true }));
  await cp(bundle, folder, { recursive: true });
  return folder;
}

/** Changes a file, and the manifest with it, as somebody would who means it. */
export async function changed(folder, file, change) {
  const content = Buffer.from(change(await readFile(join(folder, file), "utf8")));
  await writeFile(join(folder, file), content);
  await resealed(folder, (manifest) => (manifest.files[file] = { sha256: sha256(content), size: content.length }));
}

/** Changes the manifest, with a digest that fits. */
export async function resealed(folder, change) {
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  change(manifest);
  const { digest, ...rest } = manifest;
  const sealed = { ...rest, digest: sha256(JSON.stringify(sorted(rest))) };
  await writeFile(join(folder, "manifest.json"), `${JSON.stringify(sorted(sealed), null, 2)}\n`);
}

function sha256(content) {
  return createHash("sha256").update(content).digest("hex");
}

function sorted(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
