/** What is no text and holds no texts, and what to give in its place. */
import { InputError } from "./errors.js";

/** What a value is, for messages. */
export function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const name = value.constructor?.name;
  const kind = name && name !== "Object" ? name : Object.prototype.toString.call(value).slice(8, -1);
  return kind === "Object" ? "object" : kind;
}

/** Throws InputError for what is no array of texts, but holds some. Other values are told as texts are. */
export function checkContainer(texts: unknown): void {
  if (typeof texts !== "object" || texts === null) return;
  throw new InputError(`expected a text or an array of texts, found ${kindOf(texts)}: ${insteadOf(texts)}`);
}

/** Throws InputError for what does not give texts one by one. */
export function checkStream(texts: any): void {
  const problem =
    typeof texts === "string" ? "call predict for one text"
    : typeof texts !== "object" || texts === null ? "give an array of them"
    : texts instanceof Map || ArrayBuffer.isView(texts) || !(Symbol.iterator in texts || Symbol.asyncIterator in texts) ? insteadOf(texts)
    : undefined;
  if (problem) throw new InputError(`expected an iterable of texts, found ${kindOf(texts)}: ${problem}`);
}

function insteadOf(texts: object): string {
  if (texts instanceof Promise) return "await it first";
  if (texts instanceof String) return "give String(text)";
  if (texts instanceof Map) return "give [...map.values()]";
  if (ArrayBuffer.isView(texts)) return "give new TextDecoder().decode(bytes)";
  if (Symbol.iterator in texts) return "give [...texts], or call stream";
  if (Symbol.asyncIterator in texts) return "call stream";
  const column = Object.entries(texts).find(([, values]) => Array.isArray(values) && typeof values[0] === "string")?.[0];
  return column === undefined ? "give Object.values(texts) or one text" : `give one of its columns, such as texts[${JSON.stringify(column)}]`;
}

/** Why a value is no text; undefined of one. */
export function faultOf(text: unknown): string | undefined {
  if (typeof text !== "string") return `expected a string, found ${kindOf(text)}${otherCall(text)}`;
  const wrong = text.search(/\p{Cs}/u);
  return wrong < 0 ? undefined : `no Unicode text, unit ${wrong} is \\u${text.charCodeAt(wrong).toString(16)}, half of a pair of surrogates`;
}

function otherCall(text: unknown): string {
  if (Array.isArray(text)) return ": call predictWords for sentences of words";
  if (ArrayBuffer.isView(text)) return ": give new TextDecoder().decode(bytes)";
  const column = kindOf(text) === "object" && Object.entries(text as object).find(([, value]) => typeof value === "string")?.[0];
  return column ? `: give one of its fields, such as row[${JSON.stringify(column)}]` : "";
}
