/** The names that the entries for Node.js and browsers share. */
export { Aspect } from "./aspects.js";
export { type Sentence, type Span, splitText } from "./english.js";
export { BundleError, DeviceError, InputError, MissingExtraError, ThinstackError } from "./errors.js";
export { type NestedPhrase, type NestedSentence, type NestedText } from "./plainData.js";
export { type PairResult } from "./pairs.js";
export { Phrase } from "./phrase.js";
export { Prediction, type Scores } from "./prediction.js";
export { type TreeSource } from "./givenTrees.js";
export { type Manifest } from "./manifest.js";
export { type EncodeOptions, type LoadOptions, type PredictOptions, type Predictor } from "./predictor.js";
export { Result } from "./result.js";
export { type Runtime } from "./session.js";
export { type Device } from "./starting.js";
export { VERSION } from "./generated.js";
export { WordVocabulary, WordpieceVocabulary } from "./vocabulary.js";
