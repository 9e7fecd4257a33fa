"""A bundle of a model of aspects whose answers can be computed by hand: single words are terms, and
a phrase says what its last word says."""

import numpy as np
from last_word_model import last_word_model, write_last_word_bundle

from thinstack.core.scale import NO_TERM

LABELS = (NO_TERM, "negative", "neutral", "positive")
LOGITS = {
    "": (6, 0, 2, 0),
    "battery": (-2, 0, 0, 3),
    "staff": (-1, 3, 0, 0),
    "screen": (-2, 0, 3, 0),
    "good": (6, 0, 0, 3),
    "awful": (6, 3, 0, 0),
    ".": (-3, 1, 2, 1),
}
"""Of each word; "" stands for any other. The full stop would be a term, if a mark could be one."""
PHRASE = np.array([9, 0, 0, 0.5], np.float32)
"""Added for a phrase of several words."""


def write_aspect_bundle(path, *, phrase=PHRASE, **more):
    """The bundle; `more` as for `write_last_word_bundle`."""
    words, table = tuple(filter(None, LOGITS)), np.array([*LOGITS.values()], np.float32)
    onnx = last_word_model(table=table, phrase=phrase)
    return write_last_word_bundle(path, labels=LABELS, words=words, onnx=onnx, **more)


def expected(last_word, words=1):
    """How probably a phrase of so many words is a term, and its scores of the three classes."""
    logits = np.array(LOGITS.get(last_word, LOGITS[""])) + (PHRASE if words > 1 else 0)
    powers = np.exp(logits)
    shares = (powers[1:] / powers[1:].sum()).tolist()
    return 1 - powers[0] / powers.sum(), dict(zip(LABELS[1:], shares, strict=True))
