/** What an ONNX file says of itself, read out of its bytes: onnxruntime for JavaScript does not tell. */
import { BundleError } from "./errors.js";

// Field numbers of onnx.proto: ModelProto.metadata_props, StringStringEntryProto.key and value.
const METADATA = 14;
const KEY = 1;
const VALUE = 2;

/** The metadata of an ONNX file, by key. Throws BundleError for what is no such file. */
export function metadataOf(model: Uint8Array, source: string): Map<string, string> {
  const text = new TextDecoder();
  try {
    return new Map(
      fields(model)
        .filter(([number]) => number === METADATA)
        .map(([, entry]) => {
          const pair = new Map(fields(entry));
          return [text.decode(pair.get(KEY)), text.decode(pair.get(VALUE))];
        }),
    );
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new BundleError(`${source}: no ONNX file that thinstack reads: ${error.message}; export the model again with thinstack`);
  }
}

/** The numbers and the bytes of the fields of a protocol buffer; a field that holds a number has no bytes. */
function fields(data: Uint8Array): [number: number, content: Uint8Array][] {
  const found: [number, Uint8Array][] = [];
  let place = 0;
  const integer = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (place >= data.length) throw new RangeError("it ends within an integer");
      const byte = data[place++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (place < data.length) {
    const tag = integer();
    const kind = tag % 8;
    if (kind === 0) integer();
    const size = kind === 2 ? integer() : kind === 1 ? 8 : kind === 5 ? 4 : 0;
    if (![0, 1, 2, 5].includes(kind) || place + size > data.length) throw new RangeError("a field is of no known type");
    found.push([Math.floor(tag / 8), data.subarray(place, place + size)]);
    place += size;
  }
  return found;
}
