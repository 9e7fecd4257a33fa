"""The places of the phrases of a tree in a picture, in pixels. `js/src/layout.ts` finds the same
ones."""

from collections.abc import Sequence
from typing import NamedTuple

from thinstack.integrations.show.marks import excerpt, text_width
from thinstack.integrations.show.outline import Row, outline
from thinstack.runtime.prediction import Prediction

MAX_PHRASES, MAX_DEPTH = 1_023, 100
"""The most phrases that are drawn of one tree: all of a sentence of up to 512 words; and the most
levels, because browsers give up on deep nesting."""

MAX_TEXT, MAX_ALONE = 24, 80
"""Characters shown of a word, or of a phrase whose parts are not drawn; and of a sentence whose
phrases have no scores."""

LEVEL, NODE, GAP, MARGIN = 44, 22, 14, 16
"""Sizes in pixels: the step from one level to the next, the height of a node, the gap between two
words, and the margin around the picture."""


class Place(NamedTuple):
    """A phrase in the picture, by its `row` in the outline. Its node has its middle at `x`, its top
    at `y`, and this width, in pixels. `text` is its text if its `parts`, by the numbers of their
    places, are not drawn, else empty."""

    row: Row
    x: int
    y: int
    width: int
    text: str
    parts: tuple[int, ...]


def places(prediction: Prediction, signs: Sequence[str]) -> list[Place]:
    """The places of the phrases in reading order, each before its parts.

    Words stand side by side on one line. A phrase stands in the middle above its two parts, one
    level above the higher one. Beyond `MAX_PHRASES` and `MAX_DEPTH`, a phrase stands in place of
    its words. `signs` is the text in each node, by the row of its scores.
    """
    spans = prediction.spans.tolist()
    rows, most = [Row(0, 0, last=True, hidden=0)], MAX_ALONE  # only the sentence
    if prediction.phrases:
        rows, most = outline(prediction, depth=MAX_DEPTH, phrases=MAX_PHRASES), MAX_TEXT
    parts = _parts(rows)
    levels = [0] * len(rows)
    for number in reversed(range(len(rows))):
        levels[number] = max((levels[part] + 1 for part in parts[number]), default=0)
    texts = [
        "" if inner else _text(prediction, row, spans[row.node], most)
        for row, inner in zip(rows, parts, strict=True)
    ]
    widths = [max(NODE, text_width(signs[row.node]) + 10) for row in rows]
    middles, top = _middles(texts, widths, parts), max(levels)
    heights = [(top - level) * LEVEL for level in levels]
    return list(map(Place, rows, middles, heights, widths, texts, parts))


def _middles(
    texts: Sequence[str], widths: Sequence[int], parts: Sequence[tuple[int, ...]]
) -> list[int]:
    """Words side by side, what has parts in the middle above them."""
    middles, right = [0] * len(texts), MARGIN
    for number, text in enumerate(texts):
        if not parts[number]:
            column = max(text_width(text), widths[number])
            middles[number] = right + column // 2
            right += column + GAP
    for number in reversed(range(len(texts))):
        if parts[number]:
            middles[number] = sum(middles[part] for part in parts[number]) // 2
    return middles


def _text(prediction: Prediction, row: Row, span: tuple[int, int], most: int) -> str:
    more = f" (+{row.hidden:,})" if row.hidden else ""
    return excerpt(prediction, *span, most) + more


def _parts(rows: Sequence[Row]) -> list[tuple[int, ...]]:
    """The rows one level below each row, up to the next row that is not inside it."""
    parts: list[tuple[int, ...]] = [()] * len(rows)
    above: list[int] = []
    for number, row in enumerate(rows):
        del above[row.depth :]
        if above:
            parts[above[-1]] += (number,)
        above.append(number)
    return parts
