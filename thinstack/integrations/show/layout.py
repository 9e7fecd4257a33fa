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
    at `y`, and this width, in pixels. `text` is its text if its parts are not drawn, else empty."""

    row: Row
    x: int
    y: int
    width: int
    text: str


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
    widths = [max(NODE, text_width(signs[row.node]) + 10) for row in rows]
    texts, middles, levels, right = [""] * len(rows), [0] * len(rows), [0] * len(rows), MARGIN
    for number, row in enumerate(rows):  # words side by side
        if not row.parts:
            more = f" (+{row.hidden:,})" if row.hidden else ""
            start, end = spans[row.node]
            texts[number] = excerpt(prediction, start, end, most) + more
            column = max(text_width(texts[number]), widths[number])
            middles[number] = right + column // 2
            right += column + GAP
    for number, row in reversed([*enumerate(rows)]):  # what has parts in the middle above them
        if row.parts:
            middles[number] = sum(middles[part] for part in row.parts) // 2
            levels[number] = max(levels[part] for part in row.parts) + 1
    heights = [(max(levels) - level) * LEVEL for level in levels]
    return list(map(Place, rows, middles, heights, widths, texts))
