"""What a terminal shows of predictions, and which classes were taken for which."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

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
from thinstack.runtime.result import Result
from thinstack.runtime.why import Contribution, turning

MAX_PHRASES = 127
"""The most phrases that are drawn of one tree: all of a sentence of up to 64 words."""

MAX_CLASSES = 10
"""The most classes that are drawn of a sentence. If there are more, these are the most probable."""

WIDEST: Final = 12
"""The largest number of classes whose matrix fits a terminal."""

# Orange and blue: told apart by colour-blind readers, legible on black and on white.
_TEXT_STYLES = ("bold color(166)", "color(166)", "", "color(32)", "bold color(32)")
_STRONG = ("bold reverse color(166)", "bold reverse color(32)")
_SIGN_STYLES = (_STRONG[0], "color(166)", "dim", "color(32)", _STRONG[1])


def draw(prediction: Prediction, why: Sequence[Contribution] = ()) -> RenderableType:
    """What a terminal shows of one sentence: its label, the probability of each class and, if
    phrases have scores, the tree.

    A line of the tree holds the sign of a phrase, or its label as in `svg`, and its text. The
    drawing has the top of the tree, up to MAX_PHRASES phrases and as deep as guides in half the
    width can go. A phrase with `(+n)` has n more inside. It fits the width and the encoding of its
    console. If the prediction abstains, the label is `uncertain` and the sign `?`. `why`: what the
    phrases contribute. The phrase that turns the sentence is named and marked.
    """
    return _Drawing(prediction, turning(why))


def draw_text(result: Result) -> Text:
    """What a terminal shows of a text of several sentences: the probabilities of its classes, most
    probable first, as means over the sentences, weighted by their words."""
    best = sorted(result.scores.items(), key=lambda each: -each[1])[:MAX_CLASSES]
    shares = ", ".join(f"{visible(label)} {score:.0%}" for label, score in best)
    if result.label is None:
        shares = f"{UNCERTAIN} ({shares})"
    return Text(f"the {len(result.sentences)} sentences together: {shares}", style="bold")


def matrix(counts: NDArray[np.int64], labels: Sequence[str]) -> Table:
    """A table of `counts` (C, C): how many texts of each class (rows) were taken for each class
    (columns). `labels` names the C classes."""
    table = Table(title="texts of each class (rows), taken for", title_justify="left")
    table.add_column("")
    for label in labels:
        table.add_column(Text(visible(label)), justify="right")
    for row, label in enumerate(labels):
        cells = (f"{count:,}" if count else "." for count in counts[row].tolist())
        table.add_row(Text(visible(label)), *cells)
    return table


@dataclass(frozen=True, slots=True)
class _Drawing:
    prediction: Prediction
    turning: Contribution | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pen = _Pen(self.prediction, options, self.turning)
        yield from (pen.headline(), *pen.notes(), Text(), *pen.classes())
        if self.prediction.phrases:
            yield from (Text(), *pen.tree())


class _Pen:
    """Draws one prediction for one width and encoding."""

    def __init__(
        self, prediction: Prediction, options: ConsoleOptions, turning: Contribution | None
    ):
        self.turning = turning
        self.prediction, self.width, self.encoding = prediction, options.max_width, options.encoding
        self.ascii = options.ascii_only or options.legacy_windows
        self.elide = partial(elide, dots=" ... " if self.ascii else " … ")
        scale = prediction.view.scale
        self.tones = None if scale is None else scale.tones
        widest = max(self.width // 3, 4)
        self.names = [self.elide(self.fit(label), widest) for label in prediction.labels]
        self.signs = [SIGNS[tone] for tone in self.tones] if self.tones else self.names
        self.labels, self.spans = prediction.label_ids.tolist(), prediction.spans.tolist()
        self.certain = prediction.certain.tolist()
        self.sign_width = max(map(cell_len, self.signs))

    def fit(self, text: str) -> str:
        """`text` with nothing in it that acts on the terminal or that its encoding lacks."""
        return visible(text).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def style(self, label: int, styles: tuple[str, ...]) -> str:
        return styles[self.tones[label]] if self.tones else ""

    def sign(self, label: int, *, certain: bool = True) -> Text:
        name = self.signs[label] if certain else "?"
        pad = " " * (self.sign_width - cell_len(name))
        cell = f" {pad}{name} " if self.tones else f" {name}{pad} "
        return Text.assemble(
            " ",
            (cell, self.style(label, _SIGN_STYLES) if certain else "dim"),
            " ",
            no_wrap=True,
            overflow="crop",
        )

    def headline(self) -> Text:
        label = self.prediction.label
        style = "" if label is None else self.style(self.labels[-1], _TEXT_STYLES)
        text = self.elide(self.fit(self.prediction.text), 5 * self.width)
        return Text.assemble((self.fit(label or UNCERTAIN), f"bold {style}"), ": ", (text, "bold"))

    def notes(self) -> list[Text]:
        lines = []
        if self.turning:
            because = "because of: "
            room = self.width - len(because)
            text = self.elide(self.fit(self.turning.text), room)
            lines.append(Text.assemble(because, (text, "bold"), no_wrap=True, overflow="crop"))
        if note := parts_note(self.prediction):
            lines.append(Text(note, style="dim"))
        return lines

    def classes(self) -> list[Text]:
        scores = self.prediction.node_scores[-1]
        hidden = len(scores) - MAX_CLASSES
        best = np.argsort(-scores, kind="stable")[:MAX_CLASSES].tolist()
        shown = range(len(scores)) if hidden <= 0 else best
        name_width = max(cell_len(self.names[i]) for i in shown)
        lines = [self.bar(i, float(scores[i]), name_width) for i in shown]
        if hidden > 0:
            lines.append(Text(f"  and {hidden} classes less probable", style="dim"))
        return lines

    def bar(self, label: int, score: float, name_width: int) -> Text:
        name = self.names[label] + " " * (name_width - cell_len(self.names[label]))
        line = self.sign(label) if self.tones else Text("  ", no_wrap=True, overflow="crop")
        best = label == self.prediction.label_ids[-1]
        line.append(f"{name} {score:>4.0%}", "bold" if best else "")
        room = min(self.width - line.cell_len - 2, 40)
        if room >= 8:
            blocks = ("#" if self.ascii else "━") * round(score * room)
            line.append(f"  {blocks}", self.style(label, _TEXT_STYLES) or "dim")
        return line

    def tree(self) -> list[Text]:
        deepest = max((self.width // 2 - self.sign_width - 4) // 2, 1)
        rows = outline(self.prediction, depth=deepest, phrases=MAX_PHRASES)
        lines = []
        above: list[bool] = []  # of each level above: was its phrase the last of its pair?
        for row in rows:
            del above[row.depth :]
            lines.append(self.line(row, above))
            above.append(row.last)
        if hidden := sum(row.hidden for row in rows):
            number = f"{hidden:,} of {len(self.labels):,}"
            note = f"(+n): n more phrases inside, not drawn ({number}); --json lists all."
            lines += [Text(), Text(note, style="dim")]
        if not all(self.certain):
            note = f"?: {UNCERTAIN}, no class reaches {self.prediction.abstain:.0%}."
            lines += [Text(), Text(note, style="dim")]
        return lines

    def line(self, row: Row, above: list[bool]) -> Text:
        pipe, tee, corner = ("| ", "|-", "`-") if self.ascii else ("│ ", "├╴", "└╴")
        label = self.labels[row.node]
        certain = self.certain[row.node]
        line = self.sign(label, certain=certain)
        if row.depth:
            guides = "".join("  " if last else pipe for last in above[1:])
            line.append(guides + (corner if row.last else tee), "dim")
        more = f" (+{row.hidden:,})" if row.hidden else ""
        if self.turning and row.node == self.turning.node:
            more += " <-" if self.ascii else " ◄"
        room = self.width - line.cell_len - len(more)
        start, end = self.spans[row.node]
        text = self.fit(phrase(self.prediction, start, end, room, self.elide))
        text = self.elide(text, room)
        style = self.style(label, _TEXT_STYLES) if certain else ""
        line.append(text, style).append(more, "dim")
        return line
