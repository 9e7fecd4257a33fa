"""Texts with their phrases coloured in place: what one reads where a tree would be too large."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Final

from thinstack.core.transitions import parents_of
from thinstack.runtime.prediction import Prediction
from thinstack.show.marks import Marks
from thinstack.show.outline import inline

__all__ = ["heat"]

MAX_DEPTH: Final = 100
"""Phrases inside each other at most; browsers give up on deep nesting."""

_STYLE = files("thinstack.show").joinpath("heat.css").read_text(encoding="utf-8")


def heat(predictions: Sequence[Prediction]) -> str:
    """The sentences as running text, in one `<div>`.

    A phrase is marked, with its sign and colour, where its label is neither neutral nor that of the
    marked phrase around it: most words are neutral by themselves. Its title names the probability
    of every class.
    """
    sentences = (f"<p>{''.join(_sentence(prediction))}</p>\n" for prediction in predictions)
    return f'<div class="thinstack-text">\n<style>\n{_STYLE}</style>\n{"".join(sentences)}</div>\n'


def _sentence(prediction: Prediction) -> Iterator[str]:
    marks, text = Marks(prediction), prediction.text
    spans, offsets = prediction.spans, prediction.offsets
    place, ends = 0, list[int]()
    for node in _marked(prediction, marks):
        start, end = (int(spans[node, 0]), int(spans[node, 1]))
        first, behind = int(offsets[start, 0]), int(offsets[end - 1, 1])
        while ends and ends[-1] <= first:
            yield _plain(text[place : ends[-1]]) + "</span>"
            place = ends.pop()
        yield _plain(text[place:first])
        tone, sign = marks.tones[node], escape(marks.signs[node])
        yield f'<span class="{tone}" data-node="{node}" data-sign="{sign}" '
        yield f'title="{escape(marks.scores(node))}">'
        place = first
        ends.append(behind)
    while ends:
        yield _plain(text[place : ends[-1]]) + "</span>"
        place = ends.pop()
    yield _plain(text[place:])


def _marked(prediction: Prediction, marks: Marks) -> list[int]:
    """The phrases that are marked, in reading order, each before those inside it."""
    if not prediction.phrases:
        return [0]
    parents = parents_of(prediction.transitions)[0].tolist()
    around: dict[int, tuple[str, int]] = {-1: (marks.neutral, 0)}
    found = []
    for node in reversed(range(len(parents))):  # a phrase comes after its parts
        outer, depth = around[parents[node]]
        name = marks.names[node]
        if name not in (outer, marks.neutral) and depth < MAX_DEPTH:
            found.append(node)
            outer, depth = name, depth + 1
        around[node] = outer, depth
    spans = prediction.spans
    return sorted(found, key=lambda node: (spans[node, 0], -spans[node, 1], -node))


def _plain(text: str) -> str:
    return escape(inline(text))
