import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

/** A server of the files of a folder, on a free port of this machine. */
export async function served(folder) {
  const server = createServer(async (request, response) => {
    try {
      response.end(await readFile(join(folder, new URL(request.url, "http://localhost").pathname.replace(/^\/bundle\//, ""))));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/bundle`, close: () => server.close() };
}
