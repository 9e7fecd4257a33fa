"""The trees of predictions as one self-contained picture: an SVG document or an HTML page.

`js/src/svg.ts` draws the same, byte for byte.
"""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import repeat
from typing import Final

from thinstack.integrations.show.layout import LEVEL, MARGIN, NODE, Place, places
from thinstack.integrations.show.marks import Marks, excerpt, percent, shorten, text_width, visible
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.why import Contribution, turning

HEADING, WORDS = 30, 20
"""Heights in pixels of the heading of a tree, and of the line of words."""

MAX_CLOSED, MAX_NAME = 40, 300
"""Maximum number of characters of a collapsed phrase, and of an accessible name."""

_STYLE = files("thinstack.integrations.show").joinpath("tree.css").read_text(encoding="utf-8")
# Not a script element: pages and notebooks ignore those that are inserted later.
_TOGGLE = (
    "const g=event.target.closest('[aria-expanded]');"
    "if(g&amp;&amp;(event.type==='click'||event.key==='Enter'||event.key===' '))"
    "{g.setAttribute('aria-expanded',g.getAttribute('aria-expanded')==='false');"
    "event.preventDefault()}"
)

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sentences, phrase by phrase</title>
<style>
body {{ margin: 1rem; overflow-x: auto; }}
</style>
</head>
<body>
<main>
<h1>Sentences, phrase by phrase</h1>
{trees}</main>
</body>
</html>
"""


def svg(predictions: Sequence[Prediction], *, whys: Sequence[Sequence[Contribution]] = ()) -> str:
    """Draw the trees of sentences below each other as one `<svg>` document.

    Each phrase is a node above its words, with a color and its sign, or its label if the labels are
    not a scale from negative to positive. The title of a node lists the probability of every class.
    A click on a node, or Enter, collapses and expands a phrase. A sentence whose phrases have no
    scores is one node. `whys`: for each prediction, the contributions of its phrases. The phrase
    that turns the sentence has a thick line.
    """
    drawn, width, height = list[str](), 2 * MARGIN, MARGIN
    for prediction, why in zip(predictions, whys or repeat(()), strict=False):
        picture = _Picture(prediction, turning(why))
        drawn.append(f'<g role="tree" transform="translate(0 {height})">\n')
        drawn += picture.markup()
        drawn.append("</g>\n")
        width, height = max(width, picture.width), height + picture.height
    name = "; ".join(shorten(visible(prediction.text), MAX_NAME) for prediction in predictions[:3])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="thinstack-tree" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="group" '
        f'aria-label="{escape(name)}" onclick="{_TOGGLE}" onkeydown="{_TOGGLE}">\n'
        f'<style>\n{_STYLE}</style>\n<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f"{''.join(drawn)}</svg>\n"
    )


def page(predictions: Sequence[Prediction], *, whys: Sequence[Sequence[Contribution]] = ()) -> str:
    """Return an HTML5 page with the trees of all sentences, as `svg` draws them. `whys`: for each
    prediction, the contributions of its phrases."""
    trees = svg(predictions, whys=whys) if predictions else "<p>There are no sentences.</p>\n"
    return _PAGE.format(trees=trees)


class _Picture:
    """One tree and its heading."""

    def __init__(self, prediction: Prediction, turning: Contribution | None):
        self.prediction, self.marks = prediction, Marks(prediction)
        self.turning = None if turning is None else turning.node
        self.spans = prediction.spans.tolist()
        self.places = places(prediction, self.marks.signs)
        best = float(prediction.node_scores[-1, prediction.label_ids[-1]])
        share = "" if best == 1 else f" {percent(best)}"  # labels of a treebank have no probability
        self.heading = self.marks.names[-1] + share
        right = max(at.x + max(at.width, text_width(at.text)) // 2 for at in self.places)
        self.width = max(right + MARGIN, text_width(self.heading) + 3 * MARGIN)
        self.height = HEADING + max(place.y for place in self.places) + NODE + WORDS + MARGIN

    def markup(self) -> Iterator[str]:
        yield f'<text class="heading" x="{MARGIN}" y="{MARGIN}">{escape(self.heading)}</text>\n'
        yield from self._phrase(self.places[0])

    def _phrase(self, place: Place) -> Iterator[str]:
        """Yield the group of a phrase, including those of its parts."""
        node, x, y = place.row.node, place.x, place.y + HEADING
        start, end = self.spans[node]
        parts = [self.places[part] for part in place.row.parts]
        whole = escape(excerpt(self.prediction, start, end, MAX_NAME))
        kinds = self.marks.tones[node] + (" turning" if node == self.turning else "")
        state = ' tabindex="0" aria-expanded="true"' if parts else ""
        yield f'<g class="{kinds}" role="treeitem" data-node="{node}"{state} '
        yield f'aria-label="{escape(self.marks.names[node])}: {whole}">\n'
        yield f"<title>{whole}\n{escape(self.marks.scores(node))}</title>\n"
        foot, left, wide = y + NODE, x - place.width // 2, place.width
        yield f'<rect x="{left}" y="{y}" width="{wide}" height="{NODE}" rx="6"/>'
        yield f'<text class="sign" x="{x}" y="{y + 16}">{escape(self.marks.signs[node])}</text>\n'
        if not parts:
            yield f'<text x="{x}" y="{foot + 16}">{escape(place.text)}</text></g>\n'
            return
        closed = escape(excerpt(self.prediction, start, end, MAX_CLOSED))
        yield f'<text class="closed" x="{x}" y="{foot + 16}">{closed}</text>\n'
        # Slanted for one level, then straight down, where there are no other nodes.
        lines = "".join(f"M{x} {foot}L{part.x} {y + LEVEL}V{part.y + HEADING}" for part in parts)
        yield f'<g role="group"><path d="{lines}"/>\n'
        for part in parts:
            yield from self._phrase(part)
        yield "</g></g>\n"
