"""Running text with colored phrases, for texts whose trees would be too large to read."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from thinstack.integrations.show.marks import Marks, inline
from thinstack.runtime.highlights import marked_phrases
from thinstack.runtime.prediction import Prediction

_STYLE = files("thinstack.integrations.show").joinpath("heat.css").read_text(encoding="utf-8")


def heat(predictions: Sequence[Prediction]) -> str:
    """Render the sentences as running text in one `<div>`.

    The phrases in `thinstack.runtime.highlights` get a sign and a color. The title of each lists
    the probability of every class.
    """
    sentences = (f"<p>{''.join(_sentence(prediction))}</p>\n" for prediction in predictions)
    return f'<div class="thinstack-text">\n<style>\n{_STYLE}</style>\n{"".join(sentences)}</div>\n'


def _sentence(prediction: Prediction) -> Iterator[str]:
    marks, text = Marks(prediction), prediction.text
    spans, offsets = prediction.spans, prediction.offsets
    place, ends = 0, list[int]()
    for node in marked_phrases(prediction):
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


def _plain(text: str) -> str:
    return escape(inline(text))
