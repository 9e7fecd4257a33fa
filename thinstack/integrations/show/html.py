"""Predictions as one HTML page that needs no other file."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import accumulate, repeat

from thinstack.integrations.show.outline import (
    SIGNS,
    UNCERTAIN,
    Row,
    elide,
    outline,
    parts_note,
    phrase,
    visible,
)
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.why import Contribution, reason, turning

MAX_DEPTH = 32
"""Levels of nested lists. Deeper phrases are listed flat, because browsers give up on deep
nesting."""

MAX_TEXT, MAX_HEADING = 120, 300
"""Columns of text shown of a phrase and of a heading. A longer text shows both of its ends."""

_STYLE = files("thinstack.integrations.show").joinpath("page.css").read_text(encoding="utf-8")
_HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>Sentences, phrase by phrase</title>
<style>
{_STYLE}</style>
</head>
<body>
<main>
<h1>Sentences, phrase by phrase</h1>
"""


def page(predictions: Sequence[Prediction], *, whys: Sequence[Sequence[Contribution]] = ()) -> str:
    """An HTML5 page with the label and the probabilities of each sentence and, if phrases have
    scores, its tree as nested lists.

    A phrase has its label as text, and a small bar whose name is the probability of every class.
    Phrases more than MAX_DEPTH levels down are listed flat, and the page says so. `whys`: for each
    prediction, what its phrases contribute. The phrase that turns the sentence is marked.
    """
    parts = [_HEAD]
    pairs = zip(predictions, whys or repeat(()), strict=False)
    for number, (prediction, why) in enumerate(pairs, 1):
        parts += _sentence(_Marks(prediction, turning(why)), number)
    if not predictions:
        parts.append("<p>There are no sentences.</p>\n")
    parts.append("</main>\n</body>\n</html>\n")
    return "".join(parts)


class _Marks:
    """The pieces of markup that the phrases of one prediction are made of."""

    def __init__(self, prediction: Prediction, turning: Contribution | None):
        self.prediction, self.turning = prediction, turning
        self.names = [escape(visible(label)) for label in prediction.labels]
        scale = prediction.view.scale
        self.tones = None if scale is None else scale.tones
        plain = ["plain"] * len(self.names)
        self.classes = [f"t{tone}" for tone in self.tones] if self.tones else plain
        self.label_ids, self.spans = prediction.label_ids.tolist(), prediction.spans.tolist()
        self.scores = prediction.node_scores.astype(float).tolist()
        self.certain = prediction.certain.tolist()

    def chip(self, label: int) -> str:
        """The label as text. Narrow screens show its sign, and leave the name to screen readers."""
        if not self.tones:
            return f'<span class="chip plain">{self.names[label]}</span>'
        sign = SIGNS[self.tones[label]].replace("-", "−")
        return (
            f'<span class="chip {self.classes[label]}"><b aria-hidden="true">{sign}</b> '
            f"<span>{self.names[label]}</span></span>"
        )

    def bar(self, node: int) -> str:
        """The probabilities of all classes side by side, with their names. Without a scale it is
        the probability of the label."""
        scores = self.scores[node]
        if self.tones:
            blocks = list(zip(self.classes, accumulate(scores, initial=0.0), scores, strict=False))
        else:
            blocks = [("plain", 0.0, scores[self.label_ids[node]])]
        drawn = "".join(
            f'<rect class="{tone}" x="{100 * start:.1f}%" width="{100 * score:.1f}%" '
            'height="100%"/>'
            for tone, start, score in blocks
            if score >= 0.005
        )
        name = ", ".join(f"{self.names[i]} {score:.0%}" for i, score in enumerate(scores))
        return f'<svg class="bar" role="img"><title>{name}</title>{drawn}</svg>'

    def phrase(self, node: int) -> str:
        start, end = self.spans[node]
        uncertain = f'<span class="chip plain">{UNCERTAIN}</span>'
        chip = self.chip(self.label_ids[node]) if self.certain[node] else uncertain
        text = f"<bdi>{escape(phrase(self.prediction, start, end, MAX_TEXT))}</bdi>"
        if self.turning and node == self.turning.node:
            text = f"<mark>{text}</mark>"
        return f'<div class="row">{chip} {self.bar(node)} {text}</div>'


def _sentence(marks: _Marks, number: int) -> Iterator[str]:
    text = visible(marks.prediction.text)
    heading = elide(text, MAX_HEADING)
    scores = marks.scores[-1]
    name = marks.names[marks.label_ids[-1]] if marks.certain[-1] else UNCERTAIN
    yield f'<section aria-labelledby="s{number}">\n'
    yield f'<h2 id="s{number}"><bdi>{escape(heading)}</bdi></h2>\n'
    if heading != text:
        yield "<details>\n<summary>The whole sentence</summary>\n"
        yield f"<p><bdi>{escape(text)}</bdi></p>\n</details>\n"
    yield f'<p class="verdict">Label: <strong>{name}</strong></p>\n'
    if marks.turning:
        how = reason(marks.prediction, marks.turning).capitalize()
        named = escape(elide(visible(marks.turning.text), MAX_HEADING))
        yield f"<p>{how}: <strong><bdi>{named}</bdi></strong></p>\n"
    if note := parts_note(marks.prediction):
        yield f'<p class="note">{note}.</p>\n'
    yield "<table>\n<caption>Probability of each class</caption>\n"
    for label, score in enumerate(scores):
        block = f'<rect class="{marks.classes[label]}" width="{100 * score:.1f}%" height="100%"/>'
        yield f'<tr><th scope="row">{marks.chip(label)}</th><td>{score:.0%}</td>'
        yield f'<td><svg class="long" aria-hidden="true">{block}</svg></td></tr>\n'
    yield "</table>\n"
    if marks.prediction.phrases:
        yield from _tree(marks)
    yield "</section>\n"


def _tree(marks: _Marks) -> Iterator[str]:
    rows, count = outline(marks.prediction, depth=MAX_DEPTH), len(marks.scores)
    yield f"<details open>\n<summary>Tree: {count:,} phrase{'s' * (count > 1)}</summary>\n"
    yield '<ul class="tree">\n'
    for row, below in zip(rows, [*(row.depth for row in rows[1:]), 0], strict=True):
        yield f"<li>{marks.phrase(row.node)}"
        if row.hidden:
            yield from _flat(marks, row)
        if below > row.depth:
            yield "\n<ul>\n"
        else:
            yield "</li>\n" + "</ul></li>\n" * (row.depth - below)
    yield "</ul>\n</details>\n"


def _flat(marks: _Marks, row: Row) -> Iterator[str]:
    """The phrases inside one that are too deep to nest; they stand just before it."""
    inner = f"the {row.hidden:,} phrases inside, each before its parts"
    yield f'\n<p class="note">Too deep to nest: {inner}.</p>\n'
    yield '<ul class="flat">\n'
    inside = range(row.node - row.hidden, row.node)
    for node in sorted(inside, key=lambda i: (marks.spans[i][0], -marks.spans[i][1])):
        yield f"<li>{marks.phrase(node)}</li>\n"
    yield "</ul>"
