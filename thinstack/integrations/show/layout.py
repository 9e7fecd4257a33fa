"""The layout of the phrases of a tree, in pixels. `js/src/layout.ts` computes the same."""

from collections.abc import Sequence
from typing import NamedTuple

from thinstack.integrations.show.marks import Row, excerpt, outline, text_width
from thinstack.runtime.prediction import Prediction

MAX_PHRASES, MAX_DEPTH = 1_023, 100
"""Maximum number of phrases drawn per tree, enough for a sentence of 512 words; and of levels,
because browsers fail on deep nesting."""

MAX_TEXT, MAX_ALONE = 24, 80
"""Maximum number of characters of a word, or of a phrase whose parts are not drawn; and of a
sentence whose phrases have no scores."""

LEVEL, NODE, GAP, MARGIN = 44, 22, 14, 16
"""Sizes in pixels: the step between levels, the height of a node, the gap between words, and the
margin around the picture."""


class Place(NamedTuple):
    """The position of a phrase, the `row` of the outline: the center `x`, the top `y` and the
    `width` of its node, in pixels. `text` is empty unless its parts are not drawn."""

    row: Row
    x: int
    y: int
    width: int
    text: str


def places(prediction: Prediction, signs: Sequence[str]) -> list[Place]:
    """Compute the positions of the phrases in reading order, each before its parts.

    Words are side by side on one line. A phrase is centered above its two parts, one level above
    the higher one. Beyond `MAX_PHRASES` and `MAX_DEPTH`, a phrase is drawn instead of its words.
    `signs`: the text in each node, by the row of its scores.
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
    for number, row in reversed([*enumerate(rows)]):  # phrases centered above their parts
        if row.parts:
            middles[number] = sum(middles[part] for part in row.parts) // 2
            levels[number] = max(levels[part] for part in row.parts) + 1
    heights = [(max(levels) - level) * LEVEL for level in levels]
    return list(map(Place, rows, middles, heights, widths, texts))
