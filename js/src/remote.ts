/** Bundles at URLs. */
import { type Folder } from "./bundle.js";

/** The folder at a URL, with or without a trailing slash. */
export function remoteFolder(url: URL): Folder {
  const base = new URL(url);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const name = (file: string) => new URL(file, base).href;
  const read = async (file: string, most: number) => {
    const response = await fetch(name(file));
    if (!response.ok) throw new Error(`status ${response.status} ${response.statusText}`.trim());
    return bytesOf(response, most);
  };
  return { name, read };
}

/** The body of a response, up to a maximum size. */
async function bytesOf(response: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body!.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error(`more than ${most} bytes`);
    }
    chunks.push(part.value);
  }
  const whole = new Uint8Array(size);
  let place = 0;
  for (const chunk of chunks) {
    whole.set(chunk, place);
    place += chunk.length;
  }
  return whole;
}
