/** Typed errors. Each message states what is wrong, then what to do. */

/** The base class of all errors that thinstack throws. */
export class ThinstackError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A bundle is damaged or incomplete, or its schema is newer than this version reads. */
export class BundleError extends ThinstackError {}

/** The model cannot use this input or option. */
export class InputError extends ThinstackError {}

/** The package of a runtime is missing or cannot be loaded. The message contains the command that installs it. */
export class MissingExtraError extends ThinstackError {}

/** The model cannot run on the requested device. */
export class DeviceError extends ThinstackError {}

/** The message of a caught value. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of an onnxruntime error, without locations in its code. */
export function shortReason(error: unknown): string {
  return reason(error).replace(/^.*( was false\. |ERR: )|\.?\s*$/gs, "");
}

/** The same error, with a place before its message. */
export function about(place: string, error: ThinstackError): ThinstackError {
  const Kind = error.constructor as typeof ThinstackError;
  return new Kind(`${place}: ${error.message}`, { cause: error });
}
