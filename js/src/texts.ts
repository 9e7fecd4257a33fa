/** Checks texts and options, and explains what to pass instead. */
import { InputError } from "./errors.js";

/** The type of a value, for messages. */
export function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const name = value.constructor?.name;
  const kind = name && name !== "Object" ? name : Object.prototype.toString.call(value).slice(8, -1);
  return kind === "Object" ? "object" : kind;
}

/** Throws InputError for objects other than arrays. Other values are checked as texts. */
export function checkContainer(texts: unknown): void {
  if (typeof texts !== "object" || texts === null) return;
  throw new InputError(`expected a text or an array of texts, found ${kindOf(texts)}: ${insteadOf(texts)}`);
}

/** Throws InputError unless it is an iterable of texts. */
export function checkStream(texts: any): void {
  const problem =
    typeof texts === "string" ? "call predict for one text"
    : typeof texts !== "object" || texts === null ? "pass an array of texts"
    : texts instanceof Map || ArrayBuffer.isView(texts) || !(Symbol.iterator in texts || Symbol.asyncIterator in texts) ? insteadOf(texts)
    : undefined;
  if (problem) throw new InputError(`expected an iterable of texts, found ${kindOf(texts)}: ${problem}`);
}

function insteadOf(texts: object): string {
  if (texts instanceof Promise) return "await it first";
  if (texts instanceof String) return "pass String(text)";
  if (texts instanceof Map) return "pass [...map.values()]";
  if (ArrayBuffer.isView(texts)) return "pass new TextDecoder().decode(bytes)";
  if (Symbol.iterator in texts) return "pass [...texts], or call stream";
  if (Symbol.asyncIterator in texts) return "call stream";
  const column = Object.entries(texts).find(([, values]) => Array.isArray(values) && typeof values[0] === "string")?.[0];
  return column === undefined ? "pass Object.values(texts) or one text" : `pass one of its columns, such as texts[${JSON.stringify(column)}]`;
}

/** Why a value is not a text; undefined for a text. */
export function faultOf(text: unknown): string | undefined {
  if (typeof text !== "string") return `expected a string, found ${kindOf(text)}${otherCall(text)}`;
  const wrong = text.search(/\p{Cs}/u);
  return wrong < 0 ? undefined : `not Unicode text, unit ${wrong} is \\u${text.charCodeAt(wrong).toString(16)}, half of a surrogate pair`;
}

function otherCall(text: unknown): string {
  if (Array.isArray(text)) return ": call predictWords for sentences of words";
  if (ArrayBuffer.isView(text)) return ": pass new TextDecoder().decode(bytes)";
  const column = kindOf(text) === "object" && Object.entries(text as object).find(([, value]) => typeof value === "string")?.[0];
  return column ? `: pass one of its fields, such as row[${JSON.stringify(column)}]` : "";
}

/** Throws InputError if a call gets an option that is not among the `expected` ones. */
export function checkOptions(call: string, options: object, ...expected: string[]): void {
  const other = Object.keys(options).find((name) => !expected.includes(name));
  if (other !== undefined) throw new InputError(`${call}: unknown option ${other}; expected ${expected.join(", ")}`);
}
