/** Reads the metadata of ONNX files, which onnxruntime for JavaScript does not expose, and joins GPU graphs with their weights. */
import { BundleError } from "./errors.js";
import { MEND } from "./manifest.js";

// Field numbers of onnx.proto: ModelProto.graph, GraphProto.initializer; ModelProto.metadata_props, StringStringEntryProto.key and value.
const GRAPH = 7;
const WEIGHTS = 5;
const METADATA = 14;
const KEY = 1;
const VALUE = 2;

/** The metadata of an ONNX file, by key. Throws BundleError for other files. */
export function metadataOf(model: Uint8Array, source: string): Map<string, string> {
  const text = new TextDecoder();
  return readable(
    source,
    () =>
      new Map(
        fields(model, METADATA).map(([, entry]) => {
          const pair = new Map<number, Uint8Array>(fields(entry) as any); // ignores everything after the content
          return [text.decode(pair.get(KEY)), text.decode(pair.get(VALUE))];
        }),
      ),
  );
}

/**
 * A bundle's GPU graph, joined with the weights of its CPU file, whose SHA-256 is `digest`. Throws BundleError if a file is damaged or the
 * graph was written for another CPU file. `source`: the name of the graph.
 */
export async function joined(model: Uint8Array, beside: Uint8Array, source: string, digest: string): Promise<Uint8Array<ArrayBuffer>> {
  if (metadataOf(model, source).get("beside") !== digest) throw new BundleError(`${source}: written for another model.onnx; ${MEND}`);
  const parts = readable(source, () => {
    const weights = fields(beside, GRAPH).flatMap(([, graph]) => fields(graph, WEIGHTS).map(([, , whole]) => whole));
    return fields(model).flatMap(([number, content, whole]) => {
      if (number !== GRAPH) return whole;
      const graph = new Blob([content, ...weights] as BlobPart[]);
      return [header(graph.size), graph];
    });
  });
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

/** The value of `read`. If the file is damaged, throws BundleError with its name. */
function readable<Found>(source: string, read: () => Found): Found {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new BundleError(`${source}: not an ONNX file that thinstack reads: ${error.message}; export the model again with thinstack`);
  }
}

/** The tag and length before a graph of `size` bytes. */
function header(size: number): Uint8Array {
  const bytes = [GRAPH * 8 + 2];
  for (; size >= 128; size >>>= 7) bytes.push(size | 128);
  return Uint8Array.from([...bytes, size]); // keeps the last eight bits of each
}

/** The number, the content (none for numeric fields), and all bytes of a protocol buffer field. */
type Field = [number: number, content: Uint8Array, whole: Uint8Array];

function fields(data: Uint8Array, wanted?: number): Field[] {
  const found: Field[] = [];
  let place = 0;
  const integer = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (place >= data.length) throw new RangeError("it ends inside an integer");
      const byte = data[place++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (place < data.length) {
    const start = place;
    const tag = integer();
    const kind = tag % 8;
    if (kind === 0) integer();
    const size = kind === 2 ? integer() : kind === 1 ? 8 : kind === 5 ? 4 : 0;
    if (![0, 1, 2, 5].includes(kind) || place + size > data.length) throw new RangeError("a field has an unknown type");
    const number = Math.floor(tag / 8);
    const content = data.subarray(place, (place += size));
    if (number === (wanted ?? number)) found.push([number, content, data.subarray(start, place)]);
  }
  return found;
}
