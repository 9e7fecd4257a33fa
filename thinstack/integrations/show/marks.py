"""The phrases of a prediction in reading order, and their text and style in all renderings: names,
signs, tones, probabilities, text that is safe to show, and its width and shortening.

Widths come from a table of code points, so that `js/src/drawnText.ts` computes the same. They do
not depend on fonts or on a version of Unicode.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.markup import escape

from thinstack.core.transitions import REDUCE, parents_of
from thinstack.core.tree import depths
from thinstack.errors import escaped
from thinstack.runtime.phrase import Nodes
from thinstack.runtime.prediction import Prediction

SIGNS = ("--", "-", "0", "+", "++")
"""The signs of the tones, from 0 (very negative) to 4 (very positive)."""

UNCERTAIN = "uncertain"  # replaces the label if a prediction abstains
_SPACE = re.compile(r"\s+")


class Row(NamedTuple):
    """One phrase of an outline: the row of its scores, and its depth below the sentence. `last`:
    whether it is the last sibling. `hidden`: the number of phrases inside it that are left out.
    `parts`: the indices of the rows of its two parts, unless they are left out."""

    node: int
    depth: int
    last: bool
    hidden: int
    parts: tuple[int, ...] = ()


def outline(prediction: Prediction, *, depth: int, phrases: int | None = None) -> list[Row]:
    """List the phrases at most `depth` levels below the sentence in preorder, left before right.

    `phrases`: the maximum number of phrases: the top of the tree, level by level and in whole
    pairs.
    """
    steps, spans = prediction.transitions, prediction.spans
    parents, slots = parents_of(steps)
    levels = depths(parents)
    order = np.lexsort((spans[:, 0], levels))
    order = order[levels[order] <= depth]
    if phrases is not None:
        # All but the root come in pairs, so an odd number of phrases keeps pairs whole.
        order = order[: max(phrases - (phrases + 1) % 2, 1)]
    drawn = np.zeros(len(steps), bool)
    drawn[order] = True
    inside = np.where(drawn[np.arange(len(steps)) - 1], 0, 2 * (spans[:, 1] - spans[:, 0]) - 2)
    inside[steps != REDUCE] = 0
    order = order[np.lexsort((levels[order], spans[order, 0]))]
    last = (slots == 1) | (parents < 0)
    parts = dict[int, tuple[int, ...]]()
    for place, around in enumerate(parents[order].tolist()):
        parts[around] = (*parts.get(around, ()), place)
    columns = (column[order].tolist() for column in (levels, last, inside))
    rows = list(map(Row, order.tolist(), *columns))
    return [row._replace(parts=parts.get(row.node, ())) for row in rows]


def visible(text: str) -> str:
    """Put `text` on one line, with whitespace collapsed, and escape it (`escaped`)."""
    return inline(text).strip(" ")


def inline(text: str) -> str:
    """Return `visible(text)`, with a space at either end where the text has whitespace there."""
    return escaped(_SPACE.sub(" ", text))


def as_text(value: object) -> str:
    """Convert a value to text for rich: brackets are not markup, and terminal control characters
    are escaped."""
    return escape(escaped(str(value)))


def elide(text: str, width: int, dots: str = " … ", *, cells: bool = True) -> str:
    """Shorten `text` to `width` terminal columns, or characters if not `cells`, by replacing words
    in the middle with `dots`."""
    measure: Callable[[str], int] = cell_len if cells else len
    if measure(text) <= width:
        return text
    room = width - measure(dots)
    if room < 2:
        return set_cell_size(text, max(width, 0)).rstrip()
    half = room - room // 2
    head = set_cell_size(text, half) if cells else text[:half]
    if " " in head and not text.startswith(head + " "):
        head = head.rpartition(" ")[0]
    head = head.rstrip()
    rest, start = room - measure(head), len(text)
    while start and measure(text[start - 1]) <= rest:
        start -= 1
        rest -= measure(text[start])
    tail = text[start:]
    if " " in tail and text[start - 1] != " ":
        tail = tail.partition(" ")[2]
    return head + dots + tail.lstrip()


def phrase(
    prediction: Prediction,
    start: int,
    end: int,
    width: int,
    shorten: Callable[[str, int], str] = elide,
) -> str:
    """Return the words [start, end) as in the text, made visible and shortened to `width`."""

    def cut(first: int, behind: int) -> str:
        return visible(prediction.text_of(first, behind))

    # Enough words at either end to fill the width, so that a long phrase does not cost more.
    ends = max(width, 1)
    if end - start <= 2 * ends:
        return shorten(cut(start, end), width)
    return shorten(f"{cut(start, start + ends)} {cut(end - ends, end)}", width)


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
