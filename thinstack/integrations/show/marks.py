"""The text and style of phrases in all pictures of a prediction: names, signs, tones,
probabilities, and the width and shortening of texts.

Widths come from a table of code points, so that `js/src/drawnText.ts` computes the same. They do
not depend on fonts or on a version of Unicode.
"""

from functools import partial
from typing import Final

from thinstack.integrations.show.outline import SIGNS, UNCERTAIN, elide, phrase, visible
from thinstack.runtime.phrase import Nodes
from thinstack.runtime.prediction import Prediction


class Marks:
    """The marks of each phrase of a prediction, by the row of its scores.

    Attributes:
        names: its label, or "uncertain".
        signs: its sign on a scale from negative to positive, or "?" if uncertain. Without such a
            scale, its name.
        tones: its CSS class: "t0" (very negative) to "t4", or "plain".
    """

    def __init__(self, prediction: Prediction):
        prediction.view.need_labels("a picture")
        self._labels = [visible(label) for label in prediction.labels]
        self._scores = prediction.node_scores
        labels, scale = Nodes(prediction).labels, prediction.view.scale
        self.names = [UNCERTAIN if label is None else visible(label) for label in labels]
        self.signs, self.tones = self.names, ["plain"] * len(labels)
        if scale is not None:
            tones = dict(zip(prediction.labels, scale.tones, strict=True))
            signs = {label: SIGNS[tone].replace("-", "−") for label, tone in tones.items()}
            self.signs = ["?" if label is None else signs[label] for label in labels]
            self.tones = ["plain" if label is None else f"t{tones[label]}" for label in labels]

    def scores(self, node: int) -> str:
        """Format the probability of every class for one phrase."""
        pairs = zip(self._labels, self._scores[node].tolist(), strict=True)
        return ", ".join(f"{label} {percent(score)}" for label, score in pairs)


_WIDTHS: Final = {5: "fijlrtI.,:;'!|()[]-` ", 10: "ABCDEFGHJKLNOPQRSTUVXYZ", 14: "mwMW@%"}
_WIDTH: Final = {char: width for width, chars in _WIDTHS.items() for char in chars}
_NOTHING: Final = (range(0x300, 0x370), range(0x200B, 0x2010), range(0xFE00, 0xFE10))
_WIDE: Final = (range(0x1100, 0x1160), range(0x2600, 0x27C0), range(0x2E80, 0x110000))


def text_width(text: str) -> int:
    """Estimate the width of a text in pixels at 14 px. Common fonts are narrower."""
    return sum(_WIDTH[char] if char in _WIDTH else _other_width(ord(char)) for char in text)


def _other_width(code: int) -> int:
    if code < 0x80:
        return 8
    if any(code in block for block in _NOTHING):  # combining marks, joiners, variation selectors
        return 0
    return 15 if any(code in block for block in _WIDE) else 10


shorten = partial(elide, cells=False)
"""Shorten a text to `most` characters, 24 or more, by replacing words in the middle with dots."""


excerpt = partial(phrase, shorten=shorten)
"""Return the words [start, end) of a sentence, made visible and shortened."""


def percent(share: float) -> str:
    """Format a probability in whole percent, rounding half up."""
    return f"{int(100 * share + 0.5)}%"
