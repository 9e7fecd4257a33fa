/** Typed errors: each says what was expected, what was found and what to do next. */

/** Base of every error that thinstack throws on purpose. */
export class ThinstackError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A bundle is damaged, incomplete, or of a newer schema than this version reads. */
export class BundleError extends ThinstackError {}

/** What was handed to a model cannot be its input. */
export class InputError extends ThinstackError {}

/** The package of a runtime is not installed, or cannot be loaded; the message holds the command that mends it. */
export class MissingExtraError extends ThinstackError {}

/** The model does not run on the device that was asked for. */
export class DeviceError extends ThinstackError {}

/** What a caught value says of itself. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What onnxruntime says, without places in its own code. */
export function shortReason(error: unknown): string {
  return reason(error).replace(/^.*( was false\. |ERR: )|\.?\s*$/gs, "");
}

/** The error with what it is about in front. */
export function about(place: string, error: ThinstackError): ThinstackError {
  const Kind = error.constructor as typeof ThinstackError;
  return new Kind(`${place}: ${error.message}`, { cause: error });
}
