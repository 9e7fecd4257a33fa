"""The phrases of a `Prediction` in reading order, and helpers for all renderings: signs, and text
that is safe to show."""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.markup import escape

from thinstack.core.transitions import REDUCE, parents_of
from thinstack.core.tree import depths
from thinstack.errors import escaped
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
