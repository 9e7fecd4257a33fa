/** `manifest.json`: the files of a bundle, with the SHA-256 of every file and of the manifest itself. */
import { BundleError, reason } from "./errors.js";
import { VERSION } from "./generated.js";

const BUNDLE_SCHEMA = 1;
export const MANIFEST_BYTES = 1 << 20;
const MOST_FILES = 1000;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/;
export const MEND = "export, copy or install the bundle again";

/** The digest and size in bytes of one file. */
export interface FileRecord {
  sha256: string;
  size: number;
}

/** The fields of a manifest. */
export interface Manifest {
  /** SHA-256 of the manifest, which covers every file of the bundle. */
  digest: string;
  /** Every file except the manifest, by its name in the bundle. */
  files: ReadonlyMap<string, FileRecord>;
  /** The program that wrote the bundle. */
  producer: unknown;
  /** The figures of the model. */
  metrics: Record<string, unknown>;
  /** The training data and its terms. */
  data: string;
}

/** Parses a manifest. Throws BundleError if it is invalid or was changed, or if its schema is too new. */
export async function parseManifest(content: Uint8Array<ArrayBuffer>, source: string): Promise<Manifest> {
  const text = decoded(content, source);
  const raw = parsed(text, source);
  if (!["schema_version", "digest", "files"].every((key) => Object.hasOwn(raw, key))) {
    throw new BundleError(`${source}: not the manifest of a thinstack bundle`);
  }
  if (raw.digest !== (await sha256(new TextEncoder().encode(covered(text))))) {
    throw new BundleError(`${source}: changed (its digest does not match); ${MEND}`);
  }
  checkSchema(raw, BUNDLE_SCHEMA, source, raw.producer);
  const { digest, producer, metrics, data } = raw;
  return { digest, files: filesOf(raw.files, source), producer, metrics: (metrics ?? {}) as Manifest["metrics"], data: String(data ?? "") };
}

/** Throws BundleError if the schema is newer than `readable`. */
export function checkSchema(raw: Record<string, unknown>, readable: number, source: string, producer?: unknown): void {
  const found = raw.schema_version;
  if (typeof found === "number" && found > readable) {
    const version = String((producer as { version?: unknown } | undefined)?.version);
    const wanted = /^[0-9][0-9A-Za-z.]*$/.test(version) ? `: ${version} or later` : "";
    throw new BundleError(
      `${source}: schema ${found}, but thinstack ${VERSION} reads schemas up to ${readable}; install a newer thinstack${wanted}`,
    );
  }
  if (found !== readable && !(Number.isInteger(found) && (found as number) > 0)) {
    throw new BundleError(`${source}: schema_version: expected ${readable}, found ${JSON.stringify(found)}`);
  }
}

/** SHA-256 in hexadecimal. Throws BundleError on insecure pages, which cannot compute it. */
export async function sha256(content: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!globalThis.crypto?.subtle) {
    throw new BundleError("digests cannot be checked on an insecure page: serve it over https, or from localhost");
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Decodes UTF-8. Throws BundleError for invalid bytes. */
export function decoded(content: Uint8Array<ArrayBuffer>, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new BundleError(`${source}: cannot be read as UTF-8; ${MEND}`);
  }
}

/** The keys of an object inside a JSON text in their order, because JavaScript objects put whole numbers first. */
export function keysOf(text: string, name: string): string[] {
  const keys = new Set<string>();
  let [depth, inside, last] = [0, false, ""];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token[0] === '"') last = token;
    else if (token !== ":") depth += "{[".includes(token) ? 1 : -1;
    else if (depth === 1) inside = JSON.parse(last) === name;
    else if (depth === 2 && inside) keys.add(JSON.parse(last));
  }
  return [...keys];
}

/** Parses a JSON object. Throws BundleError for anything else. */
export function parsed(text: string, source: string): Record<string, unknown> {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw new BundleError(`${source}: not readable as JSON (${reason(error)}); ${MEND}`);
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) throw new BundleError(`${source}: expected a JSON object; ${MEND}`);
  return raw as Record<string, unknown>;
}

/**
 * The text that the digest covers: the manifest without white space and without its digest. It is cut from the text, because a parser
 * changes numbers (`1.0` to `1`). The keys of a manifest are ordered, so no other digest precedes it.
 */
function covered(text: string): string {
  const bare = text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, kept?: string) => kept ?? "");
  return bare.replace(/"digest":"[^"]*",/, "");
}

function filesOf(raw: unknown, source: string): Map<string, FileRecord> {
  const files = new Map<string, FileRecord>();
  const entries = Object.entries((raw ?? {}) as Record<string, FileRecord>);
  if (entries.length > MOST_FILES) throw new BundleError(`${source}: ${entries.length} files; expected at most ${MOST_FILES}`);
  for (const [name, record] of entries) {
    const sound = /^[0-9a-f]{64}$/.test(record?.sha256) && Number.isSafeInteger(record.size) && record.size >= 0;
    if (!NAME.test(name) || !sound) {
      throw new BundleError(`${source}: files: expected a plain name, a SHA-256 and a size; found ${JSON.stringify(name).slice(0, 80)}`);
    }
    files.set(name, record);
  }
  return files;
}
